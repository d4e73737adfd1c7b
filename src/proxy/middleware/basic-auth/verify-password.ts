// Verification of a password against its hash: argon2id and scrypt on libuv's thread pool, bcrypt and SHA-512-crypt in slices of
// the time of the worker: Node offers neither of them on the pool.
import { argon2, scrypt, timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PasswordHash } from '../../../model/password-hash.ts';
import { bcrypt } from './bcrypt.ts';
import { sha512Crypt } from './sha512-crypt.ts';

/** Milliseconds of one slice. */
const sliceMs = 1;

export async function isPassword(password: Buffer, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await hashed(password, hash), hash.hash);
}

function hashed(password: Buffer, hash: PasswordHash): Promise<Buffer> {
  switch (hash.by) {
    case 'bcrypt':
      return inShortSlices(bcrypt(password, hash.salt, hash.cost));
    case 'sha512Crypt':
      return inShortSlices(sha512Crypt(password, hash.salt, hash.rounds));
    case 'argon2id':
      return new Promise((resolve, reject) => {
        const { memory, passes, parallelism, salt: nonce } = hash;
        const options = { message: password, nonce, memory, passes, parallelism, tagLength: hash.hash.length };
        argon2('argon2id', options, (error, bytes) => (error ? reject(error) : resolve(bytes)));
      });
    case 'scrypt':
      return new Promise((resolve, reject) => {
        const { logN, blockSize, parallelization, salt } = hash;
        const N = 2 ** logN;
        const options = { N, r: blockSize, p: parallelization, maxmem: 256 * N * blockSize + 1024 * 1024 };
        scrypt(password, salt, hash.hash.length, options, (error, bytes) => (error ? reject(error) : resolve(bytes)));
      });
  }
}

async function inShortSlices(steps: Generator<void, Buffer>): Promise<Buffer> {
  let end = performance.now() + sliceMs;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + sliceMs;
  }
}
