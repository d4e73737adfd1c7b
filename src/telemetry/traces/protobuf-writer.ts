// Writer of protocol buffers into one growing buffer, so that a span leaves no garbage (protobuf.dev, Encoding). A nested
// message begins behind room for its length, and is moved when the length takes more bytes than were
// left for it.

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Longest text that is written character by character: beyond it a call out of JavaScript pays. */
const shortMax = 48;
/** Bytes of the longest number. */
const varintMax = 10;

export class MessageWriter {
  #bytes = Buffer.allocUnsafeSlow(16_384);
  length = 0;

  /** Returns a copy of the written bytes and clears the buffer. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.length);
    taken.set(this.#bytes.subarray(0, this.length));
    this.length = 0;
    return taken;
  }

  /** Begins a nested message and returns the start for `end`. */
  begin(field: number): number {
    this.#tag(field, wire.bytes);
    this.#reserve(1);
    return ++this.length;
  }

  /** Ends the nested message that began at `start`. */
  end(start: number): void {
    const size = this.length - start;
    const more = varintLength(size) - 1;
    // Reserved in one go: a second growth would move the bytes of the message.
    this.#reserve(more + varintMax);
    if (more > 0) {
      this.#bytes.copyWithin(start + more, start, this.length);
    }
    this.length = start - 1;
    this.#varint(size);
    this.length += size;
  }

  text(field: number, value: string): void {
    const start = this.begin(field);
    const { length } = value;
    this.#reserve(3 * length);
    const bytes = this.#bytes;
    let at = this.length;
    if (length > shortMax) at += bytes.write(value, at, 'utf8');
    else {
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 0x7f) {
          at = start + bytes.write(value, start, 'utf8');
          break;
        }
        bytes[at++] = code;
      }
    }
    this.length = at;
    this.end(start);
  }

  /**
   * Writes a message of an encoded field, and a message as field 2 with the text as its field 1. False: it is too
   * long, or not ASCII, and nothing was written. `field` is below 16.
   */
  shortPair(field: number, first: Uint8Array, value: string): boolean {
    const { length } = value;
    const size = first.length + 4 + length;
    if (size >= 0x80) return false;
    this.#reserve(2 + size);
    const bytes = this.#bytes;
    let at = this.length;
    bytes[at++] = (field << 3) | wire.bytes;
    bytes[at++] = size;
    for (let i = 0; i < first.length; i++) bytes[at++] = first[i] ?? 0;
    bytes[at++] = (2 << 3) | wire.bytes;
    bytes[at++] = 2 + length;
    bytes[at++] = (1 << 3) | wire.bytes;
    bytes[at++] = length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.length = at;
    return true;
  }

  /** Writes bytes given as hexadecimal `digits`, two for each byte. */
  hex(field: number, digits: string): void {
    const count = digits.length >> 1;
    this.#tag(field, wire.bytes);
    this.#varint(count);
    this.#reserve(count);
    for (let i = 0; i < count; i++) {
      this.#bytes[this.length++] = (digitAt(digits, 2 * i) << 4) | digitAt(digits, 2 * i + 1);
    }
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes a safe integer; a negative one takes ten bytes. */
  integer(field: number, value: number): void {
    this.#tag(field, wire.varint);
    if (value >= 0) this.#varint(value);
    else this.#negative(BigInt.asUintN(64, BigInt(value)));
  }

  double(field: number, value: number): void {
    this.#tag(field, wire.fixed64);
    this.#reserve(8);
    this.length = this.#bytes.writeDoubleLE(value, this.length);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, wire.fixed32);
    this.#fixed32(value);
  }

  /** Writes seconds and nanoseconds as nanoseconds. */
  nanos(field: number, seconds: number, nanos: number): void {
    this.#tag(field, wire.fixed64);
    // 10⁹ is 5⁹ · 2⁹: the product stays exact, and its upper and lower half are a division away.
    const product = seconds * 5 ** 9;
    const low = (product % 2 ** 23) * 2 ** 9 + nanos;
    this.#fixed32(low % 2 ** 32);
    this.#fixed32(Math.floor(product / 2 ** 23) + Math.floor(low / 2 ** 32));
  }

  #tag(field: number, type: number): void {
    this.#varint((field << 3) | type);
  }

  #varint(value: number): void {
    this.#reserve(varintMax);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[this.length++] = (rest % 0x80) | 0x80;
    this.#bytes[this.length++] = rest;
  }

  #negative(value: bigint): void {
    this.#reserve(varintMax);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.length++] = Number(rest);
  }

  #fixed32(value: number): void {
    this.#reserve(4);
    this.length = this.#bytes.writeUInt32LE(value, this.length);
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow((this.length + count) * 2);
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/** Value of a lower-case hexadecimal digit. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}
