// CRC-32 as IEEE 802.3 has it, over byte strings. The rings of contract.md §7.5 and §7.6 take millions of short texts
// with a common beginning, so a sum can be continued.

const table = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  table[byte] = sum;
}

/** State of a sum over nothing. */
export const crcStart = 0xffff_ffff | 0;

/** Continues `state` over the text, one byte per character. */
export function crcContinue(state: number, text: string): number {
  let sum = state;
  for (let i = 0; i < text.length; i++) sum = (table[(sum ^ text.charCodeAt(i)) & 0xff] ?? 0) ^ (sum >>> 8);
  return sum;
}

/** Continues `state` over the decimal digits of a whole number. */
export function crcContinueDecimal(state: number, value: number): number {
  let scale = 1;
  while (scale * 10 <= value) scale *= 10;
  let sum = state;
  for (let rest = value; scale >= 1; scale = Math.floor(scale / 10)) {
    const digit = Math.floor(rest / scale);
    rest -= digit * scale;
    sum = (table[(sum ^ (48 + digit)) & 0xff] ?? 0) ^ (sum >>> 8);
  }
  return sum;
}

/** The sum, 0…2^32 − 1. */
export const crcEnd = (state: number): number => (state ^ 0xffff_ffff) >>> 0;

export const crc32 = (text: string): number => crcEnd(crcContinue(crcStart, text));
