// Store of sticky sessions beyond one proxy (contract.md §1.5, §7.7). A store may be slow or gone at any time; no
// request waits for it for longer than `waitMsMax`, and while it is not well none waits at all.
import { hash } from 'node:crypto';

/** The store was asked and does not know. */
export const unknownSession = '';

export interface SessionStore {
  /** True when the store can be queried. */
  readonly up: boolean;
  /** Answers once: the value, `unknownSession`, or undefined when the store does not answer in time or at all. */
  get(key: string, answer: (value: string | undefined) => void): void;
  /** Stores a value in the background. */
  set(key: string, value: string, ttlSeconds: number): void;
  close(): void;
}

/** Longest wait of a request for the store, in milliseconds. */
export const waitMsMax = 40;

/** A command that was not answered for so long means that the store hangs. */
export const hangingMs = 1_000;

export const destinationKey = (session: string, routeId: string): string =>
  `sluice:sticky:${short(session)}:${routeId}`;

export const endpointKey = (session: string, destinationId: string): string =>
  `sluice:sticky:${short(session)}:${destinationId}:ep`;

/** Sessions that Sluice gives out have 32. */
const charactersMax = 128;

/** A client may call its session what it likes, and as often as it likes: no key grows with what it sends. */
const short = (session: string): string =>
  session.length <= charactersMax ? session : hash('sha256', session, 'base64url');
