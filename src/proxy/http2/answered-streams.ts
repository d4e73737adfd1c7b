// Streams of clients that were refused before their request was whole. The answer goes first, and that the rest is of no
// use (RFC 9113 §8.1) a moment later: clients in the middle of an upload, curl and Node among them, that find both in one
// read report the reset and lose the answer. Until then the window of the stream holds them back.

/** Milliseconds between the answer and the reset. */
export const resetAfterMs = 1_000;

export class AnsweredStreams {
  /** When each is to be reset; in that order. */
  readonly #dueMs = new Map<number, number>();

  get size(): number {
    return this.#dueMs.size;
  }

  add(id: number, nowMs: number): void {
    this.#dueMs.set(id, nowMs + resetAfterMs);
  }

  /** The client has ended it. */
  forget(id: number): void {
    if (this.#dueMs.size > 0) this.#dueMs.delete(id);
  }

  /** Those whose time has come, the oldest beyond `most` too; they are forgotten. */
  *due(nowMs: number, most: number): Generator<number> {
    for (const [id, dueMs] of this.#dueMs) {
      if (dueMs > nowMs && this.#dueMs.size <= most) return;
      this.#dueMs.delete(id);
      yield id;
    }
  }
}
