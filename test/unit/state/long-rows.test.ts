// Long rows have files of their own beside LevelDB. After any writes, removals, reads meanwhile and crashes, the store
// is as a map would be, and keeps no file that nothing refers to.
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { LevelStore } from '../../../src/state/level-store.ts';
import type { Change, Mark, Store } from '../../../src/state/store.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const longBytes = 1_000;
const mark = (applied: number): Mark => ({ applied, hash: '0123456789abcdef', boot: 1 });
const short = (key: string, letter = 's'): Change => ({ key, value: Buffer.alloc(10, letter) });
const long = (key: string, letter = 'l'): Change => ({ key, value: Buffer.alloc(longBytes + 1, letter) });
type Step = 'restart' | 'image' | 'crash' | readonly { readonly key: string; readonly size: number }[];

const gone = (key: string): Change => ({ key, value: undefined });

async function contentOf(rows: ReturnType<Store['rows']>): Promise<[string, string][]> {
  const all: [string, string][] = [];
  for await (const [key, value] of rows)
    all.push([key, `${value.length} ${Buffer.from(value).toString('latin1', 0, 1)}`]);
  return all;
}

describe('long rows of a store', () => {
  const directories = new TemporaryDirectories();
  let directory: string;
  let store: LevelStore;

  const reopen = async (): Promise<void> => {
    await store.close();
    store = await LevelStore.open(directory, { longBytes });
  };
  const files = async (): Promise<string[]> =>
    (await readdir(join(directory, 'long')).catch(() => [])).sort((a, b) => Number(a) - Number(b));

  beforeEach(async () => {
    directory = await directories.make();
    store = await LevelStore.open(directory, { longBytes });
  });

  afterEach(async () => {
    await store.close();
    await directories.removeAll();
  });

  it('lie in a file each, and come among the others in the order of keys', async () => {
    await store.write([short('a'), long('b'), short('b/1'), long('c', 'c'), short('d')], mark(1));
    const content = [
      ['a', '10 s'],
      ['b', '1001 l'],
      ['b/1', '10 s'],
      ['c', '1001 c'],
      ['d', '10 s'],
    ];
    expect(await contentOf(store.rows())).to.deep.equal(content);
    expect(await files()).to.deep.equal(['1', '2']);
    await reopen();
    expect(await contentOf(store.rows())).to.deep.equal(content);
  });

  it('are written in parts, as they come', async () => {
    await store.write([{ key: 'a', value: [Buffer.from('xy'), Buffer.alloc(longBytes, 'z')] }], mark(1));
    await store.write([{ key: 'b', value: [Buffer.from('xy'), Buffer.from('z')] }], mark(2));
    expect(await contentOf(store.rows())).to.deep.equal([
      ['a', '1002 x'],
      ['b', '3 x'],
    ]);
  });

  it('leave no file behind when they go, are replaced or become short', async () => {
    await store.write([long('a'), long('b'), long('c'), long('c', 'm'), long('d')], mark(1));
    await store.write([gone('a'), long('b', 'n'), short('c'), short('e')], mark(2));
    const content = [
      ['b', '1001 n'],
      ['c', '10 s'],
      ['d', '1001 l'],
      ['e', '10 s'],
    ];
    expect(await contentOf(store.rows())).to.deep.equal(content);
    expect(await files()).to.have.length(2);
    await reopen();
    expect(await contentOf(store.rows())).to.deep.equal(content);
  });

  it('stay for a reader of an image, and go after it', async () => {
    await store.write([long('a', 'x'), short('b')], mark(1));
    const image = store.image();
    await store.write([long('a', 'y'), long('c'), gone('b')], mark(2));
    expect(await contentOf(image.rows())).to.deep.equal([
      ['a', '1001 x'],
      ['b', '10 s'],
    ]);
    expect((await image.get('a'))?.[0]).to.equal('x'.charCodeAt(0));
    expect(await image.get('c')).to.equal(undefined);
    expect(await files()).to.have.length(3);
    await image.close();
    await image.close();
    expect(await files()).to.have.length(2);
    expect(await contentOf(store.rows())).to.deep.equal([
      ['a', '1001 y'],
      ['c', '1001 l'],
    ]);
  });

  it('that were not referred to when the power failed go with the first write', async () => {
    await store.write([long('a')], mark(1));
    await writeFile(join(directory, 'long', '7'), 'half of a r');
    await reopen();
    expect(await files()).to.deep.equal(['1', '7']);
    await store.write([long('b')], mark(2));
    expect(await files()).to.deep.equal(['1', '8']);
  });

  it('that an earlier version left within LevelDB stay there until they are written again', async () => {
    await store.close();
    store = await LevelStore.open(directory, { longBytes: 1_000_000 });
    await store.write([long('a'), long('b')], mark(1));
    await reopen();
    await store.write([long('b', 'n'), short('c')], mark(2));
    const content = [
      ['a', '1001 l'],
      ['b', '1001 n'],
      ['c', '10 s'],
    ];
    expect(await contentOf(store.rows())).to.deep.equal(content);
    expect(await files()).to.deep.equal(['1']);
    await store.write([gone('a'), gone('b')], mark(3));
    await reopen();
    expect(await contentOf(store.rows())).to.deep.equal([['c', '10 s']]);
    expect(await files()).to.deep.equal([]);
  });

  it('are missed', async () => {
    await store.write([long('a')], mark(1));
    await rm(join(directory, 'long', '1'));
    await reopen();
    const failure = await contentOf(store.rows()).catch((error: unknown) => error);
    expect(failure).to.have.property('name', 'StoreDamaged');
    expect(failure).to.have.property('message').that.contains('its file long/1 is missing');
  });

  it('are as a map would have them, through restarts, images and crashes', async () => {
    const change = fc.record({ key: fc.constantFrom('a', 'b', 'b/1', 'c', 'z'), size: fc.constantFrom(-1, 10, 1_001) });
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.array(change, { maxLength: 5 }) },
      { weight: 1, arbitrary: fc.constantFrom('restart' as const, 'image' as const, 'crash' as const) },
    );
    const run = async (steps: readonly Step[]) => {
      await store.close();
      directory = await directories.make();
      store = await LevelStore.open(directory, { longBytes });
      const model = new Map<string, string>();
      const wanted = (): [string, string][] => [...model].sort(([a], [b]) => (a < b ? -1 : 1));
      const image: { of: ReturnType<LevelStore['image']>; wanted: [string, string][] }[] = [];
      const closeImages = async (): Promise<void> => {
        for (const { of, wanted } of image.splice(0)) {
          expect(await contentOf(of.rows())).to.deep.equal(wanted);
          await of.close();
        }
      };
      for (const [at, step] of steps.entries()) {
        if (step === 'image') image.push({ of: store.image(), wanted: wanted() });
        else if (step === 'restart') {
          await closeImages();
          await reopen();
        } else if (step === 'crash') {
          // What a crash leaves: the directory as it is, with a file that was not referred to yet.
          const copy = await directories.make();
          await cp(directory, copy, { recursive: true });
          await rm(join(copy, 'LOCK'));
          await closeImages();
          await store.close();
          directory = copy;
          await writeFile(join(directory, 'long', '1000'), 'half').catch(() => undefined);
          store = await LevelStore.open(directory, { longBytes });
        } else {
          const letter = String.fromCharCode(97 + (at % 26));
          const changes = step.map(({ key, size }) => ({
            key,
            value: size < 0 ? undefined : Buffer.alloc(size, letter),
          }));
          for (const { key, value } of changes) {
            if (value === undefined) model.delete(key);
            else model.set(key, `${value.length} ${letter}`);
          }
          await store.write(changes, mark(at));
        }
        expect(await contentOf(store.rows())).to.deep.equal(wanted());
      }
      await closeImages();
      await store.write([], mark(steps.length));
      expect(await files()).to.have.length([...model.values()].filter((text) => text.startsWith('1001')).length);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: 40 });
  });
});
