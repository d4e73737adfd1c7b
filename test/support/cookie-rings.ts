// Keys of signed session cookies, as a cluster has them after so many rotations.
import type { CookieKeys } from '../../src/model/cookie-keys.ts';
import { cookieKeysMax } from '../../src/model/cookie-keys.ts';

/** @param made keys that were made so far; the key of a number is the same wherever it is asked for. */
export function cookieKeysAfter(made: number, cluster = 0): CookieKeys {
  const numbers = Array.from({ length: made }, (_, at) => made - at).slice(0, cookieKeysMax);
  const keys = numbers.map((number) => ({
    key: Buffer.alloc(32, `${cluster}:${number};`).toString('base64'),
    madeAt: number,
  }));
  return { index: made, keys };
}
