// Readiness, whether this node should get traffic: that of the process, until the API begins to close.

export interface Health {
  readonly ready: boolean;
  /** Reason other than storage: no quorum, not caught up, removed. */
  readonly reason?: string | undefined;
  /** State of a store that cannot be written for a time, or has failed. Callers without a key get no details. */
  readonly storage?: 'waits' | 'failed' | undefined;
}

export class Readiness {
  readonly #health: () => Health;
  #closing = false;

  constructor(health: () => Health) {
    this.#health = health;
  }

  get ready(): boolean {
    return !this.#closing && this.#health().ready;
  }

  get reason(): string {
    if (this.#closing) return 'not ready: shutting down';
    const { storage, reason } = this.#health();
    if (storage !== undefined) return `not ready: storage ${storage}`;
    return reason === undefined ? 'not ready' : `not ready: ${reason}`;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Reports not ready from now on. */
  close(): void {
    this.#closing = true;
  }
}
