// Bytes that came too early or in parts, kept together. Grows by doubling, so that a byte at a time costs no more than
// all at once; whoever appends sees to the bound.

const none = Buffer.alloc(0);

export class ReceiveBuffer {
  bytes: Buffer = none;
  length = 0;

  append(bytes: Buffer, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(512, length * 2));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    bytes.copy(this.bytes, this.length, from, to);
    this.length = length;
  }

  /** Lets go of the first `count` bytes; the rest moves to where they were. */
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
}
