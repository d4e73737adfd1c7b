// Reader of the fixed-width fields of frames and records, for bytes of untrusted peers and of damaged disks: a read
// past the end or beyond a limit never throws and never allocates, it only makes `ok` false.

/** All integers are big-endian. After the first bad read every further read gives zero or nothing. */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #mayKeep: boolean;
  #at = 0;
  #ok = true;

  /**
   * @param mayKeep the memory of the input is used for nothing else, so that a payload that takes most of it is not
   * copied.
   */
  constructor(bytes: Uint8Array, mayKeep = false) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#mayKeep = mayKeep;
  }

  /** False once a read went past the end or met a value that cannot be. */
  get ok(): boolean {
    return this.#ok;
  }

  /** True when everything was read and nothing was wrong: trailing bytes are as bad as missing ones. */
  get complete(): boolean {
    return this.#ok && this.#at === this.#bytes.length;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  /** Marks the input as bad, for checks that only the caller can make. */
  reject(): void {
    this.#ok = false;
  }

  u8(): number {
    const at = this.#take(1);
    return at < 0 ? 0 : this.#bytes.readUInt8(at);
  }

  /** 0 or 1; any other byte is bad input. */
  flag(): boolean {
    const value = this.u8();
    if (value > 1) this.#ok = false;
    return value === 1;
  }

  u32(): number {
    const at = this.#take(4);
    return at < 0 ? 0 : this.#bytes.readUInt32BE(at);
  }

  /** A 64-bit field that holds a JavaScript integer; above 2^53 − 1 it is bad input. */
  u64(): number {
    const at = this.#take(8);
    if (at < 0) return 0;
    const value = this.#bytes.readUInt32BE(at) * 0x1_0000_0000 + this.#bytes.readUInt32BE(at + 4);
    if (Number.isSafeInteger(value)) return value;
    this.#ok = false;
    return 0;
  }

  /** A view, not a copy: it shares memory with the input. */
  bytes(length: number): Uint8Array {
    const at = this.#take(length);
    return at < 0 ? new Uint8Array(0) : this.#bytes.subarray(at, at + length);
  }

  /** A view of a field that carries its own 32-bit length, at most `bytesMax`. */
  block(bytesMax: number): Uint8Array {
    const length = this.u32();
    if (length > bytesMax) this.#ok = false;
    return this.#ok ? this.bytes(length) : new Uint8Array(0);
  }

  /**
   * Reads like `block`, into memory that shares nothing: its own, or that of an input of which the block takes most.
   */
  copy(bytesMax: number): Uint8Array {
    const block = this.block(bytesMax);
    return this.#mayKeep && block.length > this.#bytes.length / 2 ? block : new Uint8Array(block);
  }

  /** UTF-8 with a 32-bit length; bytes that are not UTF-8 are bad input. */
  text(bytesMax: number): string {
    const bytes = this.block(bytesMax);
    try {
      return strictUtf8.decode(bytes);
    } catch {
      this.#ok = false;
      return '';
    }
  }

  /**
   * A list with a 32-bit count. `itemBytesMin` is the least an item takes: a count that cannot fit
   * into what is left is bad input, so a lying count allocates nothing.
   */
  list<T>(itemBytesMin: number, item: () => T): T[] {
    const count = this.u32();
    if (count * itemBytesMin > this.remaining) this.#ok = false;
    const items: T[] = [];
    while (this.#ok && items.length < count) items.push(item());
    return items;
  }

  #take(length: number): number {
    if (!this.#ok || length > this.#bytes.length - this.#at) {
      this.#ok = false;
      return -1;
    }
    const at = this.#at;
    this.#at += length;
    return at;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
