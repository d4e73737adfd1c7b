// Numbers and slices out of LevelDB's files. Reading past the end throws: what is read here may be damaged.

export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Seven bits a byte, the lowest first. */
  varint(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.#at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a number is too long');
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('a value is cut off');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C, masked as LevelDB stores it. Node's zlib has only the other polynomial. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) crc = (table[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0) ^ (crc >>> 8);
  crc = (crc ^ 0xffffffff) >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
