// Damage: LevelDB serves damaged files without a word (raft.md A6). After any damage to its files, a store opens with
// equal content or not at all.
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { LevelStore } from '../../../src/state/level-store.ts';
import { nodeOfOne, routeDraft } from '../../support/node-of-one.ts';
import { contentOf } from '../../support/store-content.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const key = new Uint8Array(32).fill(1);
/** Count of bytes flipped in each file, spread evenly. More with `DAMAGE_POSITIONS`. */
const positionsPerFile = Number(process.env.DAMAGE_POSITIONS ?? 24);

/** Snapshots lie in files of their own, as large ones do. */
const openStore = (directory: string): Promise<LevelStore> => LevelStore.open(directory, { longBytes: 2_000 });

type Verdict = 'equal' | 'damaged';

describe('a damaged store', () => {
  const directories = new TemporaryDirectories();
  let sound: string;
  let content: string;

  /** Two starts: rows in a table file from the first, in the log from the second. */
  async function write(encryptionKey?: Uint8Array): Promise<void> {
    sound = await directories.make();
    for (const half of ['a', 'b']) {
      const { log, state, close } = await nodeOfOne({ store: await openStore(sound), encryptionKey });
      for (let at = 0; at < 20; at++) await log.propose(routeDraft(`${half}${at}`, { text: `${at}`.repeat(90) }));
      const { changedAt } = state.view;
      const createdAt = '2026-01-01T00:00:00.000Z';
      await log.propose({ op: 'capture', id: half, name: half, createdAt, checkedAt: changedAt, values: {} });
      await log.propose({ op: 'activate', id: half });
      content = contentOf(state.view);
      await close();
    }
  }

  async function verdictAfter(
    change: (directory: string) => Promise<void>,
    encryptionKey?: Uint8Array,
  ): Promise<Verdict> {
    const directory = await directories.make();
    await cp(sound, directory, { recursive: true });
    await change(directory);
    try {
      const node = await nodeOfOne({ store: await openStore(directory), encryptionKey });
      const opened = contentOf(node.state.view);
      await node.close();
      expect(opened).to.equal(content);
      return 'equal';
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'StoreDamaged') throw error;
      expect(error.message).to.match(/ is damaged: .+; restore a backup/);
      return 'damaged';
    }
  }

  const files = async (): Promise<{ name: string; size: number }[]> => {
    const entries = await readdir(sound, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(sound, join(parentPath, name)));
    return await Promise.all(
      names.sort().map(async (name) => ({ name, size: (await readFile(join(sound, name))).length })),
    );
  };

  const flip = (name: string, at: number) => async (directory: string) => {
    const bytes = await readFile(join(directory, name));
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(join(directory, name), bytes);
  };

  const spread = (size: number): number[] =>
    Array.from({ length: Math.min(size, positionsPerFile) }, (_, at) =>
      Math.floor((at * size) / Math.min(size, positionsPerFile)),
    );

  beforeEach(() => write());
  afterEach(() => directories.removeAll());

  it('opens with equal content when nothing was done to it', async () => {
    expect(await verdictAfter(async () => undefined)).to.equal('equal');
  });

  it('never opens with other content after one flipped bit', async () => {
    const found = new Map<string, Verdict[]>();
    for (const { name, size } of await files()) {
      for (const at of spread(size)) {
        const verdict = await verdictAfter(flip(name, at));
        found.set(name, [...(found.get(name) ?? []), verdict]);
      }
    }
    const noticed = [...found].filter(([, verdicts]) => verdicts.includes('damaged')).map(([name]) => name);
    expect(noticed.some((name) => name.endsWith('.ldb'))).to.equal(true);
    expect(noticed.some((name) => name.endsWith('.log'))).to.equal(true);
    expect(noticed.filter((name) => name.startsWith('long/'))).to.have.length(2);
    for (const [name, verdicts] of found) if (name.startsWith('long/')) expect(verdicts).not.to.include('equal');
  });

  it('never opens with other content after a file was cut', async () => {
    for (const { name, size } of await files()) {
      for (const part of [0, 0.25, 0.5, 0.9, 0.999]) {
        await verdictAfter((directory) => truncate(join(directory, name), Math.floor(size * part)));
      }
    }
  });

  it('is not what a crash during a compaction leaves: a table that nothing refers to', async () => {
    expect(await verdictAfter((directory) => writeFile(join(directory, '000999.ldb'), 'half a table'))).to.equal(
      'equal',
    );
  });

  it('notices that the newest answered write is gone from the end of the log', async () => {
    const log = (await files()).find(({ name, size }) => name.endsWith('.log') && size > 0);
    const cut = await verdictAfter((directory) => truncate(join(directory, log?.name ?? ''), (log?.size ?? 0) - 1));
    expect(cut).to.equal('damaged');
  });

  it('notices an older copy of all files but the witness', async () => {
    const older = await directories.make();
    await cp(sound, older, { recursive: true });
    const { log, state, close } = await nodeOfOne({ store: await openStore(sound) });
    await log.propose(routeDraft('newer'));
    content = contentOf(state.view);
    await close();
    const verdict = await verdictAfter(async (directory) => {
      for (const name of await readdir(directory))
        if (name !== 'WITNESS') await rm(join(directory, name), { recursive: true });
      await cp(older, directory, { recursive: true, filter: (path) => !path.endsWith('WITNESS') });
    });
    expect(verdict).to.equal('damaged');
  });

  it('never opens an encrypted store with other content after one flipped bit', async () => {
    await write(key);
    for (const { name, size } of await files()) {
      if (!/\.(ldb|log)$|^long/.test(name)) continue;
      for (const at of spread(size)) await verdictAfter(flip(name, at), key);
    }
  });
});
