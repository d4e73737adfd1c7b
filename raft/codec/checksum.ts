// CRC-32 over bytes that come in pieces. What a large command adds is worked out once and remembered: message, frame of the
// journal, chain and seal of its record all cover it, and each would go over its megabytes again, in turns of the raft thread
// in which no heartbeat leaves.
import { crc32 } from 'node:zlib';
import { isShared } from './shared-bytes.ts';

/** Known checksums, keyed by the view that the log holds: shared bytes are never written to again. */
const known = new WeakMap<Uint8Array, number>();

/** Returns the checksum of all pieces one behind the other, continuing `before`. */
export function checksum(pieces: readonly Uint8Array[], before = 0): number {
  let crc = before;
  for (const piece of pieces) crc = isShared(piece) ? combined(crc, ofShared(piece), piece.length) : crc32(piece, crc);
  return crc;
}

function ofShared(bytes: Uint8Array): number {
  const found = known.get(bytes);
  if (found !== undefined) return found;
  const crc = crc32(bytes);
  known.set(bytes, crc);
  return crc;
}

/** Bit-reflected, as CRC-32 has it: the highest bit is the coefficient of x^0. */
const polynomial = 0xedb88320;
const one = 0x80000000;

/** The checksum of two runs of bytes one behind the other: that of the first, moved on by the length of the second, plus that. */
export function combined(first: number, second: number, secondLength: number): number {
  return (times(xToThe(secondLength), first) ^ second) >>> 0;
}

/** x to the power of 8 × `bytes`, modulo the polynomial. */
function xToThe(bytes: number): number {
  let product = one;
  for (let rest = bytes, power = 3; rest > 0; rest = Math.floor(rest / 2), power += 1) {
    if (rest % 2 === 1) product = times(powers[power % powers.length] ?? one, product);
  }
  return product;
}

/** Modulo the polynomial. `a` is not 0. */
function times(a: number, b: number): number {
  let product = 0;
  let multiple = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= multiple;
    multiple = (multiple & 1) === 0 ? multiple >>> 1 : (multiple >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** x to the power of 2 to the power of the place. They come round after 32, for x^(2^32) is x^(2^0) here. */
const powers: readonly number[] = powersOfX();

function powersOfX(): number[] {
  const found = [0x40000000];
  while (found.length < 32) {
    const last = found.at(-1) ?? one;
    found.push(times(last, last));
  }
  return found;
}
