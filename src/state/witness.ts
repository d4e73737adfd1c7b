// The mark of a store in a small file beside LevelDB's own. LevelDB comes back without a word from a log whose tail or
// middle is gone (raft.md A6); this file remembers how far answers went. Two slots a block apart are written in turn, so
// a torn write leaves the other one whole.
import { constants, type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Mark } from './store.ts';
import { syncDirectory } from './sync-directory.ts';

export const witnessName = 'WITNESS';

const slotOffsets = [0, 4096] as const;
const slotBytes = 48;
const fileBytes = 8192;
const magic = 0x534c5749;

interface Slot {
  readonly seq: number;
  readonly mark: Mark;
}

/** What the file says: nothing there, nothing readable in it, or the newest of its slots. */
export type WitnessRead = 'missing' | 'unreadable' | Mark;

export async function readWitness(directory: string): Promise<WitnessRead> {
  const slot = await newestSlot(join(directory, witnessName));
  return typeof slot === 'string' ? slot : slot.mark;
}

export class Witness {
  readonly #file: FileHandle;
  #seq: number;

  private constructor(file: FileHandle, seq: number) {
    this.#file = file;
    this.#seq = seq;
  }

  /** Opens the witness of a directory, or makes one that holds `first`. The caller owns the directory's lock. */
  static async open(directory: string, first: Mark): Promise<Witness> {
    const path = join(directory, witnessName);
    if ((await newestSlot(path)) === 'missing') await create(path, first);
    const slot = await newestSlot(path);
    return new Witness(await open(path, 'r+'), typeof slot === 'string' ? 0 : slot.seq);
  }

  /** Resolves when the mark is on disk. */
  async write(mark: Mark): Promise<void> {
    const seq = this.#seq + 1;
    const { bytesWritten } = await this.#file.write(encodeSlot({ seq, mark }), 0, slotBytes, slotOffsets[seq % 2]);
    if (bytesWritten !== slotBytes) throw new Error(`the witness took ${bytesWritten} of ${slotBytes} bytes`);
    await this.#file.datasync();
    this.#seq = seq;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Under another name first, so that a crash leaves a whole file or none. */
async function create(path: string, mark: Mark): Promise<void> {
  const content = Buffer.alloc(fileBytes);
  content.set(encodeSlot({ seq: 0, mark }), slotOffsets[0]);
  const file = await open(`${path}.new`, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
}

async function newestSlot(path: string): Promise<'missing' | 'unreadable' | Slot> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (content === undefined) return 'missing';
  const slots = slotOffsets.flatMap((offset) => decodeSlot(content.subarray(offset, offset + slotBytes)) ?? []);
  return slots.sort((a, b) => b.seq - a.seq)[0] ?? 'unreadable';
}

function encodeSlot({ seq, mark }: Slot): Buffer {
  const slot = Buffer.alloc(slotBytes);
  slot.writeUInt32BE(magic, 0);
  slot.writeBigUInt64BE(BigInt(seq), 8);
  slot.writeBigUInt64BE(BigInt(mark.applied), 16);
  slot.writeBigUInt64BE(BigInt(`0x${mark.hash}`), 24);
  slot.writeBigUInt64BE(BigInt(mark.boot), 32);
  slot.writeUInt32BE(crc32(slot.subarray(0, 40)), 40);
  return slot;
}

function decodeSlot(slot: Buffer): Slot | undefined {
  if (slot.length < slotBytes || slot.readUInt32BE(0) !== magic) return undefined;
  if (slot.readUInt32BE(40) !== crc32(slot.subarray(0, 40))) return undefined;
  return {
    seq: Number(slot.readBigUInt64BE(8)),
    mark: {
      applied: Number(slot.readBigUInt64BE(16)),
      hash: slot.readBigUInt64BE(24).toString(16).padStart(16, '0'),
      boot: Number(slot.readBigUInt64BE(32)),
    },
  };
}
