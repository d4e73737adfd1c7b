// A kill in the middle of a flush or a compaction leaves table files behind that no manifest names, half written; one
// between two files of the log leaves one that is half made. They are no damage: the next start is clean, and nothing that
// was acknowledged is missing.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { liveTables } from '../../disk/manifest.ts';
import { seededRandom } from '../support/random.ts';
import { TemporaryDirectories } from '../support/temporary-directory.ts';

/** The last eight bytes of a whole table. */
const tableMagic = Buffer.from('57fb808b247547db', 'hex');
const kills = Number(process.env.SLUICE_TABLE_KILLS ?? 200);
const writer = fileURLToPath(new URL('./table-writer.ts', import.meta.url));

interface Life {
  /** Findings of the start: verdict of the log, its end, the end of the state. Undefined when it was killed before. */
  readonly found: readonly [string, number, number] | undefined;
  /** The last write that it told of: end of the log, end of the state. */
  readonly told: readonly [number, number] | undefined;
}

describe('SIGKILL in the middle of flushes and compactions', function () {
  this.timeout(60_000 + kills * 3_000);
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  // The first file of the log is that of the start itself.
  it(`leaves logs and states that start clean, ${kills} times`, async () => {
    const random = seededRandom(Number(process.env.SLUICE_SEED ?? 20_262));
    const directory = await directories.make();
    const compiled = await directories.make();
    const database = join(directory, 'state');
    const folders = [join(directory, 'raft', 'journal'), database];
    for (const folder of folders) await mkdir(folder, { recursive: true });
    let [log, state] = [0, 0];
    let halves = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const { found, told } = await lifeOf(
        { directory, compiled },
        folders[kill % 2]!,
        Math.ceil(random() * 2) + (kill % 2 === 0 ? 2 : 0),
      );
      if (found !== undefined) {
        expect(found[0], `start ${kill + 1}`).to.equal('clean');
        expect(found[1], 'end of the log').to.be.at.least(log);
        // The mark of the last write may be under way.
        expect(found[2], 'mark of the state').to.be.at.least(state - 1);
      }
      [log, state] = told ?? [log, state];
      halves += await halfTablesIn(database);
    }
    expect(log, 'acknowledged writes').to.be.above(kills);
    expect(halves, 'half-written tables that no manifest names').to.be.above(0);
  });
});

/** Runs a process and kills it when the `files`-th new table or file of the log appears in a folder. */
async function lifeOf(
  { directory, compiled }: { directory: string; compiled: string },
  folder: string,
  files: number,
): Promise<Life> {
  const seen = new Set(await readdir(folder));
  const before = seen.size;
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const child = spawn(process.execPath, [writer, directory], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const watcher = watch(folder, (_, name) => {
    if (name !== null && /\.(ldb|log|partial)$/.test(name)) seen.add(name);
    if (seen.size - before >= files) child.kill('SIGKILL');
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const ended = new Promise<string | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  if ((await ended) !== 'SIGKILL') throw new Error(`the writer ended by itself: ${errors.join('')}`);
  watcher.close();
  const [start, ...writes] = lines.map((line) => line.split(' '));
  return {
    found: start && [start[0]!, Number(start[1]), Number(start[2])],
    told: writes.at(-1)?.map(Number) as [number, number] | undefined,
  };
}

/** Tables that a crash left behind before they had their end. */
async function halfTablesIn(database: string): Promise<number> {
  const live = await liveTables(database);
  const names = (await readdir(database)).filter((name) => name.endsWith('.ldb'));
  const strays = names.filter((name) => !live.has(Number.parseInt(name, 10)));
  const ends = await Promise.all(strays.map(async (name) => (await readFile(join(database, name))).subarray(-8)));
  return ends.filter((end) => !end.equals(tableMagic)).length;
}
