// Contract of every store, run against each implementation.
import { expect } from 'chai';
import { LevelStore } from '../../../src/state/level-store.ts';
import { MemoryStore } from '../../../src/state/memory-store.ts';
import type { Change, Mark, Store } from '../../../src/state/store.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const directories = new TemporaryDirectories();

interface Kind {
  readonly name: string;
  /** An empty store, and how to open it anew after it was closed. */
  make(): Promise<{ store: Store; reopen: () => Promise<Store> }>;
}

const kinds: readonly Kind[] = [
  {
    name: 'MemoryStore',
    async make() {
      const store = new MemoryStore();
      return { store, reopen: async () => store };
    },
  },
  {
    name: 'LevelStore',
    async make() {
      const directory = await directories.make();
      return { store: await LevelStore.open(directory), reopen: () => LevelStore.open(directory) };
    },
  },
];

const mark = (applied: number): Mark => ({ applied, hash: '0123456789abcdef', boot: 1 });
const put = (key: string, text: string): Change => ({ key, value: Buffer.from(text) });
const gone = (key: string): Change => ({ key, value: undefined });

async function contentOf(store: Store): Promise<[string, string][]> {
  const rows: [string, string][] = [];
  for await (const [key, value] of store.rows()) rows.push([key, Buffer.from(value).toString()]);
  return rows;
}

for (const { name, make } of kinds) {
  describe(`${name} as a store`, () => {
    let open: Store;
    let reopen: () => Promise<Store>;

    const restart = async (): Promise<Store> => {
      await open.close();
      open = await reopen();
      return open;
    };

    beforeEach(async () => {
      ({ store: open, reopen } = await make());
    });

    afterEach(async () => {
      await open.close();
      await directories.removeAll();
    });

    it('is empty and unmarked when new', async () => {
      expect(await contentOf(open)).to.deep.equal([]);
      expect(open.mark).to.equal(undefined);
    });

    it('gives rows ascending by key in byte order', async () => {
      await open.write(
        ['b', 'a/2', 'a', 'B', 'a/10', 'ä'].map((key) => put(key, key)),
        mark(1),
      );
      expect((await contentOf(open)).map(([key]) => key)).to.deep.equal(['B', 'a', 'a/10', 'a/2', 'b', 'ä']);
    });

    it('overwrites and deletes within one batch', async () => {
      await open.write([put('a', '1'), put('b', '1')], mark(1));
      await open.write([put('a', '2'), gone('b'), gone('never'), put('c', '2')], mark(2));
      expect(await contentOf(open)).to.deep.equal([
        ['a', '2'],
        ['c', '2'],
      ]);
    });

    it('keeps rows and mark over a restart', async () => {
      await open.write([put('a', '1')], mark(1));
      await open.write([put('b', '2')], { ...mark(2), boot: 3 });
      const again = await restart();
      expect(await contentOf(again)).to.deep.equal([
        ['a', '1'],
        ['b', '2'],
      ]);
      expect(again.mark).to.deep.equal({ applied: 2, hash: '0123456789abcdef', boot: 3 });
    });

    it('keeps the newest of many marks', async () => {
      for (let applied = 1; applied <= 5; applied++) await open.write([], mark(applied));
      expect((await restart()).mark?.applied).to.equal(5);
      await open.write([], mark(6));
      expect((await restart()).mark?.applied).to.equal(6);
    });

    it('keeps a value of several megabytes', async () => {
      const text = 'x'.repeat(5_000_000);
      await open.write([put('large', text)], mark(1));
      expect((await contentOf(await restart()))[0]?.[1]).to.have.length(text.length);
    });

    it('writes thousands of rows, and several long ones, as one batch', async () => {
      const rows = Array.from({ length: 5_000 }, (_, at) => put(`row/${10_000 + at}`, String(at)));
      const text = 'y'.repeat(1_500_000);
      await open.write([put('old', '1')], mark(1));
      await open.write(
        [...rows, put('x', text), put('y', text), put('z', text), gone('old'), put('row/10000', 'last')],
        mark(2),
      );
      const content = await contentOf(await restart());
      expect(content).to.have.length(5_003);
      expect(content[0]).to.deep.equal(['row/10000', 'last']);
      expect(content[4_999]).to.deep.equal(['row/14999', '4999']);
      expect(content.slice(5_000).map(([key, value]) => [key, value.length])).to.deep.equal([
        ['x', text.length],
        ['y', text.length],
        ['z', text.length],
      ]);
    });

    it('does not keep a reference to what was handed in', async () => {
      const value = Buffer.from('before');
      await open.write([{ key: 'a', value }], mark(1));
      value.write('AFTER!');
      expect(await contentOf(open)).to.deep.equal([['a', 'before']]);
    });

    it('keeps its content through a compaction', async () => {
      await open.write([put('a', '1'), put('b', '1')], mark(1));
      await open.write([gone('a')], mark(2));
      await open.compact();
      expect(await contentOf(await restart())).to.deep.equal([['b', '1']]);
    });
  });
}
