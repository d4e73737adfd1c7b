// The disk of a Sluice process that loses what was not synced when its power fails, or lies about what it synced.
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './sluice-process.ts';

/** Kind of the loss: whole batches of LevelDB, or the bytes at the end of each file. */
export type Loss = 'batches' | 'bytes';

/** Treatment of the bytes behind the synced ones. LevelDB may report noise at the end of a log. */
export type Rest = 'cut' | 'noise';

export interface Lost {
  /** Operations of LevelDB that waited in memory. */
  readonly operations: number;
  readonly files: number;
  readonly bytes: number;
}

/** Entry of the record that the preload writes, in order. */
interface Entry {
  readonly path: string;
  readonly length?: number;
  readonly renamed?: string;
  /** Operations that wait for a database. */
  readonly held?: number;
}

const preload = new URL('lossy-disk.mjs', import.meta.url).pathname;
/** LevelDB syncs its tables and manifests itself before it relies on them; its lock is empty. */
const syncedByLevelDb = /(^|\/)(\d+\.(ldb|sst|dbtmp)|MANIFEST-\d+|CURRENT|LOCK)$/;

export class LossyDisk {
  readonly loses: Loss;
  /** Environment of the process. */
  readonly env: NodeJS.ProcessEnv;
  readonly #directory = newFolder();

  /** Takes the file `lies`, whose presence makes syncs report success without syncing. Several disks may share one. */
  constructor(loses: Loss, lies = join(newFolder(), 'lies')) {
    this.loses = loses;
    this.env = {
      NODE_OPTIONS: `--import=${preload}`,
      SLUICE_DISK: this.#directory,
      SLUICE_DISK_LOSES: loses,
      SLUICE_DISK_LIES: lies,
    };
  }

  /** Applies the power failure to the store of a killed process. */
  losePower(storePath: string, random: () => number, rest: Rest = 'cut'): Lost {
    const entries = this.#entries();
    const lost = { operations: heldOperations(entries), files: 0, bytes: 0 };
    const synced = syncedLengths(entries);
    const now: Entry[] = [];
    for (const path of filesIn(storePath)) {
      const length = Math.min(synced.get(path) ?? 0, statSync(path).size);
      const unsynced = statSync(path).size - length;
      const mayLose = unsynced > 0 || (rest === 'noise' && /\.log$/.test(path));
      if (this.loses === 'bytes' && mayLose && !syncedByLevelDb.test(path)) {
        lose(path, length, random, rest);
        lost.files++;
        lost.bytes += unsynced;
      }
      now.push({ path, length: statSync(path).size });
    }
    writeFileSync(join(this.#directory, 'notes'), now.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    return lost;
  }

  #entries(): readonly Entry[] {
    const file = join(this.#directory, 'notes');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  }
}

function syncedLengths(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const { path, length, renamed, held } of entries) {
    if (length !== undefined) lengths.set(path, length);
    if (length !== undefined || held !== undefined) continue;
    for (const [known, before] of [...lengths]) {
      if (known !== path && !known.startsWith(`${path}/`)) continue;
      lengths.delete(known);
      if (renamed !== undefined) lengths.set(renamed + known.slice(path.length), before);
    }
  }
  return lengths;
}

function heldOperations(entries: readonly Entry[]): number {
  const held = new Map<string, number>();
  for (const { path, held: count } of entries) if (count !== undefined) held.set(path, count);
  return [...held.values()].reduce((sum, count) => sum + count, 0);
}

/** Loses the unsynced bytes or, at random, only the end of them; with noise it replaces them. */
function lose(path: string, synced: number, random: () => number, rest: Rest): void {
  const unsynced = statSync(path).size - synced;
  if (rest === 'cut') {
    truncateSync(path, synced + (random() < 0.5 ? 0 : Math.floor(random() * unsynced)));
    return;
  }
  // A write may have been under way of which the file knows no more than that it grew.
  const noise = Buffer.alloc(unsynced + 1 + Math.floor(random() * 1_000)).map(() => Math.floor(random() * 256));
  writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, synced), noise]));
}

function filesIn(storePath: string): readonly string[] {
  const names = readdirSync(storePath, { recursive: true, encoding: 'utf8' });
  return names.map((name) => join(storePath, name)).filter((path) => statSync(path).isFile());
}
