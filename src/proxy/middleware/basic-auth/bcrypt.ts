// bcrypt (Provos and Mazières, 1999): a key schedule of Blowfish that takes long on purpose. Steps are short, so that other
// work of the thread runs between them.
import { piFraction } from './pi-fraction.ts';

/** Bytes of a password that count, its final NUL included. */
const keyBytesMax = 72;
const resultBytes = 23;
const plain = Buffer.from('OrpheanBeholderScryDoubt', 'latin1');

const subkeys = 18;
let initial: Int32Array | undefined;

/** Yields between rounds; returns the 23 bytes of the hash. `password` holds no NUL. */
export function* bcrypt(password: Buffer, salt: Buffer, cost: number): Generator<void, Buffer> {
  const key = Buffer.concat([password, Buffer.from([0])]).subarray(0, keyBytesMax);
  const cipher = new Blowfish();
  cipher.expand(key, salt);
  for (let round = 2 ** cost; round > 0; round--) {
    cipher.expand(key, undefined);
    cipher.expand(salt, undefined);
    yield;
  }
  const block = new Int32Array(plain.length / 4);
  for (let at = 0; at < block.length; at++) block[at] = plain.readInt32BE(4 * at);
  for (let at = 0; at < block.length; at += 2) for (let times = 0; times < 64; times++) cipher.encipher(block, at);
  const bytes = Buffer.alloc(plain.length);
  for (let at = 0; at < block.length; at++) bytes.writeInt32BE(block[at] ?? 0, 4 * at);
  return bytes.subarray(0, resultBytes);
}

class Blowfish {
  /** Subkeys, then the four S-boxes. */
  readonly #words: Int32Array;
  readonly #block = new Int32Array(2);

  constructor() {
    initial ??= initialWords();
    this.#words = initial.slice();
  }

  /** Mixes the key in, and a salt if there is one. */
  expand(key: Buffer, salt: Buffer | undefined): void {
    const words = this.#words;
    const block = this.#block.fill(0);
    for (let i = 0, at = 0; i < subkeys; i++) {
      let word = 0;
      for (let byte = 0; byte < 4; byte++, at = (at + 1) % key.length) word = (word << 8) | (key[at] ?? 0);
      words[i] = (words[i] ?? 0) ^ word;
    }
    const salts = salt && Int32Array.from({ length: 4 }, (_, i) => salt.readInt32BE(4 * i));
    for (let at = 0; at < words.length; at += 2) {
      if (salts !== undefined) {
        block[0] = (block[0] ?? 0) ^ (salts[at % 4] ?? 0);
        block[1] = (block[1] ?? 0) ^ (salts[(at + 1) % 4] ?? 0);
      }
      this.encipher(block, 0);
      words[at] = block[0] ?? 0;
      words[at + 1] = block[1] ?? 0;
    }
  }

  /** Encrypts the two words of `block` at that place. */
  encipher(block: Int32Array, at: number): void {
    const w = this.#words;
    let left = (block[at] ?? 0) ^ (w[0] ?? 0);
    let right = block[at + 1] ?? 0;
    for (let i = 1; i < 17; i += 2) {
      right ^= feistel(w, left) ^ (w[i] ?? 0);
      left ^= feistel(w, right) ^ (w[i + 1] ?? 0);
    }
    block[at] = right ^ (w[17] ?? 0);
    block[at + 1] = left;
  }
}

const feistel = (w: Int32Array, x: number): number =>
  ((((w[subkeys + (x >>> 24)] ?? 0) + (w[subkeys + 256 + ((x >>> 16) & 255)] ?? 0)) ^
    (w[subkeys + 512 + ((x >>> 8) & 255)] ?? 0)) +
    (w[subkeys + 768 + (x & 255)] ?? 0)) |
  0;

function initialWords(): Int32Array {
  const bytes = Buffer.from(piFraction, 'base64');
  return Int32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32BE(4 * i));
}
