// Frames of the journal: each holds what one batch puts and deletes, and counts all of it or nothing. Its head and its
// table, which says what it holds, are under one checksum; each value ends with a checksum of its own (records.ts), which
// the table repeats. So the megabytes of a value are neither copied nor summed up once more to write them.
//
//   magic u32 · crc32 u32 of what follows of head and table · number u64 · bytes of the table u32 · bytes of the values u32
//   table: for each operation kind u8 · key length u8 · key · for a put, length of the value u32 · its last four bytes
//   values, in the order of the table · zeros up to a multiple of eight bytes
import { crc32 } from 'node:zlib';
import { ByteReader } from '../../codec/byte-reader.ts';
import { ByteWriter } from '../../codec/byte-writer.ts';

/** Values come in pieces, as their memory lies. */
export type Operation =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: readonly Uint8Array[] }
  | { readonly type: 'del'; readonly key: Buffer };

/** Operation as it was read from the journal. */
type ReadOperation =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: Buffer };

export interface Frame {
  readonly number: number;
  readonly operations: readonly ReadOperation[];
  /** Offset of the next frame. */
  readonly end: number;
}

const magic = 0x536c_4a31;
const headBytes = 24;
/** Behind magic and checksum. */
const summedFrom = 8;
/** Frames begin at multiples of it. */
export const alignment = 8;
const crcBytes = 4;
const kinds = { put: 1, del: 0 } as const;
/** Larger values are written from where they lie. */
const copiedBytesMax = 64 * 1024;

export interface EncodedFrame {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
}

export function encodeFrame(number: number, operations: readonly Operation[]): EncodedFrame {
  const sizes = operations.map((operation) => (operation.type === 'put' ? lengthOf(operation.value) : 0));
  const tableBytes = operations.reduce((sum, { type, key }) => sum + 2 + key.length + (type === 'put' ? 8 : 0), 0);
  const valueBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const copiedBytes = sizes.reduce((sum, bytes) => sum + (bytes > copiedBytesMax ? 0 : bytes), 0);
  const bytes = aligned(headBytes + tableBytes + valueBytes);
  const head = new ByteWriter(headBytes + tableBytes + copiedBytes + alignment);
  head.u32(magic).u32(0).u64(number).u32(tableBytes).u32(valueBytes);
  operations.forEach((operation, at) => {
    head.u8(kinds[operation.type]).u8(operation.key.length).bytes(operation.key);
    if (operation.type === 'put') head.u32(sizes[at] ?? 0).bytes(lastBytes(operation.value));
  });
  const table = head.finish();
  table.writeUInt32BE(crc32(table.subarray(summedFrom)), 4);
  const pieces: Uint8Array[] = [];
  let from = 0;
  operations.forEach((operation, at) => {
    if (operation.type === 'del') return;
    if ((sizes[at] ?? 0) <= copiedBytesMax) for (const piece of operation.value) head.bytes(piece);
    else {
      pieces.push(head.finish().subarray(from), ...operation.value);
      from = head.length;
    }
  });
  head.bytes(zeros.subarray(0, bytes - headBytes - tableBytes - valueBytes));
  pieces.push(head.finish().subarray(from));
  return { pieces, bytes };
}

/** The frame that begins at `at`; undefined where there is none that is whole. Values are views. */
export function readFrame(bytes: Buffer, at: number): Frame | undefined {
  const head = readHead(bytes, at);
  if (head === undefined || head.end > bytes.length) return undefined;
  const table = new ByteReader(bytes.subarray(at + headBytes, head.valuesAt));
  const operations: ReadOperation[] = [];
  let valueAt = head.valuesAt;
  while (table.ok && !table.complete) {
    const isPut = table.flag();
    const key = Buffer.from(table.bytes(table.u8()));
    if (!isPut) {
      operations.push({ type: 'del', key });
      continue;
    }
    const value = bytes.subarray(valueAt, valueAt + table.u32());
    valueAt += value.length;
    if (!isWhole(value, table.u32())) return undefined;
    operations.push({ type: 'put', key, value });
  }
  return table.ok ? { number: head.number, operations, end: head.end } : undefined;
}

/** Returns the end of the frame at `at` by its head, even if its values are damaged; undefined without a head. */
export function endOfFrame(bytes: Buffer, at: number): { readonly number: number; readonly end: number } | undefined {
  return readHead(bytes, at);
}

const aligned = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;

interface Head {
  readonly number: number;
  readonly valuesAt: number;
  readonly end: number;
}

function readHead(bytes: Buffer, at: number): Head | undefined {
  if (bytes.length - at < headBytes || bytes.readUInt32BE(at) !== magic) return undefined;
  const reader = new ByteReader(bytes.subarray(at + summedFrom, at + headBytes));
  const number = reader.u64();
  const tableBytes = reader.u32();
  const valueBytes = reader.u32();
  const valuesAt = at + headBytes + tableBytes;
  if (!reader.ok || valuesAt > bytes.length) return undefined;
  if (crc32(bytes.subarray(at + summedFrom, valuesAt)) !== bytes.readUInt32BE(at + 4)) return undefined;
  return { number, valuesAt, end: at + aligned(headBytes + tableBytes + valueBytes) };
}

/** Its last four bytes are the checksum of those before, and are those that the table knows. */
function isWhole(value: Buffer, known: number): boolean {
  if (value.length < crcBytes) return false;
  const body = value.subarray(0, -crcBytes);
  return value.readUInt32BE(body.length) === known && crc32(body) === known;
}

const zeros = Buffer.alloc(alignment);

function lengthOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

/** The checksum lies in the last piece, where it was written. */
function lastBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const last = pieces.at(-1);
  if (last === undefined || last.length < crcBytes) throw new Error('a value without a checksum');
  return last.subarray(last.length - crcBytes);
}
