// Readiness, whether this node should get traffic: what the process says, until the API begins to close.

export interface Health {
  readonly ready: boolean;
  /** Why not, for the log; never shown to callers. */
  readonly reason?: string | undefined;
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

  get closing(): boolean {
    return this.#closing;
  }

  /** Not ready from now on. */
  close(): void {
    this.#closing = true;
  }
}
