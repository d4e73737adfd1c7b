// Base64 of a stream (RFC 4648 §4): segments, each padded by itself, that may be cut anywhere into chunks. Byte by byte: a
// client may send nothing but padded groups, and a chunk of any length.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const pad = 64;
const invalid = 255;

/** Values of characters; `pad` is that of `=`. */
const values = new Uint8Array(256).fill(invalid);
for (const [value, letter] of [...alphabet].entries()) values[letter.charCodeAt(0)] = value;
values[0x3d] = pad;

export class Base64Decoder {
  /** Characters of a group that has not arrived whole, those of its padding among them. */
  #characters = 0;
  #pads = 0;
  #bits = 0;

  /** False while a group is incomplete. */
  get isWhole(): boolean {
    return this.#characters === 0;
  }

  /** Returns the bytes of all whole groups; undefined when the text is no base64. */
  decode(chunk: Buffer): Buffer | undefined {
    const bytes = Buffer.allocUnsafe(Math.ceil((chunk.length + 3) / 4) * 3);
    let length = 0;
    for (let at = 0; at < chunk.length; at++) {
      const value = values[chunk[at] ?? 0] ?? invalid;
      if (value === invalid || (value !== pad && this.#pads > 0) || (value === pad && this.#characters < 2))
        return undefined;
      this.#bits = (this.#bits << 6) | (value === pad ? 0 : value);
      if (value === pad) this.#pads++;
      if (++this.#characters < 4) continue;
      bytes[length] = this.#bits >> 16;
      bytes[length + 1] = this.#bits >> 8;
      bytes[length + 2] = this.#bits;
      length += 3 - this.#pads;
      this.#characters = 0;
      this.#pads = 0;
      this.#bits = 0;
    }
    return bytes.subarray(0, length);
  }
}
