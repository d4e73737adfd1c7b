// Requests of one connection that have arrived whole and not begun. A client may send a hundred requests in one
// packet, and other connections must not wait while all of them begin; a client with tiny windows only piles up
// responses here. A few begin in each tick, the others in later ticks, or when earlier ones have ended (guards.ts).
import type { FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { SessionOptions } from './session-core.ts';
import { StreamQueue } from './stream-queue.ts';
import type { StreamTable } from './stream-table.ts';

export class PendingRequests {
  readonly #options: SessionOptions;
  readonly #peer: PeerSettings;
  readonly #streams: StreamTable;
  readonly #writer: FrameWriter;
  readonly #begin: (streamId: number) => void;
  /** Queue in order of arrival; made when it is first needed. */
  #queue: StreamQueue | undefined;
  /** Number of requests begun since the last read. */
  #begun = 0;
  #beginsUntilMs = 0;
  #over = false;

  /**
   * `begin` is called for each request in its turn, unless the connection is over; the request may have been reset
   * meanwhile.
   */
  constructor(
    options: SessionOptions,
    peer: PeerSettings,
    streams: StreamTable,
    writer: FrameWriter,
    begin: (streamId: number) => void,
  ) {
    this.#options = options;
    this.#peer = peer;
    this.#streams = streams;
    this.#writer = writer;
    this.#begin = begin;
  }

  get size(): number {
    return this.#queue === undefined ? 0 : this.#queue.size;
  }

  /** Number of requests that wait for others to end, and not for the next tick alone. */
  get held(): number {
    return this.#queue !== undefined && this.isHeld() ? this.#queue.size : 0;
  }

  /** Starts a new packet's share. */
  onRead(): void {
    this.#begun = 0;
  }

  /**
   * Returns whether a request that has just arrived may begin at once: one packet gets as much of a tick as other
   * connections do not notice.
   */
  mayBegin(): boolean {
    if (this.size > 0) return false;
    const now = this.#options.nowMs();
    if (this.#begun === 0) this.#beginsUntilMs = now + guards.workMsPerTick;
    // The request's stream is open already and counts.
    const isHeld = this.#isUnread || (this.isHeld() && this.#streams.size > guards.begunWithTinyWindow);
    return this.#begun++ < guards.begunPerTick && now <= this.#beginsUntilMs && !isHeld;
  }

  add(streamId: number): void {
    this.#queue ??= new StreamQueue(
      this.#options.batcher,
      guards.begunPerTick,
      (id) => {
        if (!this.#over) this.#begin(id);
      },
      () => this.isHeld(),
    );
    this.#queue.add(streamId);
  }

  /** True while the client has not read responses: it has to read before more requests begin. */
  get #isUnread(): boolean {
    return this.#writer.waiting >= guards.unsentBytesMax;
  }

  /**
   * Returns whether requests wait because the client's windows are tiny: others have to end first, or time has to
   * pass.
   */
  isHeld(): boolean {
    if (this.#isUnread) return !this.#over;
    if (this.#peer.initialWindow >= guards.tinyWindowBytes || this.#over) return false;
    return this.#streams.size - this.size >= guards.begunWithTinyWindow;
  }

  /** Continues after a stream has ended, windows have become wider, or the client has read. */
  resume(): void {
    this.#queue?.resume();
  }

  /** Begins some requests after a time, whether they are held or not. */
  force(): void {
    if (this.held > 0 && !this.#isUnread) this.#queue?.force();
  }

  /** Drops all requests: the connection is over. */
  end(): void {
    this.#over = true;
  }
}
