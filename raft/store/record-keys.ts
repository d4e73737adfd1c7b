// Keys of what the log holds (raft.md A4): one letter, and for entries and batches a big-endian number after it.
import type { Index } from '../core/types.ts';

export const keys = {
  identity: Buffer.from('i'),
  state: Buffer.from('h'),
  checkpoint: Buffer.from('s'),
  base: Buffer.from('f'),
  generation: Buffer.from('g'),
  boots: Buffer.from('n'),
  clean: Buffer.from('c'),
} as const;

/** The latest batches are remembered in a ring of this many slots. */
export const ringSlots = 256;

const entryLetter = 'e'.charCodeAt(0);
const batchLetter = 'b'.charCodeAt(0);

export function entryKey(index: Index): Buffer {
  return numbered(entryLetter, index);
}

export function batchKey(persistSeq: number): Buffer {
  return numbered(batchLetter, persistSeq % ringSlots);
}

/** Undefined for the key of anything else. */
export function indexOfEntry(key: Buffer): Index | undefined {
  return key.length === 9 && key[0] === entryLetter ? Number(key.readBigUInt64BE(1)) : undefined;
}

function numbered(letter: number, value: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key.writeUInt8(letter, 0);
  key.writeBigUInt64BE(BigInt(value), 1);
  return key;
}
