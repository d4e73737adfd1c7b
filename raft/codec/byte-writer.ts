// Writes the fixed-width fields that ByteReader reads. Used by frames, messages and records.

const usualBytes = 256;
/** Copying a block of this size costs more than carrying it beside the rest. */
const apartBytes = 64 * 1024;

/** All integers are big-endian. Writing a number that its field cannot hold throws: that is a bug, not input. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;
  readonly #keepsApart: boolean;
  /** Finished pieces, and the offset in the buffer where the next piece begins. */
  readonly #pieces: Uint8Array[] = [];
  #cutAt = 0;

  /**
   * `bytes`: what will be written, where that is known; more makes it grow. With `keepsApart` large blocks are not
   * copied: `pieces` gives them as they are, and `finish` is of no use.
   */
  constructor(bytes = usualBytes, keepsApart = false) {
    this.#buffer = Buffer.allocUnsafe(bytes);
    this.#keepsApart = keepsApart;
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#buffer.writeUInt8(value, at);
    return this;
  }

  flag(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#buffer.writeUInt32BE(value, at);
    return this;
  }

  /** Bit operators would cut the value to 32 bits, hence the division. */
  u64(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a safe unsigned integer`);
    const at = this.#grow(8);
    this.#buffer.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
    this.#buffer.writeUInt32BE(value % 0x1_0000_0000, at + 4);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#buffer.set(value, at);
    return this;
  }

  /** Bytes after their own 32-bit length. */
  block(value: Uint8Array): this {
    this.u32(value.length);
    if (!this.#keepsApart || value.length < apartBytes) return this.bytes(value);
    this.#pieces.push(this.#buffer.subarray(this.#cutAt, this.#length), value);
    this.#cutAt = this.#length;
    return this;
  }

  text(value: string): this {
    return this.block(Buffer.from(value, 'utf8'));
  }

  list<T>(items: readonly T[], item: (value: T) => void): this {
    this.u32(items.length);
    for (const value of items) item(value);
    return this;
  }

  /** Returns all bytes written so far, as a view that stays valid because the writer never overwrites. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** All of it in order, the large blocks where the caller has them. */
  pieces(): readonly Uint8Array[] {
    return [...this.#pieces, this.#buffer.subarray(this.#cutAt, this.#length)];
  }

  #grow(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, at));
      this.#buffer = larger;
    }
    return at;
  }
}
