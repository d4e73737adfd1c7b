// The operations of a large batch as they travel: their lines in compressed blocks, one of which is open at a time. A
// hundred megabytes of JSON are a few in the log, on its way to the followers, and in the memory that holds the command.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { BatchOperation, Operations } from './command.ts';
import { operationsIn } from './operation-lines.ts';

/** Lines of one block in bytes: a millisecond or two of compression. */
const blockBytes = 512 * 1024;
/** Longest content of a block: one operation as it may be written afresh. */
const blockBytesMax = 40 * 1024 * 1024;
const lengthBytes = 4;

export class PackedOperations implements Operations {
  readonly count: number;
  /** Blocks, each behind its length (32 bits, little-endian). */
  readonly bytes: Uint8Array;

  constructor(count: number, bytes: Uint8Array) {
    this.count = count;
    this.bytes = bytes;
  }

  /** In order; undefined, and nothing after it, for a block that does not open. */
  *[Symbol.iterator](): Generator<BatchOperation | undefined> {
    const bytes = Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    for (let at = 0; at < bytes.length; ) {
      const end = at + lengthBytes <= bytes.length ? at + lengthBytes + bytes.readUInt32LE(at) : Number.NaN;
      const lines = end <= bytes.length ? opened(bytes.subarray(at + lengthBytes, end)) : undefined;
      if (lines === undefined) return yield undefined;
      yield* operationsIn(lines);
      at = end;
    }
  }
}

function opened(block: Buffer): Buffer | undefined {
  try {
    return zstdDecompressSync(block, { maxOutputLength: blockBytesMax });
  } catch {
    return undefined;
  }
}

/** Takes lines one by one and compresses them as they come. */
export class OperationPacker {
  readonly #blocks: Buffer[] = [];
  #lines: Buffer[] = [];
  #length = 0;
  #count = 0;

  add(line: Buffer): void {
    this.#lines.push(line);
    this.#length += line.length;
    this.#count += 1;
    if (this.#length >= blockBytes) this.#close();
  }

  finish(): PackedOperations {
    if (this.#length > 0) this.#close();
    return new PackedOperations(this.#count, Buffer.concat(this.#blocks));
  }

  #close(): void {
    const block = zstdCompressSync(Buffer.concat(this.#lines));
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(block.length);
    this.#blocks.push(length, block);
    this.#lines = [];
    this.#length = 0;
  }
}
