// Proof of a node to another that it belongs to the same cluster (architecture.md §8): an HMAC over the whole request
// under a key that only members have. The relay's client signs, its server checks; neither ever sends the secret.
import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../util/clock.ts';

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

/** Largest difference of two nodes' clocks, and life of a proof. */
export const proofWindowMs = 30_000;
/** Proofs remembered at once; a node that takes more relays than this within a minute refuses the rest. */
const noncesMax = 500_000;

const grammar = /^Sluice (\d{1,15})\.([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;

/** Key of proofs, from the cluster token or what stands in for it. */
export const relayKey = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'sluice relay', 32));

/** Fields of a request that is proven. `nonce` is 16 to 64 characters of base64url, never used twice. */
export function signedFields(
  key: Uint8Array,
  { method, path, body }: SignedRequest,
  { unixMs, nonce }: Omit<Proof, 'mac'>,
): { readonly authorization: string; readonly 'content-digest': string } {
  const digest = hash('sha256', body, 'buffer');
  const mac = macOf(key, { method, path, digest }, { unixMs, nonce });
  return {
    authorization: `Sluice ${unixMs}.${nonce}.${mac.toString('base64url')}`,
    'content-digest': `sha-256=:${digest.toString('base64')}:`,
  };
}

/**
 * Value of `Authentication-Info` (RFC 9110 §11.6.3) of an answer: the node that answers holds the secret too. `authorization` is that
 * of the request, whose nonce ties the answer to it.
 */
export function answerProof(key: Uint8Array, authorization: string, body: Uint8Array): string {
  const nonce = grammar.exec(authorization)?.[2] ?? '';
  const text = ['answer', nonce, hash('sha256', body, 'hex')].join('\n');
  return `mac="${createHmac('sha256', key).update(text).digest('base64url')}"`;
}

/** Returns true for an answer that a member gave to that very request. */
export function isProvenAnswer(
  key: Uint8Array,
  authorization: string,
  { proof = '', body }: { readonly proof?: string | undefined; readonly body: Uint8Array },
): boolean {
  const expected = Buffer.from(answerProof(key, authorization, body));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns the SHA-256 of the body by `Content-Digest` (RFC 9530); undefined without one. */
export function toldDigest(field: string | undefined): Buffer | undefined {
  const text = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(field ?? '')?.[1];
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

/** Begins the refusal of a proof that is too old or of the future. Trying again does not help. */
export const otherTime = 'the proof is of another time';

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

  /** Checks form and time, before the body is there. A text names the problem. */
  read(authorization: string | undefined): Proof | string {
    if (authorization === undefined) return 'missing authorization header';
    const [, unixMs, nonce, mac] = grammar.exec(authorization) ?? [];
    if (unixMs === undefined || nonce === undefined || mac === undefined) {
      return 'authorization header must use Sluice scheme';
    }
    const aheadMs = Number(unixMs) - this.#clock.nowMs();
    if (Math.abs(aheadMs) > proofWindowMs) {
      return `${otherTime}: the clocks of the two nodes differ by ${Math.round(Math.abs(aheadMs) / 1000)} s`;
    }
    return { unixMs: Number(unixMs), nonce, mac };
  }

  /** Returns true when a member signed a request whose body has the announced digest. Uses nothing up. */
  isSigned(proof: Proof, head: Pick<SignedRequest, 'method' | 'path'>, digest: Buffer): boolean {
    return isMac(proof, macOf(this.#key, { ...head, digest }, proof));
  }

  /** Returns what is wrong with the proof of this request; undefined when it holds, and from then on it is used up. */
  problemOf(proof: Proof, { method, path, body }: SignedRequest): string | undefined {
    if (!this.isSigned(proof, { method, path }, hash('sha256', body, 'buffer'))) return 'invalid proof';
    // Only members get this far, so no other client can fill the table.
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

const isMac = ({ mac }: Proof, expected: Buffer): boolean => timingSafeEqual(expected, Buffer.from(mac, 'base64url'));

interface Digested extends Pick<SignedRequest, 'method' | 'path'> {
  /** SHA-256 of the body. */
  readonly digest: Buffer;
}

function macOf(key: Uint8Array, { method, path, digest }: Digested, { unixMs, nonce }: Omit<Proof, 'mac'>): Buffer {
  const text = [method, path, unixMs, nonce, digest.toString('hex')].join('\n');
  return createHmac('sha256', key).update(text).digest();
}
