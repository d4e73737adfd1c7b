// Proposals to the log of this node, each under an id of its own, and how each of them ended.

import type { WriteTraces } from '../write-traces.ts';
import type { FromLog, LogPort, Refusal } from './log-port.ts';

/** `index`: it is in the log for good and is applied with everything up to there. */
export type AttemptEnd = { readonly index: number } | { readonly refused: Refusal };

export class Attempts {
  readonly #port: LogPort;
  readonly #traces: WriteTraces | undefined;
  readonly #ended = new Map<number, (end: AttemptEnd) => void>();
  #id = 0;

  constructor(port: LogPort, traces?: WriteTraces) {
    this.#port = port;
    this.#traces = traces;
  }

  /** Calls `ended` once. */
  propose(bytes: Uint8Array, ended: (end: AttemptEnd) => void): void {
    const id = ++this.#id;
    this.#ended.set(id, this.#traces === undefined ? ended : this.#traced(this.#traces, ended));
    this.#port.post({ type: 'propose', id, bytes });
  }

  #traced(traces: WriteTraces, ended: (end: AttemptEnd) => void): (end: AttemptEnd) => void {
    const committed = traces.committing();
    return (end) => {
      committed('refused' in end ? end.refused.outcome : '');
      ended(end);
    };
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
