// Streams of clients that were answered before their request was whole. The answer goes first, with a window for the rest,
// which is taken and dropped for a while: a client that sends all it has before it reads, or that reads no window behind an
// answer, as curl, then gets to its end. What lasts longer is of no use (RFC 9113 §8.1), and the client is told. Clients in
// the middle of an upload, curl and Node among them, that find answer and reset in one read report the reset and lose the answer.

/** Milliseconds of silence between the answer, or what came last, and the reset. */
export const resetAfterMs = 1_000;
/** Milliseconds between the answer and the reset of a client that goes on sending … */
const discardMs = 30_000;
/** … and how much of that is taken. */
export const discardedBytesMax = 16 << 20;

interface Answered {
  /** Of its silence, or of its time. */
  dueMs: number;
  readonly untilMs: number;
  /** Something has come since `dueMs` was set. */
  heard: boolean;
  /** Bytes that are still taken. */
  left: number;
}

export class AnsweredStreams {
  /** About in the order in which they are due. */
  readonly #streams = new Map<number, Answered>();

  get size(): number {
    return this.#streams.size;
  }

  has(id: number): boolean {
    return this.#streams.size > 0 && this.#streams.has(id);
  }

  add(id: number, nowMs: number): void {
    const untilMs = nowMs + discardMs;
    this.#streams.set(id, { dueMs: nowMs + resetAfterMs, untilMs, heard: false, left: discardedBytesMax });
  }

  /** DATA has come. False: more of it than is taken. */
  take(id: number, bytes: number): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return true;
    stream.heard = true;
    stream.left -= bytes;
    return stream.left >= 0;
  }

  /** The client has ended it, or it has been reset. */
  forget(id: number): void {
    if (this.#streams.size > 0) this.#streams.delete(id);
  }

  /** Those whose time has come, the oldest beyond `most` too; they are forgotten. */
  *due(nowMs: number, most: number): Generator<number> {
    for (const [id, stream] of this.#streams) {
      const isOver = this.#streams.size > most;
      if (stream.dueMs > nowMs && !isOver) return;
      this.#streams.delete(id);
      if (isOver || !stream.heard || stream.untilMs <= nowMs) yield id;
      else {
        stream.heard = false;
        stream.dueMs = Math.min(nowMs + resetAfterMs, stream.untilMs);
        this.#streams.set(id, stream);
      }
    }
  }
}
