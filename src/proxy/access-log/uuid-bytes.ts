// Random UUIDs (RFC 9562 §5.4) as the text that a log line shows, without making a string of them.
import { randomFillSync } from 'node:crypto';

const idBytes = 16;
/** Random bytes are asked for so many ids at a time, and used once. */
const random: Uint8Array = new Uint8Array(256 * idBytes);
let used = random.length;

const digits: Uint8Array = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const hyphen = 45;
/** A hyphen stands before these bytes. */
const isGroup: Uint8Array = Uint8Array.from({ length: idBytes }, (_, i) =>
  i === 4 || i === 6 || i === 8 || i === 10 ? 1 : 0,
);

/** 36 characters of version 4 from `at` on. */
export function uuidInto(target: Uint8Array, at: number): void {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  let place = at;
  for (let i = 0; i < idBytes; i++) {
    if (isGroup[i] === 1) target[place++] = hyphen;
    let byte = random[used++] ?? 0;
    if (i === 6) byte = (byte & 0x0f) | 0x40;
    else if (i === 8) byte = (byte & 0x3f) | 0x80;
    target[place++] = digits[byte >> 4] ?? 0;
    target[place++] = digits[byte & 0x0f] ?? 0;
  }
}
