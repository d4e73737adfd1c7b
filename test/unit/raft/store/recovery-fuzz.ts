// Damages a real log directory byte by byte and looks at what the next start makes of it. A start
// may call it clean only when nothing is different. The unit suite takes samples; the whole round by hand:
//   node test/unit/raft/store/recovery-fuzz.ts --step 1
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenedLog, WriteBatch } from '../../../../raft/store/log-store.ts';
import { optionsOf } from '../../../../raft/testing/commands/options.ts';
import { appendBatch, copyOf, inDirectory, reopen, writeLog } from './log-directory.ts';

type Damage = 'truncate' | 'flip';
type Fate = 'clean and equal' | 'suspect' | 'poisoned' | 'refused' | 'clean and different';
export interface FuzzReport {
  readonly fates: Record<Fate, number>;
  /** Names of damaged logs that were taken for sound ones. */
  readonly missed: readonly string[];
}

export interface FuzzOptions {
  /** Every `step`-th byte of each file is hit. */
  readonly step: number;
  /** Directory in which the copies are made; memory-backed is quickest. */
  readonly parent: string;
  /** Files of the log directory that are damaged. */
  readonly files: RegExp;
  /** With false the log ends as a killed process leaves it. */
  readonly clean: boolean;
}

/** 200 entries of at most 16 bytes in 80 batches, with a term change and a conflict that cuts the log back. */
function twoHundredEntries(): WriteBatch[] {
  const batches: WriteBatch[] = [];
  for (let first = 1; first <= 118; first += 3) batches.push(appendBatch(first, 3, { commit: first - 1 }));
  batches.push({ ...appendBatch(110, 5, { term: 2, commit: 109 }), truncateFrom: 110 });
  for (let first = 115; first <= 200; first += 2) batches.push(appendBatch(first, 2, { term: 2, commit: first - 1 }));
  return batches;
}

export async function fuzzRecovery(options: FuzzOptions): Promise<FuzzReport> {
  const fates = { 'clean and equal': 0, suspect: 0, poisoned: 0, refused: 0, 'clean and different': 0 };
  const missed: string[] = [];
  await inDirectory(async (original) => {
    await writeLog(original, twoHundredEntries(), { clean: options.clean });
    const expected = await copyOf(original, reopen, options.parent);
    for (const [file, at] of await places(original, options)) {
      for (const damage of ['truncate', 'flip'] as const) {
        const fate = await fateAfter({ original, file, at, damage, expected, parent: options.parent });
        fates[fate]++;
        if (fate === 'clean and different') missed.push(`${damage} ${file} at ${at}`);
      }
    }
  }, options.parent);
  return { fates, missed };
}

async function places(directory: string, { step, files }: FuzzOptions): Promise<[string, number][]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const hit: [string, number][] = [];
  for (const each of names.filter((entry) => entry.isFile() && files.test(entry.name))) {
    const file = join(each.parentPath, each.name).slice(directory.length + 1);
    const { length } = await readFile(join(directory, file));
    for (let at = 0; at < length; at += step) hit.push([file, at]);
  }
  return hit;
}

interface Hit {
  readonly original: string;
  readonly file: string;
  readonly at: number;
  readonly damage: Damage;
  readonly expected: OpenedLog;
  readonly parent: string;
}

async function fateAfter({ original, file, at, damage, expected, parent }: Hit): Promise<Fate> {
  return copyOf(
    original,
    async (copy) => {
      await applyDamage(join(copy, file), at, damage);
      const opened = await reopen(copy).catch((error: unknown) => String(error));
      if (typeof opened === 'string') return 'refused';
      if (opened.verdict.kind !== 'clean') return opened.verdict.kind;
      return same(opened, expected) ? 'clean and equal' : 'clean and different';
    },
    parent,
  );
}

async function applyDamage(path: string, at: number, damage: Damage): Promise<void> {
  if (damage === 'truncate') return truncate(path, at);
  const bytes = await readFile(path);
  bytes[at] = bytes[at]! ^ (1 << (at % 8));
  return writeFile(path, bytes);
}

function same(found: OpenedLog, expected: OpenedLog): boolean {
  return JSON.stringify({ ...found, verdict: 0 }) === JSON.stringify({ ...expected, verdict: 0 });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = optionsOf(import.meta.url, {
    options: {
      step: { type: 'string', default: '1' },
      files: { type: 'string', default: '^\\d{16}\\.log$' },
      parent: { type: 'string', default: tmpdir() },
      killed: { type: 'boolean', default: false },
    },
  });
  const { step, files, parent, killed } = values;
  const report = await fuzzRecovery({ step: Number(step), files: new RegExp(files), parent, clean: !killed });
  console.log(JSON.stringify(report, undefined, 2));
  process.exitCode = report.missed.length === 0 ? 0 : 1;
}
