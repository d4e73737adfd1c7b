// Recovery: reads the journal at start and checks all that can be checked (raft.md A18). Problems are collected, not
// thrown; log-verdict.ts judges them.
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
import { type JournalContents, nameOf, type Records } from './journal/journal.ts';
import { batchKey, entryKey, indexOfEntry, keys, ringSlots } from './record-keys.ts';

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
}

/** `contents` is absent for an empty log, and when a record without which nothing makes sense is unreadable. */
export interface Scan {
  readonly empty: boolean;
  readonly contents: LogContents | undefined;
  /** Problems, most telling first; empty when everything fits. */
  readonly problems: readonly string[];
  /** Records that may have been lost, or may never have been acknowledged. */
  readonly complaints: readonly string[];
}

export function scanLog({ records, problems: damage, complaints }: JournalContents): Scan {
  const problems = [...damage];
  const empty = records.size === 0 && problems.length === 0;
  const single = empty ? undefined : readSingles(records, problems);
  if (single === undefined) return { empty, contents: undefined, problems, complaints };
  const chained = readEntries(records, single.base, problems);
  checkPositions(single, chained.entries, problems);
  checkRing(records, single.state, lastChain(single.base, chained), problems);
  return { empty, contents: { ...single, ...chained }, problems, complaints };
}

type Singles = Omit<LogContents, 'entries' | 'chains'>;

function readSingles(records: Records, problems: string[]): Singles | undefined {
  const read = <T>(key: Buffer, name: string, decode: (value: Buffer) => T | undefined) => {
    const value = records.get(nameOf(key));
    const record = value === undefined ? undefined : decode(value);
    if (value !== undefined && record === undefined) problems.push(`the ${name} record is damaged`);
    return record;
  };
  const identity = read(keys.identity, 'identity', decodeIdentity);
  const state = read(keys.state, 'hard state', decodeState);
  const base = read(keys.base, 'base', decodeBase);
  const generation = read(keys.generation, 'generation', decodeGeneration);
  const boots = read(keys.boots, 'boot counter', (value) => decodeNumber('boots', value));
  const checkpoint = read(keys.checkpoint, 'checkpoint', decodeCheckpoint);
  const clean = read(keys.clean, 'clean stop', (value) => decodeNumber('clean', value));
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
}

/** Entries above the base must follow each other; those below wait for their segment to go and are not looked into. */
function readEntries(records: Records, base: BaseRecord, problems: string[]): Chained {
  const entries: Entry[] = [];
  const chains: number[] = [];
  let lastIndex = 0;
  for (const name of records.keys()) lastIndex = Math.max(lastIndex, indexOfEntry(Buffer.from(name, 'latin1')) ?? 0);
  let chain = base.chain;
  for (let index = base.index + 1; index <= lastIndex && problems.length === 0; index++) {
    const value = records.get(nameOf(entryKey(index)));
    const record = value === undefined ? undefined : decodeEntryRecord(value);
    if (value === undefined) problems.push(`entry ${index} is missing`);
    else if (record?.entry.index !== index) problems.push(`entry ${index} is damaged`);
    else if (record.chain !== chainAfter(chain, record.entry))
      problems.push(`entry ${index} does not follow the one before`);
    else {
      entries.push(record.entry);
      chains.push(record.chain);
      chain = record.chain;
    }
  }
  return { entries, chains };
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

/**
 * Checks the ring: each of the latest batches must have left its record, and the newest must describe the log as it is.
 */
function checkRing(
  records: Records,
  { hardState, persistSeq }: StateRecord,
  last: { readonly index: Index; readonly chain: number },
  problems: string[],
): void {
  for (let seq = Math.max(1, persistSeq - ringSlots + 1); seq <= persistSeq; seq++) {
    const value = records.get(nameOf(batchKey(seq)));
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
