// Receive buffer: bytes that arrived early or in parts, kept together in one piece of memory. It grows by doubling,
// so that single bytes cost no more than one large piece, in time and in memory; the caller that appends enforces the
// bound.

const none = Buffer.alloc(0);

const leastBytes = 512;

export class ReceiveBuffer {
  bytes: Buffer = none;
  length = 0;

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    if (bytes instanceof Buffer) bytes.copy(this.bytes, this.length, from, to);
    else this.bytes.set(bytes.subarray(from, to), this.length);
    this.length += to - from;
  }

  /** Appends Latin-1 text. */
  appendText(text: string): void {
    this.#reserve(text.length);
    this.bytes.write(text, this.length, 'latin1');
    this.length += text.length;
  }

  /** View of all bytes, which stays unchanged by appends and `clear`, until bytes are dropped. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Drops the first `count` bytes; the rest moves to their place. */
  drop(count: number): void {
    if (count === 0) return;
    if (count >= this.length) {
      this.clear();
      return;
    }
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  clear(): void {
    this.bytes = none;
    this.length = 0;
  }

  #reserve(count: number): void {
    const length = this.length + count;
    if (length <= this.bytes.length) return;
    // Bytes that arrive whole need no spare capacity.
    const grown = Buffer.allocUnsafeSlow(Math.max(leastBytes, this.length === 0 ? length : length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
