// Requests of one connection that have come whole and not begun: a client may ask for a hundred things in one packet, and
// others must not wait while they all begin; and one whose windows hold next to nothing only piles up responses here. A
// few begin in each turn of the loop, the others in later ones, or when earlier ones have ended (guards.ts).
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
  /** In the order in which they came; made when there is one. */
  #queue: StreamQueue | undefined;
  /** Begun since something came last. */
  #begun = 0;
  #beginsUntilMs = 0;
  #over = false;

  /** `begin` is called for a request whose time has come, unless the connection is over; it may have been reset meanwhile. */
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

  /** Those that wait for others to end, and not just for a turn. */
  get held(): number {
    return this.#queue !== undefined && this.isHeld() ? this.#queue.size : 0;
  }

  /** What comes now is a packet of its own. */
  onRead(): void {
    this.#begun = 0;
  }

  /** Whether one that has just come may begin at once: of what came in one packet, as much as others wait for without notice. */
  mayBegin(): boolean {
    if (this.size > 0) return false;
    const now = this.#options.nowMs();
    if (this.#begun === 0) this.#beginsUntilMs = now + guards.workMsPerTurn;
    // Its stream is open already.
    const isHeld = this.#isUnread || (this.isHeld() && this.#streams.size > guards.begunWithTinyWindow);
    return this.#begun++ < guards.begunPerTurn && now <= this.#beginsUntilMs && !isHeld;
  }

  add(streamId: number): void {
    this.#queue ??= new StreamQueue(
      this.#options.turn,
      guards.begunPerTurn,
      (id) => {
        if (!this.#over) this.#begin(id);
      },
      () => this.isHeld(),
    );
    this.#queue.add(streamId);
  }

  /** Answers wait for the client to take them: it is asked to read before it asks for more. */
  get #isUnread(): boolean {
    return this.#writer.waiting >= guards.unsentBytesMax;
  }

  /** With windows of next to nothing what is under way has to end first, or time to pass. */
  isHeld(): boolean {
    if (this.#isUnread) return !this.#over;
    if (this.#peer.initialWindow >= guards.tinyWindowBytes || this.#over) return false;
    return this.#streams.size - this.size >= guards.begunWithTinyWindow;
  }

  /** A stream has ended, windows have become wider, or the client has read. */
  resume(): void {
    this.#queue?.resume();
  }

  /** Time has passed: some begin, whatever holds them. */
  force(): void {
    if (this.held > 0 && !this.#isUnread) this.#queue?.force();
  }

  /** The connection is over: none of them begins any more. */
  end(): void {
    this.#over = true;
  }
}
