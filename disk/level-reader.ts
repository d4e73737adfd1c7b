// Reads a LevelDB database without writing a byte, for a disk that takes none: LevelDB itself makes files whenever it opens
// one. Tables and the write-ahead files are those of LevelDB 1.20, uncompressed; blocks and records are read by their checksums.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logRecords, manifestOf } from './manifest.ts';
import { tableEntries } from './table-check.ts';
import { VarintReader } from './varint-reader.ts';

interface Version {
  /** Number of its write; the highest counts. */
  readonly sequence: bigint;
  /** Undefined: the row was deleted. */
  readonly value: Buffer | undefined;
}

const trailerBytes = 8;
const batchHeadBytes = 12;

/**
 * Rows by key, keys as Latin-1 text, ascending. What stands in a write-ahead file behind a torn record is left out, as LevelDB does.
 * @throws {Error} when a file is missing or was changed
 */
export async function readLevel(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const { tables, firstLog } = await manifestOf(directory);
  const rows = new Map<string, Version>();
  const note = (key: Buffer, sequence: bigint, value: Buffer | undefined): void => {
    const name = key.toString('latin1');
    if ((rows.get(name)?.sequence ?? -1n) < sequence) rows.set(name, { sequence, value });
  };
  const names = await readdir(directory);
  for (const number of tables) noteTable(await readTable(directory, names, number), note);
  for (const number of numbersOf(names, /^(\d+)\.log$/)) {
    if (number < firstLog) continue;
    const log = await readFile(join(directory, `${String(number).padStart(6, '0')}.log`));
    for (const record of logRecords(log)) noteBatch(record, note);
  }
  const live = [...rows].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  return new Map(live.sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Note = (key: Buffer, sequence: bigint, value: Buffer | undefined) => void;

const numbersOf = (names: readonly string[], pattern: RegExp): number[] =>
  names
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

function readTable(directory: string, names: readonly string[], number: number): Promise<Buffer> {
  const name = names.find((one) => /\.(?:ldb|sst)$/.test(one) && Number.parseInt(one, 10) === number);
  if (name === undefined) throw new Error(`table ${number} in ${directory} is missing`);
  return readFile(join(directory, name));
}

/** A key ends with its sequence number, shifted by eight bits, and whether it is a value (1) or a deletion (0). */
function noteTable(table: Buffer, note: Note): void {
  for (const { key, value } of tableEntries(table)) {
    const trailer = key.readBigUInt64LE(key.length - trailerBytes);
    const isValue = (trailer & 255n) === 1n;
    note(key.subarray(0, key.length - trailerBytes), trailer >> 8n, isValue ? value : undefined);
  }
}

/** Sequence number u64 · count u32 · for each: kind u8 · key · for a value, the value; each with its length before it. */
function noteBatch(batch: Buffer, note: Note): void {
  let sequence = batch.readBigUInt64LE(0);
  const reader = new VarintReader(batch.subarray(batchHeadBytes));
  while (!reader.done) {
    const isValue = reader.varint() === 1;
    const key = reader.take(reader.varint());
    note(key, sequence, isValue ? reader.take(reader.varint()) : undefined);
    sequence += 1n;
  }
}
