// Readiness, whether this node should get traffic: what the process says, until the API begins to close.

export interface Health {
  readonly ready: boolean;
  /** Why it is not, where storage is not the reason: no quorum, not caught up, removed. */
  readonly reason?: string | undefined;
  /** The store cannot be written for the time being, or takes no writes at all. No more is said to callers without a key. */
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

  /** Not ready from now on. */
  close(): void {
    this.#closing = true;
  }
}
