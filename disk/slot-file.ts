// A small file that holds one value and outlives a torn write: two slots in different sectors are written in turn, each
// with a checksum of its own, and the newest whole one counts.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ifPresent, withFile } from './durable-file.ts';
import { noRoom } from './write-all.ts';

export interface SlotLayout<T> {
  /** Bytes of a slot, at most 4096. */
  readonly bytes: number;
  /** Checksum included. */
  encode(value: T): Buffer;
  /** Undefined unless the slot is whole. A slot of zeros was never written. */
  decode(slot: Buffer): T | undefined;
  /** Order of a value: of two values the newer one has the higher number. */
  order(value: T): number;
}

/** `empty`: the file was created and never written; `damaged`: it holds something, but no slot is whole. */
export type SlotContent<T> = 'missing' | 'empty' | 'damaged' | { readonly newest: T };

const slotDistance = 4096;

export async function readSlotFile<T>(path: string, layout: SlotLayout<T>): Promise<SlotContent<T>> {
  const content = withFile(path, 'r', async (file) => contentOf(await readSlots(file, layout)));
  return (await ifPresent(content)) ?? 'missing';
}

/** A whole file with `value` in its first slot, for one that must never be seen empty. */
export function slotFileWith<T>(value: T, layout: SlotLayout<T>): Buffer {
  const content = Buffer.alloc(2 * slotDistance);
  content.set(layout.encode(value), 0);
  return content;
}

export class SlotFile<T> {
  readonly #file: FileHandle;
  readonly #layout: SlotLayout<T>;
  /** The slot that the next write replaces: never the one that counts. */
  #next: 0 | 1;

  private constructor(file: FileHandle, layout: SlotLayout<T>, next: 0 | 1) {
    this.#file = file;
    this.#layout = layout;
    this.#next = next;
  }

  /** Creates an empty file where there is none. */
  static async open<T>(path: string, layout: SlotLayout<T>): Promise<SlotFile<T>> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const { slots } = await readSlots(file, layout);
      const [first, second] = slots.map((value) => (value === undefined ? -1 : layout.order(value)));
      return new SlotFile(file, layout, first! > second! ? 1 : 0);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Not synced. One write at a time. */
  async write(value: T): Promise<void> {
    const { bytes, encode } = this.#layout;
    const { bytesWritten } = await this.#file.write(encode(value), 0, bytes, this.#next * slotDistance);
    if (bytesWritten !== bytes) throw noRoom();
    this.#next = this.#next === 0 ? 1 : 0;
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

interface Slots<T> {
  readonly isEmpty: boolean;
  readonly slots: readonly (T | undefined)[];
  readonly layout: SlotLayout<T>;
}

async function readSlots<T>(file: FileHandle, layout: SlotLayout<T>): Promise<Slots<T>> {
  const bytes = Buffer.alloc(slotDistance + layout.bytes);
  const { bytesRead: held } = await file.read(bytes, 0, bytes.length, 0);
  const slots = [0, slotDistance].map((at) => layout.decode(bytes.subarray(at, at + layout.bytes)));
  return { isEmpty: held === 0, slots, layout };
}

function contentOf<T>({ isEmpty, slots, layout }: Slots<T>): SlotContent<T> {
  if (isEmpty) return 'empty';
  const whole = slots.filter((value) => value !== undefined);
  const [newest] = whole.sort((a, b) => layout.order(b) - layout.order(a));
  return newest === undefined ? 'damaged' : { newest };
}
