// Guard of the paths that are for members of the cluster only (architecture.md §8). Members come in by a proof of the cluster's
// secret, else by a verified certificate, else, where there is no secret, from a private address.

import { isPrivateAddress } from '../../../raft/index.ts';
import { SluiceError } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import { answerProof, type Proof, ProofCheck, toldDigest } from './relay-credential.ts';

/** Request without its body. */
export interface MemberHead {
  readonly method: string;
  /** Request target as sent. */
  readonly path: string;
  readonly authorization: string | undefined;
  /** Value of `Content-Digest`. */
  readonly contentDigest: string | undefined;
  /** Address of the socket's other end. */
  readonly remoteAddress: string | undefined;
  /** The caller showed a certificate, and it was verified. */
  readonly isCertified: boolean;
}

export interface MemberGuardOptions {
  /** From the cluster token or what stands in for it; undefined: there is no secret between the members. */
  readonly key: Uint8Array | undefined;
  readonly clock: Clock;
}

export class MemberGuard {
  readonly #key: Uint8Array | undefined;
  readonly #proofs: ProofCheck | undefined;

  constructor({ key, clock }: MemberGuardOptions) {
    this.#key = key;
    this.#proofs = key && new ProofCheck(key, clock);
  }

  /**
   * Refuses, before the body is read, a client that cannot be a member. True for a member: its proof covers the digest
   * that it announces for the body. Throws UNAUTHENTICATED, FORBIDDEN.
   */
  admit(head: MemberHead): boolean {
    if (this.#proofs === undefined) {
      if (head.isCertified || isPrivateAddress(head.remoteAddress)) return head.isCertified;
      throw new SluiceError('FORBIDDEN', 'internal endpoint: access denied');
    }
    const proof = proofOf(head, this.#proofs);
    const digest = toldDigest(head.contentDigest);
    if (digest === undefined) return false;
    if (this.#proofs.isSigned(proof, head, digest)) return true;
    throw unauthenticated('invalid proof');
  }

  /** Header fields that prove an answer of this node to be a member's; none without a secret. */
  fieldsOf({ authorization = '' }: MemberHead, answer: string): Record<string, string> {
    if (this.#key === undefined) return {};
    return { 'authentication-info': answerProof(this.#key, authorization, Buffer.from(answer)) };
  }

  /** With the body: the proof covers it, and is good once. Throws UNAUTHENTICATED, FORBIDDEN. */
  check(head: MemberHead, body: Uint8Array): void {
    if (this.#proofs === undefined) {
      this.admit(head);
      return;
    }
    const problem = this.#proofs.problemOf(proofOf(head, this.#proofs), { ...head, body });
    if (problem !== undefined) throw unauthenticated(problem);
  }
}

function proofOf({ authorization }: MemberHead, proofs: ProofCheck): Proof {
  const proof = proofs.read(authorization);
  if (typeof proof === 'string') throw unauthenticated(proof);
  return proof;
}

const unauthenticated = (message: string): SluiceError =>
  new SluiceError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Sluice' } });
