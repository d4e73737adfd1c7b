// Proposals to the log of this node, each under an id of its own, and how each of them ended.
import type { FromLog, LogPort, Refusal } from './log-port.ts';

/** `index`: it is in the log for good and is applied with everything up to there. */
export type AttemptEnd = { readonly index: number } | { readonly refused: Refusal };

export class Attempts {
  readonly #port: LogPort;
  readonly #ended = new Map<number, (end: AttemptEnd) => void>();
  #id = 0;

  constructor(port: LogPort) {
    this.#port = port;
  }

  /** Calls `ended` once. */
  propose(bytes: Uint8Array, ended: (end: AttemptEnd) => void): void {
    const id = ++this.#id;
    this.#ended.set(id, ended);
    this.#port.post({ type: 'propose', id, bytes });
  }

  outcome(message: Extract<FromLog, { type: 'outcome' }>): void {
    const ended = this.#ended.get(message.id);
    this.#ended.delete(message.id);
    ended?.(message);
  }

  /** The log will not answer any more. */
  fail(reason: string): void {
    const pending = [...this.#ended.values()];
    this.#ended.clear();
    for (const ended of pending) ended({ refused: { outcome: 'unknown', reason } });
  }
}
