// Records of the log (raft.md A4), each sealed by a checksum at its end that also covers the kind of the record; the
// journal relies on this checksum. Entries carry a chain value besides: an entry fits only directly after the one
// before, so holes, swapped and stale records show.
import { crc32 } from 'node:zlib';

import type { CheckpointMeta, Entry, HardState, LogPosition, StoreIdentity } from '../core/types.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { checksum } from './checksum.ts';
import {
  entryBytesOf,
  memberIdBytesMax,
  readCheckpointMeta,
  readEntry,
  writeCheckpointMeta,
  writeEntry,
} from './primitives.ts';

/** Raised when a layout changes; a record of another version is unreadable, not reinterpreted. */
const formatVersion = 1;
const crcBytes = 4;
const noBytes = Buffer.alloc(0);
/** Kind and format version. */
const headBytes = 2;
/** Buffer size for usual entries; larger ones get memory of their own. */
const usualBytesMax = 64 * 1024;

export interface EntryRecord {
  readonly entry: Entry;
  readonly chain: number;
}

/** Hard state and the number of the batch that wrote it; every batch writes it. */
export interface StateRecord {
  readonly hardState: HardState;
  readonly persistSeq: number;
}

/** One of the latest 256 batches: what the log looked like after it. */
export interface BatchRecord {
  readonly persistSeq: number;
  readonly term: number;
  readonly vote: string | undefined;
  readonly lastIndex: number;
  /** Chain value at `lastIndex`. */
  readonly chain: number;
}

/** The entry before the first kept one. `chain` starts the chain of those kept. */
export interface BaseRecord extends LogPosition {
  readonly chain: number;
}

export interface GenerationRecord {
  readonly generation: number;
  /** Index of the checkpoint that this generation was built from; 0 for one that grew from nothing. */
  readonly builtFrom: number;
}

export interface IdentityRecord extends StoreIdentity {
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Chain value of `entry` after one whose chain value is `previous`. */
export function chainAfter(previous: number, entry: Entry): number {
  return chainOf(previous, encodeEntry(entry));
}

/** In pieces: what is large of the entry is not copied. */
export function encodeEntryRecord(
  entry: Entry,
  previousChain: number,
): { readonly value: readonly Uint8Array[]; readonly chain: number } {
  const writer = new ByteWriter(Math.min(entryBytesOf(entry), usualBytesMax) + headBytes + 4 + crcBytes, true);
  writeHead(writer, 'entry');
  writeEntry(writer, entry);
  const [first = noBytes, ...others] = writer.pieces();
  const chain = checksum([first.subarray(headBytes), ...others], crc32(numberBytes(previousChain)));
  writer.u32(chain);
  writer.u32(checksum(writer.pieces()));
  return { value: writer.pieces(), chain };
}

export function decodeEntryRecord(value: Uint8Array): EntryRecord | undefined {
  return unseal('entry', value, (reader) => ({ entry: readEntry(reader), chain: reader.u32() }));
}

export function encodeState({ hardState, persistSeq }: StateRecord): Buffer {
  return seal('state', (writer) => {
    writer.u64(hardState.term).u64(hardState.commit).u64(persistSeq);
    writeOptionalText(writer, hardState.vote);
  });
}

export function decodeState(value: Uint8Array): StateRecord | undefined {
  return unseal('state', value, (reader) => {
    const term = reader.u64();
    const commit = reader.u64();
    const persistSeq = reader.u64();
    return { hardState: { term, commit, vote: readOptionalText(reader) }, persistSeq };
  });
}

export function encodeBatch({ persistSeq, term, vote, lastIndex, chain }: BatchRecord): Buffer {
  return seal('batch', (writer) => {
    writer.u64(persistSeq).u64(term).u64(lastIndex).u32(chain);
    writeOptionalText(writer, vote);
  });
}

export function decodeBatch(value: Uint8Array): BatchRecord | undefined {
  return unseal('batch', value, (reader) => {
    const head = { persistSeq: reader.u64(), term: reader.u64(), lastIndex: reader.u64(), chain: reader.u32() };
    return { ...head, vote: readOptionalText(reader) };
  });
}

export function encodeBase({ index, term, chain }: BaseRecord): Buffer {
  return seal('base', (writer) => writer.u64(index).u64(term).u32(chain));
}

export function decodeBase(value: Uint8Array): BaseRecord | undefined {
  return unseal('base', value, (reader) => ({ index: reader.u64(), term: reader.u64(), chain: reader.u32() }));
}

export function encodeCheckpoint(meta: CheckpointMeta): Buffer {
  return seal('checkpoint', (writer) => writeCheckpointMeta(writer, meta));
}

export function decodeCheckpoint(value: Uint8Array): CheckpointMeta | undefined {
  return unseal('checkpoint', value, readCheckpointMeta);
}

export function encodeGeneration({ generation, builtFrom }: GenerationRecord): Buffer {
  return seal('generation', (writer) => writer.u64(generation).u64(builtFrom));
}

export function decodeGeneration(value: Uint8Array): GenerationRecord | undefined {
  return unseal('generation', value, (reader) => ({ generation: reader.u64(), builtFrom: reader.u64() }));
}

/** Boot counter, and the clean-stop marker with the number of the batch that set it. */
export function encodeNumber(kind: 'boots' | 'clean', value: number): Buffer {
  return seal(kind, (writer) => writer.u64(value));
}

export function decodeNumber(kind: 'boots' | 'clean', value: Uint8Array): number | undefined {
  return unseal(kind, value, (reader) => reader.u64());
}

export function encodeIdentity({ nodeId, incarnation, clusterId, createdAt }: IdentityRecord): Buffer {
  return seal('identity', (writer) => {
    writer.text(nodeId).u64(incarnation).u64(createdAt);
    writeOptionalText(writer, clusterId);
  });
}

export function decodeIdentity(value: Uint8Array): IdentityRecord | undefined {
  return unseal('identity', value, (reader) => {
    const head = { nodeId: reader.text(memberIdBytesMax), incarnation: reader.u64(), createdAt: reader.u64() };
    return { ...head, clusterId: readOptionalText(reader) };
  });
}

const recordKinds = [
  'identity',
  'state',
  'entry',
  'batch',
  'checkpoint',
  'base',
  'generation',
  'boots',
  'clean',
] as const;
type RecordKind = (typeof recordKinds)[number];

/** Kind u8 · format version u8 · fields · crc32 u32 of all before. */
function seal(kind: RecordKind, write: (writer: ByteWriter) => void): Buffer {
  const writer = new ByteWriter();
  writeHead(writer, kind);
  write(writer);
  return writer.u32(crc32(writer.finish())).finish();
}

function writeHead(writer: ByteWriter, kind: RecordKind): void {
  writer.u8(recordKinds.indexOf(kind)).u8(formatVersion);
}

/** Undefined when the record is damaged, of another kind or of another version. */
function unseal<T>(kind: RecordKind, value: Uint8Array, read: (reader: ByteReader) => T): T | undefined {
  const body = value.subarray(0, value.length - crcBytes);
  const crc = new ByteReader(value.subarray(body.length)).u32();
  const reader = new ByteReader(body);
  if (crc32(body) !== crc || reader.u8() !== recordKinds.indexOf(kind) || reader.u8() !== formatVersion)
    return undefined;
  const record = read(reader);
  return reader.complete ? record : undefined;
}

function encodeEntry(entry: Entry): Buffer {
  const writer = new ByteWriter(entryBytesOf(entry));
  writeEntry(writer, entry);
  return writer.finish();
}

function chainOf(previous: number, bytes: Uint8Array): number {
  return crc32(bytes, crc32(numberBytes(previous)));
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function writeOptionalText(writer: ByteWriter, text: string | undefined): void {
  writer.flag(text !== undefined);
  if (text !== undefined) writer.text(text);
}

function readOptionalText(reader: ByteReader): string | undefined {
  return reader.flag() ? reader.text(memberIdBytesMax) : undefined;
}
