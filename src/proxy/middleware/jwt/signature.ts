// Verification of a token's signature with the configured keys. The configuration chooses the keys that are tried: a
// token can only name one of them, never bring one along.
import { type VerifyKeyObjectInput, verify } from 'node:crypto';
import { onePerWorker } from '../instances.ts';
import { PoolTurns } from '../pool-turns.ts';
import type { MiddlewareServices } from '../services.ts';
import { type Algorithm, algorithms } from './algorithms.ts';
import type { Token } from './json-web-token.ts';
import type { VerificationKey } from './verification-keys.ts';

/** Tokens of one process that the thread pool verifies at a time: the log's fsync uses the same threads. */
const verifiedAtOnceMax = 4;

/** Returns the turns of one worker with slow keys. */
export const slowTurnsOf = onePerWorker(
  ({ share }: Pick<MiddlewareServices, 'share'>) => new PoolTurns(Math.max(1, share(verifiedAtOnceMax))),
);

/** At once, unless a key is slow: then the work is done in the thread pool, with one of the `turns`. */
export function isSignedBy(
  token: Token,
  keys: readonly VerificationKey[],
  turns = new PoolTurns(1),
): boolean | Promise<boolean> {
  const algorithm = algorithms.get(token.alg ?? '');
  if (algorithm === undefined) return false;
  const slow: VerificationKey[] = [];
  for (const key of keys) {
    if (!mayHaveSigned(token, algorithm, key)) continue;
    if (key.slow) slow.push(key);
    else if (verifyNow(token, algorithm, key)) return true;
  }
  return slow.length === 0 ? false : anyOf(token, algorithm, slow, turns);
}

/** The token names a key that is not there: it may have come since the keys were fetched. */
export const namesUnknownKey = ({ kid }: Token, keys: readonly VerificationKey[]): boolean =>
  kid !== undefined && !keys.some((key) => key.kid === kid);

function mayHaveSigned({ alg, kid }: Token, algorithm: Algorithm, key: VerificationKey): boolean {
  if (kid !== undefined && key.kid !== undefined && kid !== key.kid) return false;
  return (key.alg === undefined || key.alg === alg) && algorithm.fits(key.key);
}

function verifyNow({ signed, signature }: Token, { digest, options }: Algorithm, { key }: VerificationKey): boolean {
  try {
    return verify(digest, signed, { key, ...options }, signature);
  } catch {
    return false;
  }
}

async function anyOf(
  token: Token,
  algorithm: Algorithm,
  keys: readonly VerificationKey[],
  turns: PoolTurns,
): Promise<boolean> {
  await new Promise<void>((resolve) => turns.take({ onTurn: resolve }));
  try {
    for (const key of keys) if (await verifyAside(token, algorithm, key)) return true;
    return false;
  } finally {
    turns.release();
  }
}

function verifyAside(token: Token, { digest, options }: Algorithm, { key }: VerificationKey): Promise<boolean> {
  const by: VerifyKeyObjectInput = { key, ...options };
  return new Promise((resolve) => {
    try {
      verify(digest, token.signed, by, token.signature, (error, valid) => resolve(error === null && valid));
    } catch {
      resolve(false);
    }
  });
}
