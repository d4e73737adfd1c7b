// The rows of a store as one stream of bytes and back: what a checkpoint file holds. Rows travel as they are stored,
// sealed ones sealed; rows of one node alone stay behind.
import { isLocal } from './row-keys.ts';
import type { StoreImage } from './store.ts';

type StoreRow = readonly [key: string, value: Uint8Array];

const start = Buffer.from('SLST\u0001');
const headBytes = 8;
const sliceBytes = 256 * 1024;

/** `SLST` · version u8 · then for each row: key length u32, value length u32, key, value. */
export async function* rowsToBytes(image: StoreImage): AsyncGenerator<Uint8Array> {
  let slice: Uint8Array[] = [start];
  let length = start.length;
  for await (const [key, value] of image.rows()) {
    if (isLocal(key)) continue;
    const parts = frameOf(key, value);
    slice.push(...parts);
    for (const part of parts) length += part.length;
    if (length < sliceBytes) continue;
    yield Buffer.concat(slice);
    slice = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(slice);
}

/** @throws when the bytes are not what `rowsToBytes` gave */
export async function* bytesToRows(slices: AsyncIterable<Uint8Array>): AsyncGenerator<StoreRow> {
  const bytes = new Arriving(slices);
  const begun = await bytes.take(start.length);
  if (begun === undefined || !start.equals(begun)) throw new Error('the checkpoint holds no state that is known here');
  for (let head = await bytes.take(headBytes); head !== undefined; head = await bytes.take(headBytes)) {
    const key = await bytes.take(head.readUInt32BE(0));
    const value = await bytes.take(head.readUInt32BE(4));
    if (key === undefined || value === undefined) throw new Error('the checkpoint is cut off');
    yield [key.toString(), value];
  }
}

function frameOf(key: string, value: Uint8Array): Uint8Array[] {
  const keyBytes = Buffer.from(key);
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(keyBytes.length, 0);
  head.writeUInt32BE(value.length, 4);
  return [head, keyBytes, value];
}

class Arriving {
  readonly #slices: AsyncIterator<Uint8Array>;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(slices: AsyncIterable<Uint8Array>) {
    this.#slices = slices[Symbol.asyncIterator]();
  }

  /** Undefined at the end. */
  async take(length: number): Promise<Buffer | undefined> {
    while (this.#length < length) {
      const next = await this.#slices.next();
      if (next.done) {
        if (this.#length === 0) return undefined;
        throw new Error('the checkpoint is cut off');
      }
      this.#parts.push(next.value);
      this.#length += next.value.length;
    }
    const all = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [all.subarray(length)];
    this.#length -= length;
    return Buffer.from(all.buffer, all.byteOffset, length);
  }
}
