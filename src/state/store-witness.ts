// Witness of a store: its mark in a small file beside LevelDB's own. LevelDB reports nothing when the tail or the
// middle of its log is gone (raft.md A6); this file remembers the last answered write.
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeDurably } from '../../disk/durable-file.ts';
import { readSlotFile, SlotFile, type SlotLayout, slotFileWith } from '../../disk/slot-file.ts';
import type { Mark } from './store.ts';

export const witnessName = 'WITNESS';

const magic = 0x534c5749;

interface Slot {
  /** Counts the writes of this file. */
  readonly seq: number;
  readonly mark: Mark;
}

/** Magic u32 · zeros u32 · seq u64 · applied u64 · hash u64 · boot u64 · crc32 u32 of these · zeros u32. */
const layout: SlotLayout<Slot> = {
  bytes: 48,
  encode: ({ seq, mark }) => {
    const slot = Buffer.alloc(48);
    slot.writeUInt32BE(magic, 0);
    slot.writeBigUInt64BE(BigInt(seq), 8);
    slot.writeBigUInt64BE(BigInt(mark.applied), 16);
    slot.writeBigUInt64BE(BigInt(`0x${mark.hash}`), 24);
    slot.writeBigUInt64BE(BigInt(mark.boot), 32);
    slot.writeUInt32BE(crc32(slot.subarray(0, 40)), 40);
    return slot;
  },
  decode: (slot) => {
    if (slot.readUInt32BE(0) !== magic || slot.readUInt32BE(40) !== crc32(slot.subarray(0, 40))) return undefined;
    return {
      seq: Number(slot.readBigUInt64BE(8)),
      mark: {
        applied: Number(slot.readBigUInt64BE(16)),
        hash: slot.readBigUInt64BE(24).toString(16).padStart(16, '0'),
        boot: Number(slot.readBigUInt64BE(32)),
      },
    };
  },
  order: ({ seq }) => seq,
};

/** Content of the file: missing, unreadable, or the newest of its slots. */
export type WitnessRead = 'missing' | 'unreadable' | Mark;

export async function readWitness(directory: string): Promise<WitnessRead> {
  const content = await readSlotFile(join(directory, witnessName), layout);
  if (content === 'missing') return 'missing';
  return typeof content === 'string' ? 'unreadable' : content.newest.mark;
}

export class Witness {
  readonly #file: SlotFile<Slot>;
  #seq: number;

  private constructor(file: SlotFile<Slot>, seq: number) {
    this.#file = file;
    this.#seq = seq;
  }

  /** Opens the witness of a directory, or makes one that holds `first`. The caller owns the directory's lock. */
  static async open(directory: string, first: Mark): Promise<Witness> {
    const path = join(directory, witnessName);
    const content = await readSlotFile(path, layout);
    // Whole or absent: an empty one would be unreadable.
    if (content === 'missing') await writeDurably(path, slotFileWith({ seq: 0, mark: first }, layout));
    return new Witness(await SlotFile.open(path, layout), typeof content === 'string' ? 0 : content.newest.seq);
  }

  /** Resolves when the mark is on disk. */
  async write(mark: Mark): Promise<void> {
    const seq = this.#seq + 1;
    await this.#file.write({ seq, mark });
    await this.#file.sync();
    this.#seq = seq;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
