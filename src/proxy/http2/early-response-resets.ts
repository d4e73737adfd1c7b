// Early-response resets: streams whose clients got a response before their request was whole. The response goes
// first, with a window for the rest of the request, which is read and dropped for a while: a client that sends
// everything before it reads, or that reads no window updates behind a response, as curl, then reaches its end. A
// request that lasts longer is reset (RFC 9113 §8.1). Clients in the middle of an upload, curl and Node among them,
// that find response and reset in one read report the reset and lose the response.

/** Milliseconds of silence after the response, or after the last DATA, before the reset. */
export const resetAfterMs = 1_000;
/** Milliseconds between the response and the reset of a client that goes on sending. */
const discardMs = 30_000;
/** Bytes of such a request that are read and dropped. */
export const discardedBytesMax = 16 << 20;

interface EarlyResponse {
  /** Time at which the silence, or the whole allowance, ends. */
  dueMs: number;
  readonly untilMs: number;
  /** True when DATA has arrived since `dueMs` was set. */
  received: boolean;
  /** Bytes that are still read. */
  left: number;
}

export class EarlyResponseResets {
  /** Streams by id, about in the order in which they are due. */
  readonly #streams = new Map<number, EarlyResponse>();

  get size(): number {
    return this.#streams.size;
  }

  has(id: number): boolean {
    return this.#streams.size > 0 && this.#streams.has(id);
  }

  add(id: number, nowMs: number): void {
    const untilMs = nowMs + discardMs;
    this.#streams.set(id, { dueMs: nowMs + resetAfterMs, untilMs, received: false, left: discardedBytesMax });
  }

  /** Counts DATA that has arrived. Returns false when it exceeds what is read. */
  take(id: number, bytes: number): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return true;
    stream.received = true;
    stream.left -= bytes;
    return stream.left >= 0;
  }

  /** Forgets a stream that the client has ended or that has been reset. */
  forget(id: number): void {
    if (this.#streams.size > 0) this.#streams.delete(id);
  }

  /** Yields and forgets the streams that are due, and the oldest beyond `most`. */
  *due(nowMs: number, most: number): Generator<number> {
    for (const [id, stream] of this.#streams) {
      const isOver = this.#streams.size > most;
      if (stream.dueMs > nowMs && !isOver) return;
      this.#streams.delete(id);
      if (isOver || !stream.received || stream.untilMs <= nowMs) yield id;
      else {
        stream.received = false;
        stream.dueMs = Math.min(nowMs + resetAfterMs, stream.untilMs);
        this.#streams.set(id, stream);
      }
    }
  }
}
