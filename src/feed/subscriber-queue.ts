// In which order, and how fast, frames are written to the clients of this node. A thousand that connect at once, or that an
// activation goes to, must not hold the thread: frames are handed to sockets in short slices, and only so many bytes are
// on their way at a time, for the system copies what a socket takes within one turn of the loop.

/** One client with something to write. */
export interface Sender {
  /** Begins to write what waits and calls `done` once it has left; gives its length, 0 when nothing waits. */
  write(done: () => void): number;
}

/** Handing frames to sockets may take so long at a stretch. */
const sliceMs = 8;
/** Bytes on their way at most, but at least one frame. */
const inFlightMax = 8 * 1024 * 1024;
/**
 * Time limit of a write: a client that takes longer to read its frame does not delay others. Each round in which a
 * client does halves the limit, until all have had their turn: a whole site that is cut off must not add up to seconds
 * for clients that read.
 */
const writeLimitMs = 200;
const writeLimitMinMs = 1;

export interface SendQueueOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** Runs in a later turn of the loop. */
  readonly later: (run: () => void) => void;
}

export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #waiting = new Set<Sender>();
  #inFlight = 0;
  #writeLimitMs = writeLimitMs;
  #scheduled = false;
  #running = false;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** Queues a sender that has something to write. One that waits already keeps its position. */
  add(sender: Sender): void {
    this.#waiting.add(sender);
    if (!this.#scheduled && !this.#running) this.#run();
  }

  remove(sender: Sender): void {
    this.#waiting.delete(sender);
  }

  #run(): void {
    this.#running = true;
    const end = this.#options.now() + sliceMs;
    for (const sender of this.#waiting) {
      if (this.#inFlight >= inFlightMax) break;
      this.#waiting.delete(sender);
      this.#send(sender);
      if (this.#options.now() < end) continue;
      this.#schedule();
      break;
    }
    this.#running = false;
    if (this.#waiting.size === 0) this.#writeLimitMs = writeLimitMs;
  }

  #send(sender: Sender): void {
    let length = 0;
    let isCounted = true;
    const release = (): void => {
      if (!isCounted) return;
      isCounted = false;
      cancel();
      this.#inFlight -= length;
      if (this.#waiting.size > 0) this.#schedule();
    };
    const given = this.#writeLimitMs;
    const cancel = this.#options.after(given, () => {
      // Of those that began in one round only the first counts.
      if (this.#writeLimitMs === given) this.#writeLimitMs = Math.max(writeLimitMinMs, given / 2);
      release();
    });
    length = sender.write(release);
    if (isCounted) this.#inFlight += length;
    if (length === 0) release();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.later(() => {
      this.#scheduled = false;
      this.#run();
    });
  }
}
