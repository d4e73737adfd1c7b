// Handshake of two nodes before the first message (raft.md A21, architecture.md §7.8). Both prove that they
// hold the cluster token without sending it, over fresh nonces of both sides; then each looks at the other's greeting.
//   dialler  hello{nonce}                              acceptor  challenge{nonce}
//   dialler  proof{greeting, mac}                      acceptor  welcome{greeting, mac}, refusal{reason} or
//                                                                removal{reason, mac}
// The acceptor says nothing about itself before the proof is checked. What follows is sealed under keys from token and
// nonces (sealed-records.ts), where nothing below this seals it already.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import {
  capability,
  decodeGreeting,
  decodeHandshake,
  encodeGreeting,
  encodeHandshake,
  type Greeting,
  type HandshakeFrame,
  nonceBytes,
  shortened,
} from '../codec/greeting.ts';
import type { RecordKeys } from './sealed-records.ts';

/** Result of one frame of the other side. With `refused` the connection is over once `send` has left. */
export interface HandshakeStep {
  readonly send?: Uint8Array;
  readonly accepted?: Greeting;
  /** With `accepted`: what comes behind this frame, and leaves behind `send`, is sealed. */
  readonly keys?: RecordKeys;
  readonly refused?: string;
  /** With `refused`: the other side has proven who it is, and may not come in. */
  readonly problem?: string;
}

export interface HandshakeParty {
  /** Derived from the cluster token by `tokenKey`. */
  readonly key: Uint8Array;
  /** The token is all that protects the connection: both sides seal what follows, or it ends here. */
  readonly seals: boolean;
  readonly greeting: () => Greeting;
  /** Why the other side may not come in, or undefined. Called once its proof has been checked. */
  readonly problem: (peer: Greeting) => string | undefined;
  /** The other side is an identity that was removed from the cluster. */
  readonly isRemoved: (peer: Greeting) => boolean;
  /** A member that has proven to hold the token says that this node was removed. */
  readonly removed: (reason: string) => void;
  readonly nonce: () => Uint8Array;
}

/** The key of proofs. Without a token it is a constant: a proof is then only a checksum. */
export function tokenKey(clusterToken: string | undefined): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', clusterToken ?? '', '', 'sluice peer', 32));
}

/** A random nonce for `HandshakeParty.nonce`. */
export function randomNonce(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(nonceBytes));
}

export class DiallerHandshake {
  readonly #party: HandshakeParty;
  readonly #nonce: Uint8Array;
  #challenge: Uint8Array | undefined;

  constructor(party: HandshakeParty) {
    this.#party = party;
    this.#nonce = party.nonce();
  }

  /** The first frame. */
  hello(): Uint8Array {
    return encodeHandshake({ type: 'hello', nonce: this.#nonce });
  }

  take(bytes: Uint8Array): HandshakeStep {
    const frame = decodeHandshake(bytes);
    if (frame?.type === 'refusal') return { refused: `the peer refuses: ${frame.reason}` };
    if (this.#challenge !== undefined && frame?.type === 'removal') return this.#leave(frame, this.#challenge);
    if (this.#challenge === undefined && frame?.type === 'challenge') return this.#prove(frame.nonce);
    if (this.#challenge !== undefined && frame?.type === 'welcome') return this.#check(frame, this.#challenge);
    return { refused: 'unexpected frame in the handshake' };
  }

  /** A forged removal would end a node for good: only a proven one counts. */
  #leave({ reason, mac }: HandshakeFrame & { type: 'removal' }, challenge: Uint8Array): HandshakeStep {
    const expected = proofOf(this.#party.key, 'remover', this.#nonce, challenge, Buffer.from(reason));
    if (!timingSafeEqual(mac, expected)) return { refused: 'the cluster token differs' };
    this.#party.removed(reason);
    return { refused: `the peer refuses: ${reason}` };
  }

  #prove(challenge: Uint8Array): HandshakeStep {
    this.#challenge = challenge;
    const greeting = encodeGreeting(this.#party.greeting());
    const mac = proofOf(this.#party.key, 'dialler', this.#nonce, challenge, greeting);
    return { send: encodeHandshake({ type: 'proof', greeting, mac }) };
  }

  #check(frame: HandshakeFrame & { type: 'proof' | 'welcome' }, challenge: Uint8Array): HandshakeStep {
    const expected = proofOf(this.#party.key, 'acceptor', this.#nonce, challenge, frame.greeting);
    return admit(this.#party, frame, expected, () => {
      const { dialler, acceptor } = recordKeys(this.#party.key, this.#nonce, challenge);
      return { send: dialler, receive: acceptor };
    });
  }
}

export class AcceptorHandshake {
  readonly #party: HandshakeParty;
  readonly #nonce: Uint8Array;
  #hello: Uint8Array | undefined;

  constructor(party: HandshakeParty) {
    this.#party = party;
    this.#nonce = party.nonce();
  }

  take(bytes: Uint8Array): HandshakeStep {
    const frame = decodeHandshake(bytes);
    if (this.#hello === undefined && frame?.type === 'hello') {
      this.#hello = frame.nonce;
      return { send: encodeHandshake({ type: 'challenge', nonce: this.#nonce }) };
    }
    if (this.#hello !== undefined && frame?.type === 'proof') return this.#check(frame, this.#hello);
    return { refused: 'unexpected frame in the handshake' };
  }

  #check(frame: HandshakeFrame & { type: 'proof' | 'welcome' }, hello: Uint8Array): HandshakeStep {
    const expected = proofOf(this.#party.key, 'dialler', hello, this.#nonce, frame.greeting);
    const step = admit(this.#party, frame, expected, () => {
      const { dialler, acceptor } = recordKeys(this.#party.key, hello, this.#nonce);
      return { send: acceptor, receive: dialler };
    });
    if (step.accepted === undefined) return this.#removal(step, frame.greeting, hello);
    const greeting = encodeGreeting(this.#party.greeting());
    const mac = proofOf(this.#party.key, 'acceptor', hello, this.#nonce, greeting);
    return { ...step, send: encodeHandshake({ type: 'welcome', greeting, mac }) };
  }

  /** A refusal that the other side can rely on, where it was removed. */
  #removal(step: HandshakeStep, greeting: Uint8Array, hello: Uint8Array): HandshakeStep {
    const peer = decodeGreeting(greeting);
    if (step.problem === undefined || peer === undefined || !this.#party.isRemoved(peer)) return step;
    const reason = shortened(step.problem);
    const mac = proofOf(this.#party.key, 'remover', hello, this.#nonce, Buffer.from(reason));
    return { ...step, send: encodeHandshake({ type: 'removal', reason, mac }) };
  }
}

function admit(
  party: HandshakeParty,
  { greeting, mac }: { greeting: Uint8Array; mac: Uint8Array },
  expected: Buffer,
  keys: () => RecordKeys,
): HandshakeStep {
  if (!timingSafeEqual(mac, expected)) return refuse('the cluster token differs');
  const peer = decodeGreeting(greeting);
  if (peer === undefined) return refuse('the greeting is malformed');
  if (party.seals && (peer.capabilities & capability.sealedRecords) === 0) {
    return refuse(`${peer.nodeId} runs a version that does not seal its messages`);
  }
  const problem = party.problem(peer);
  if (problem !== undefined) return { ...refuse(problem), problem };
  return party.seals ? { accepted: peer, keys: keys() } : { accepted: peer };
}

interface RecordKeysBySide {
  readonly dialler: Uint8Array;
  readonly acceptor: Uint8Array;
}

/** Fresh with each connection, for either nonce is; another one for each direction, so that no record can be sent back. */
function recordKeys(key: Uint8Array, hello: Uint8Array, challenge: Uint8Array): RecordKeysBySide {
  const salt = Buffer.concat([hello, challenge]);
  const keyOf = (side: string) => new Uint8Array(hkdfSync('sha256', key, salt, `sluice records of the ${side}`, 32));
  return { dialler: keyOf('dialler'), acceptor: keyOf('acceptor') };
}

function refuse(reason: string): HandshakeStep {
  return { send: encodeHandshake({ type: 'refusal', reason }), refused: reason };
}

/** The role keeps a proof from being sent back as the other side's; lengths are fixed but for the last part. */
function proofOf(
  key: Uint8Array,
  role: 'dialler' | 'acceptor' | 'remover',
  hello: Uint8Array,
  challenge: Uint8Array,
  greeting: Uint8Array,
): Buffer {
  return createHmac('sha256', key).update(role).update(hello).update(challenge).update(greeting).digest();
}
