// A small file beside the log database that remembers how far the log was once durable. LevelDB recovers a log
// that lost its tail without a word (raft.md A6); a witness that is ahead of the recovered log gives it away.
// Written after a batch is synced and before anything needs it, never waited for: it may be late, never early.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { isMissing } from './durable-file.ts';

/** What the witness saw: the highest batch known to be synced; 'absent' without a file; 'damaged' when no slot is whole. */
export type Testimony = { readonly synced: number } | 'absent' | 'damaged';

const fileName = 'WITNESS';
const slotBytes = 16;
/** Slots lie in different sectors: a torn write can hurt only the one that was being written. */
const slotDistance = 4096;

export class Witness {
  readonly #file: FileHandle;
  #writing: Promise<void> | undefined;
  #wanted = 0;
  #written = 0;
  #slot = 0;
  readonly #failed: (error: unknown) => void;

  private constructor(file: FileHandle, failed: (error: unknown) => void) {
    this.#file = file;
    this.#failed = failed;
  }

  /** Opens or creates the file in `directory`. `failed` hears of a write error once; nothing is written after it. */
  static async open(directory: string, failed: (error: unknown) => void): Promise<Witness> {
    const file = await open(join(directory, fileName), constants.O_RDWR | constants.O_CREAT, 0o600);
    return new Witness(file, failed);
  }

  static async read(directory: string): Promise<Testimony> {
    let file: FileHandle;
    try {
      file = await open(join(directory, fileName), 'r');
    } catch (error) {
      if (isMissing(error)) return 'absent';
      throw error;
    }
    try {
      return await readSlots(file);
    } finally {
      await file.close();
    }
  }

  /** Batch `seq` is on disk. Returns at once; while one write runs the newest number waits for the next. */
  note(seq: number): void {
    this.#wanted = Math.max(this.#wanted, seq);
    this.#writing ??= this.#write().catch(this.#failed);
  }

  /** Waits for the last note, syncs and closes, whatever fails: a handle that is forgotten ends the program later. */
  async close(): Promise<void> {
    await this.#writing;
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  async #write(): Promise<void> {
    while (this.#written < this.#wanted) {
      const seq = this.#wanted;
      await this.#file.write(encodeSlot(seq), 0, slotBytes, this.#slot * slotDistance);
      this.#written = seq;
      this.#slot = 1 - this.#slot;
    }
    this.#writing = undefined;
  }
}

function encodeSlot(seq: number): Buffer {
  const slot = Buffer.alloc(slotBytes);
  slot.writeBigUInt64BE(BigInt(seq), 0);
  slot.writeUInt32BE(crc32(slot.subarray(0, 8)), 8);
  return slot;
}

async function readSlots(file: FileHandle): Promise<Testimony> {
  const bytes = Buffer.alloc(slotDistance + slotBytes);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  if (bytesRead === 0) return { synced: 0 };
  const seqs = [bytes.subarray(0, slotBytes), bytes.subarray(slotDistance)].map(decodeSlot);
  const whole = seqs.filter((seq) => seq !== undefined);
  return whole.length === 0 ? 'damaged' : { synced: Math.max(...whole) };
}

/** A slot of zeros was never written: its checksum field does not match, and neither does it testify. */
function decodeSlot(slot: Buffer): number | undefined {
  if (slot.readUInt32BE(8) !== crc32(slot.subarray(0, 8))) return undefined;
  const seq = Number(slot.readBigUInt64BE(0));
  return Number.isSafeInteger(seq) ? seq : undefined;
}
