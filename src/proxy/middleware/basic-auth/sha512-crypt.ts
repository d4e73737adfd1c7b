// SHA-512-crypt (Drepper, “Unix crypt using SHA-256 and SHA-512”), as `openssl passwd -6` makes it. Steps are short, so
// that other work of the thread runs between them.
import { createHash } from 'node:crypto';

const roundsPerStep = 64;

const sha512 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Yields between rounds; returns the 64 bytes of the hash in their natural order. */
export function* sha512Crypt(password: Buffer, salt: Buffer, rounds: number): Generator<void, Buffer> {
  const other = sha512(password, salt, password);
  const parts: Buffer[] = [password, salt, repeated(other, password.length)];
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push((bits & 1) === 1 ? other : password);
  let digest = sha512(...parts);
  const p = repeated(sha512(...Array.from({ length: password.length }, () => password)), password.length);
  const s = repeated(sha512(...Array.from({ length: 16 + (digest[0] ?? 0) }, () => salt)), salt.length);
  for (let round = 0; round < rounds; round++) {
    const isOdd = (round & 1) === 1;
    digest = sha512(isOdd ? p : digest, round % 3 === 0 ? none : s, round % 7 === 0 ? none : p, isOdd ? digest : p);
    if (round % roundsPerStep === 0) yield;
  }
  return digest;
}

const none = Buffer.alloc(0);

/** The bytes over and over, up to that length. */
const repeated = (bytes: Buffer, length: number): Buffer => (length === 0 ? none : Buffer.alloc(length, bytes));
