// Streams of one connection: the open ones, the end of the closed ones, and objects kept for later streams.
import { type ClosedHow, ClosedStreams } from './closed-streams.ts';
import { Stream, type StreamOwner } from './stream.ts';

/** Streams kept for later ones of the same connection. */
const keptStreamsMax = 32;
/** Bytes of a head above which a stream is not kept. */
const keptHeadBytesMax = 16 * 1024;

export class StreamTable {
  readonly #owner: StreamOwner;
  readonly #streams = new Map<number, Stream>();
  readonly #closed = new ClosedStreams();
  readonly #kept: Stream[] = [];
  /** Highest stream id used by the client, which is either side. */
  lastId: number;
  /** Bytes of the heads of open streams, in a server's session. */
  headBytes = 0;

  /** `lastId`: 0 for a server, −1 for a client, whose first stream is 1. */
  constructor(owner: StreamOwner, lastId: 0 | -1) {
    this.#owner = owner;
    this.lastId = lastId;
  }

  get size(): number {
    return this.#streams.size;
  }

  get(id: number): Stream | undefined {
    return this.#streams.get(id);
  }

  /** Returns the streams that are open now. */
  all(): Stream[] {
    return [...this.#streams.values()];
  }

  /** Returns whether an id has not been used. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || id > this.lastId;
  }

  open(id: number, sendWindow: number, receiveWindow: number): Stream {
    const stream = this.#kept.pop() ?? new Stream(this.#owner);
    stream.open(id, sendWindow, receiveWindow);
    this.#streams.set(id, stream);
    return stream;
  }

  close(stream: Stream, byUs: boolean): void {
    this.#streams.delete(stream.id);
    this.remember(stream.id, byUs);
    stream.release();
    if (this.#kept.length < keptStreamsMax && stream.fields.listBytes < keptHeadBytesMax) this.#kept.push(stream);
  }

  /** Records a stream that was closed, or refused without having been opened. */
  remember(id: number, byUs: boolean): void {
    this.#closed.add(id, byUs);
  }

  howClosed(id: number): ClosedHow {
    return this.#closed.how(id);
  }
}
