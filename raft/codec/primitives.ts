// Values in the same form on the wire and on disk: entries, configurations, checkpoint metas. Readers never throw; the
// `ok` of their ByteReader tells whether the result can be used.
import type { CheckpointMeta, Config, Entry, Member, MemberId } from '../core/types.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

/** One command: a batch of 32 MiB, written afresh, with room for what names, numbers and seals it. */
export const payloadBytesMax = 40 * 1024 * 1024;
/** A node id and its incarnation. */
export const memberIdBytesMax = 256;
/** Members and the 128 remembered removals, names at their longest. */
const configBytesMax = 128 * 1024;
const addressBytesMax = 512;
const fileNameBytesMax = 256;
const entryBytesMin = 29;

const kinds = { command: 1, config: 2, noop: 3 } as const;

/** Bytes that `writeEntry` writes for a command or a no-op; for a configuration a guess. */
export function entryBytesOf(entry: Entry): number {
  return entryBytesMin + (entry.kind === 'command' ? entry.payload.length : entry.kind === 'config' ? 512 : 0);
}

export function writeEntry(writer: ByteWriter, entry: Entry): void {
  writer.u8(kinds[entry.kind]).u64(entry.index).u64(entry.term).u64(entry.time);
  switch (entry.kind) {
    case 'command':
      writer.block(entry.payload);
      return;
    case 'config':
      writer.block(encodeConfig(entry.config));
      return;
    case 'noop':
      writer.u32(0);
      return;
    default:
      entry satisfies never;
  }
}

/** The payload is a copy, or most of what it lies in: a 100-byte entry must not keep a whole network buffer alive. */
export const readEntry = (reader: ByteReader): Entry => readEntryBy(reader, copied);

type ReadPayload = (reader: ByteReader) => Uint8Array;

const copied: ReadPayload = (reader) => reader.copy(payloadBytesMax);
const viewed: ReadPayload = (reader) => reader.block(payloadBytesMax);

function readEntryBy(reader: ByteReader, readPayload: ReadPayload): Entry {
  const kind = reader.u8();
  const index = reader.u64();
  const term = reader.u64();
  const time = reader.u64();
  if (kind === kinds.command) return { index, term, time, kind: 'command', payload: readPayload(reader) };
  if (kind === kinds.config) return { index, term, time, kind: 'config', config: readNestedConfig(reader) };
  if (kind !== kinds.noop || reader.u32() !== 0) reader.reject();
  return { index, term, time, kind: 'noop' };
}

export function writeEntries(writer: ByteWriter, entries: readonly Entry[]): void {
  writer.list(entries, (entry) => writeEntry(writer, entry));
}

/** Payloads share memory with the input. */
export function readEntries(reader: ByteReader): Entry[] {
  return reader.list(entryBytesMin, () => readEntryBy(reader, viewed));
}

function encodeConfig(config: Config): Buffer {
  const writer = new ByteWriter();
  writeConfig(writer, config);
  return writer.finish();
}

function writeConfig(writer: ByteWriter, config: Config): void {
  for (const ids of [config.voters, config.outgoing, config.learners, config.learnersNext, config.removed]) {
    writer.list(ids, (id) => writer.text(id));
  }
  writer.flag(config.autoLeave);
  writer.list(config.members, ({ id, address, clientAddress }) => writer.text(id).text(address).text(clientAddress));
}

function readConfig(reader: ByteReader): Config {
  const voters = readIds(reader);
  const outgoing = readIds(reader);
  const learners = readIds(reader);
  const learnersNext = readIds(reader);
  const removed = readIds(reader);
  const autoLeave = reader.flag();
  const members = reader.list(12, () => readMember(reader));
  return { voters, outgoing, learners, learnersNext, autoLeave, members, removed };
}

function readNestedConfig(reader: ByteReader): Config {
  const nested = new ByteReader(reader.block(configBytesMax));
  const config = readConfig(nested);
  if (!nested.complete) reader.reject();
  return config;
}

function readMember(reader: ByteReader): Member {
  const id = reader.text(memberIdBytesMax);
  const address = reader.text(addressBytesMax);
  return { id, address, clientAddress: reader.text(addressBytesMax) };
}

function readIds(reader: ByteReader): MemberId[] {
  return reader.list(4, () => reader.text(memberIdBytesMax));
}

export function writeCheckpointMeta(writer: ByteWriter, meta: CheckpointMeta): void {
  writer.u64(meta.index).u64(meta.term).u64(meta.time).u64(meta.size);
  writer.text(meta.file).bytes(Buffer.from(meta.sha256, 'hex'));
  writeConfig(writer, meta.config);
}

export function readCheckpointMeta(reader: ByteReader): CheckpointMeta {
  const head = { index: reader.u64(), term: reader.u64(), time: reader.u64(), size: reader.u64() };
  const file = reader.text(fileNameBytesMax);
  const sha256 = Buffer.from(reader.bytes(32)).toString('hex');
  return { ...head, file, sha256, config: readConfig(reader) };
}
