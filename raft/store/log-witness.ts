// A small file beside the log that remembers how far it was once durable. A log that lost its tail looks like one that
// never had it; a witness that is ahead of the log gives it away.
// Written after a batch is synced and before anything needs it, never waited for: it may be late, never early.
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeDurably } from '../../disk/durable-file.ts';
import { readSlotFile, SlotFile, type SlotLayout, slotFileWith } from '../../disk/slot-file.ts';

/**
 * Result of reading the witness: the highest batch known to be synced; 'absent' without a file; 'damaged' when no slot
 * is whole.
 */
export type Testimony = { readonly synced: number } | 'absent' | 'damaged';

const fileName = 'WITNESS';

/** The number of a batch u64 · crc32 u32 · zeros. */
const layout: SlotLayout<number> = {
  bytes: 16,
  encode: (seq) => {
    const slot = Buffer.alloc(16);
    slot.writeBigUInt64BE(BigInt(seq), 0);
    slot.writeUInt32BE(crc32(slot.subarray(0, 8)), 8);
    return slot;
  },
  decode: (slot) => {
    if (slot.readUInt32BE(8) !== crc32(slot.subarray(0, 8))) return undefined;
    const seq = Number(slot.readBigUInt64BE(0));
    return Number.isSafeInteger(seq) ? seq : undefined;
  },
  order: (seq) => seq,
};

/** Runs `run` after so many milliseconds, unless what it returned is called before. */
export type After = (ms: number, run: () => void) => () => void;

/** So long the next write waits for others: a write of the witness wakes two threads. */
const pauseMs = 20;
/** Pause after a write that the disk has rejected. */
const rejectedMs = 1_000;

export class Witness {
  readonly #file: SlotFile<number>;
  /** Undefined: no write waits. */
  #after: After | undefined;
  #cancelPause: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #wanted = 0;
  #written = 0;

  private constructor(file: SlotFile<number>, after: After | undefined) {
    this.#file = file;
    this.#after = after;
  }

  /** Opens or creates the file in `directory`. Without `after` no write waits for others. */
  static async open(directory: string, after?: After): Promise<Witness> {
    const path = join(directory, fileName);
    // Whole or absent: a power loss leaves no file without content.
    const isMissing = (await readSlotFile(path, layout)) === 'missing';
    if (isMissing) await writeDurably(path, slotFileWith(0, layout));
    return new Witness(await SlotFile.open(path, layout), after);
  }

  static async read(directory: string): Promise<Testimony> {
    const content = await readSlotFile(join(directory, fileName), layout);
    if (content === 'missing') return 'absent';
    if (content === 'empty') return { synced: 0 };
    return content === 'damaged' ? content : { synced: content.newest };
  }

  /** Batch `seq` is on disk. Returns at once; the newest number waits for the write that runs, and a little longer. */
  note(seq: number): void {
    this.#wanted = Math.max(this.#wanted, seq);
    if (this.#cancelPause === undefined) this.#begin();
  }

  /**
   * Writes the last note, syncs and closes, even after a failure: a handle that is left open ends the program later.
   */
  async close(): Promise<void> {
    this.#cancelPause?.();
    this.#after = undefined;
    this.#begin();
    await this.#writing;
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  #begin(): void {
    if (this.#written < this.#wanted) this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    let isRejected = false;
    do {
      const seq = this.#wanted;
      try {
        await this.#file.write(seq);
        this.#written = seq;
      } catch {
        // A late witness holds an older position, and no wrong one: the slot that counts was not touched.
        isRejected = true;
      }
    } while (!isRejected && this.#after === undefined && this.#written < this.#wanted);
    this.#writing = undefined;
    this.#cancelPause = this.#after?.(isRejected ? rejectedMs : pauseMs, () => {
      this.#cancelPause = undefined;
      this.#begin();
    });
  }
}
