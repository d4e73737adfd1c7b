// How a node proves to another that it belongs to the same cluster (architecture.md §8): an HMAC over the whole request
// under a key that only members have. The relay's client signs, its server checks; neither ever sends the secret.
import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';

export interface SignedRequest {
  readonly method: string;
  /** Request target as sent. */
  readonly path: string;
  readonly body: Uint8Array;
}

/** The fields of `Authorization: Sluice <unixMs>.<nonce>.<mac>`. */
export interface Proof {
  readonly unixMs: number;
  readonly nonce: string;
  readonly mac: string;
}

/** How far two nodes' clocks may be apart, and how long a proof is good for. */
export const proofWindowMs = 30_000;
/** Proofs remembered at once; a node that takes more relays than this within a minute refuses the rest. */
const noncesMax = 500_000;

const grammar = /^Sluice (\d{1,15})\.([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;

/** Key of proofs, from the cluster token or what stands in for it. */
export const relayKey = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'sluice relay', 32));

/** Value of the `Authorization` header. `nonce` is 16 to 64 characters of base64url, never used twice. */
export function signedAuthorization(
  key: Uint8Array,
  request: SignedRequest,
  { unixMs, nonce }: Omit<Proof, 'mac'>,
): string {
  return `Sluice ${unixMs}.${nonce}.${macOf(key, request, { unixMs, nonce }).toString('base64url')}`;
}

/** Checks proofs, each of which is good once. */
export class ProofCheck {
  readonly #key: Uint8Array;
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Nonce → monotonic time at which it may be forgotten; ascending, for all stay equally long. */
  readonly #seen = new Map<string, number>();

  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#key = key;
    this.#clock = clock;
  }

  /** What can be said before the body is there: form and time. A text says what is wrong. */
  read(authorization: string | undefined): Proof | string {
    if (authorization === undefined) return 'missing authorization header';
    const [, unixMs, nonce, mac] = grammar.exec(authorization) ?? [];
    if (unixMs === undefined || nonce === undefined || mac === undefined) {
      return 'authorization header must use Sluice scheme';
    }
    if (Math.abs(Number(unixMs) - this.#clock.nowMs()) > proofWindowMs) return 'the proof is of another time';
    return { unixMs: Number(unixMs), nonce, mac };
  }

  /** What is wrong with the proof of this request; undefined when it holds, and from then on it is used up. */
  problemOf(proof: Proof, request: SignedRequest): string | undefined {
    const expected = macOf(this.#key, request, proof);
    if (!timingSafeEqual(expected, Buffer.from(proof.mac, 'base64url'))) return 'invalid proof';
    // Only members get this far, so nobody else can fill the table.
    this.#forget();
    if (this.#seen.has(proof.nonce)) return 'the proof was used already';
    if (this.#seen.size >= noncesMax) return 'too many proofs at once';
    this.#seen.set(proof.nonce, this.#clock.monotonicMs() + 2 * proofWindowMs);
    return undefined;
  }

  /** A proof may be dated up to one window ahead and is good for one window after, so twice the window covers it. */
  #forget(): void {
    const now = this.#clock.monotonicMs();
    for (const [nonce, until] of this.#seen) {
      if (until > now) return;
      this.#seen.delete(nonce);
    }
  }
}

function macOf(key: Uint8Array, { method, path, body }: SignedRequest, { unixMs, nonce }: Omit<Proof, 'mac'>): Buffer {
  const digest = hash('sha256', body, 'hex');
  return createHmac('sha256', key).update([method, path, unixMs, nonce, digest].join('\n')).digest();
}
