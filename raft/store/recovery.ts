// Reads the whole log database at start and checks everything that can be checked (raft.md A18): LevelDB itself
// opens a damaged log without an error. What is wrong is collected, not thrown; verdict.ts says what it means.
import type { ClassicLevel } from 'classic-level';
import {
  type BaseRecord,
  chainAfter,
  decodeBase,
  decodeBatch,
  decodeCheckpoint,
  decodeEntryRecord,
  decodeGeneration,
  decodeIdentity,
  decodeNumber,
  decodeState,
  type IdentityRecord,
  type StateRecord,
} from '../codec/records.ts';
import type { CheckpointMeta, Entry, Index } from '../core/types.ts';
import { batchKey, batchRange, entryRange, keys, ringSlots } from './keys.ts';

export type Database = ClassicLevel<Buffer, Buffer>;

export interface LogContents {
  readonly identity: IdentityRecord;
  readonly state: StateRecord;
  readonly base: BaseRecord;
  readonly entries: readonly Entry[];
  readonly chains: readonly number[];
  readonly checkpoint: CheckpointMeta | undefined;
  readonly generation: number;
  readonly boots: number;
  /** The last run ended with `close({ clean: true })` and nothing was written since. */
  readonly stoppedCleanly: boolean;
  /** Lowest entry key found; below the base when compaction has not swept it yet. */
  readonly oldestKey: Index;
}

/** `contents` is absent for an empty database, and when a record without which nothing makes sense is unreadable. */
export interface Scan {
  readonly empty: boolean;
  readonly contents: LogContents | undefined;
  /** What is wrong, most telling first; empty when everything fits. */
  readonly problems: readonly string[];
}

export async function scanLog(database: Database): Promise<Scan> {
  if ((await database.keys({ limit: 1 }).all()).length === 0) return { empty: true, contents: undefined, problems: [] };
  const problems: string[] = [];
  const single = await readSingles(database, problems);
  if (single === undefined) return { empty: false, contents: undefined, problems };
  const chained = await readEntries(database, single.base, problems);
  checkPositions(single, chained.entries, problems);
  await checkRing(database, single.state, lastChain(single.base, chained), problems);
  return { empty: false, contents: { ...single, ...chained }, problems };
}

type Singles = Omit<LogContents, 'entries' | 'chains' | 'oldestKey'>;

async function readSingles(database: Database, problems: string[]): Promise<Singles | undefined> {
  const read = async <T>(key: Buffer, name: string, decode: (value: Buffer) => T | undefined) => {
    const value = await database.get(key);
    const record = value === undefined ? undefined : decode(value);
    if (value !== undefined && record === undefined) problems.push(`the ${name} record is damaged`);
    return record;
  };
  const identity = await read(keys.identity, 'identity', decodeIdentity);
  const state = await read(keys.state, 'hard state', decodeState);
  const base = await read(keys.base, 'base', decodeBase);
  const generation = await read(keys.generation, 'generation', decodeGeneration);
  const boots = await read(keys.boots, 'boot counter', (value) => decodeNumber('boots', value));
  const checkpoint = await read(keys.checkpoint, 'checkpoint', decodeCheckpoint);
  const clean = await read(keys.clean, 'clean stop', (value) => decodeNumber('clean', value));
  if (!identity || !state || !base || !generation || boots === undefined) {
    problems.push('a record that every log has is missing');
    return undefined;
  }
  if (clean !== undefined && clean !== state.persistSeq) problems.push('the clean stop was followed by a lost start');
  const stoppedCleanly = clean !== undefined;
  return { identity, state, base, checkpoint, generation: generation.generation, boots, stoppedCleanly };
}

interface Chained {
  readonly entries: Entry[];
  readonly chains: number[];
  readonly oldestKey: Index;
}

/** Entries above the base must follow each other; those below wait to be swept and are not looked into. */
async function readEntries(database: Database, base: BaseRecord, problems: string[]): Promise<Chained> {
  const entries: Entry[] = [];
  const chains: number[] = [];
  let oldestKey: Index | undefined;
  let chain = base.chain;
  for await (const [key, value] of database.iterator(entryRange)) {
    const index = key.length === 9 ? Number(key.readBigUInt64BE(1)) : Number.NaN;
    oldestKey ??= index;
    if (index <= base.index) continue;
    const expected = base.index + entries.length + 1;
    const record = decodeEntryRecord(value);
    if (index !== expected) problems.push(`entry ${expected} is missing`);
    else if (record === undefined || record.entry.index !== index) problems.push(`entry ${index} is damaged`);
    else if (record.chain !== chainAfter(chain, record.entry))
      problems.push(`entry ${index} does not follow the one before`);
    if (problems.length > 0 || record === undefined) break;
    entries.push(record.entry);
    chains.push(record.chain);
    chain = record.chain;
  }
  return { entries, chains, oldestKey: Math.min(oldestKey ?? base.index + 1, base.index + 1) };
}

function checkPositions({ base, state, checkpoint }: Singles, entries: readonly Entry[], problems: string[]): void {
  const { term, commit } = state.hardState;
  const lastIndex = base.index + entries.length;
  let previous = base.term;
  for (const entry of entries) {
    if (entry.term < previous) problems.push(`entry ${entry.index} has an older term than the one before`);
    previous = entry.term;
  }
  if (previous > term) problems.push(`the log reaches term ${previous}, the hard state only ${term}`);
  if (commit > lastIndex) problems.push(`entry ${commit} was committed, the log ends at ${lastIndex}`);
  if (base.index > (checkpoint?.index ?? 0)) problems.push(`no checkpoint covers the log before ${base.index}`);
}

function lastChain(base: BaseRecord, { entries, chains }: Chained): { index: Index; chain: number } {
  return { index: base.index + entries.length, chain: chains.at(-1) ?? base.chain };
}

/** Each of the latest batches must have left its record, and the newest must describe the log as it is. */
async function checkRing(
  database: Database,
  { hardState, persistSeq }: StateRecord,
  last: { readonly index: Index; readonly chain: number },
  problems: string[],
): Promise<void> {
  const slots = new Map<string, Buffer>();
  for await (const [key, value] of database.iterator(batchRange)) slots.set(key.toString('hex'), value);
  for (let seq = Math.max(1, persistSeq - ringSlots + 1); seq <= persistSeq; seq++) {
    const value = slots.get(batchKey(seq).toString('hex'));
    const batch = value === undefined ? undefined : decodeBatch(value);
    if (batch?.persistSeq !== seq) {
      problems.push(`batch ${seq} of ${persistSeq} has left no record`);
      return;
    }
    const newest = seq === persistSeq;
    const fits = batch.term === hardState.term && batch.vote === hardState.vote;
    if (newest && !(fits && batch.lastIndex === last.index && batch.chain === last.chain)) {
      problems.push(`the log does not end as batch ${seq} left it`);
    }
  }
}
