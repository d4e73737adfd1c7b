// Readiness, whether this node should get traffic: what the process says, until the API begins to close.

export interface Health {
  readonly ready: boolean;
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

  /** For callers without a key. */
  get reason(): string {
    const { storage } = this.#health();
    return storage === undefined ? 'not ready' : `not ready: storage ${storage}`;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Not ready from now on. */
  close(): void {
    this.#closing = true;
  }
}
