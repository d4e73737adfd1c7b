// Queue of streams of one connection with pending work, a few in each tick: a client may send a hundred requests in
// one packet and close with the next, and the cost of all of them must not delay other connections in one piece.
import type { FrameBatcher, Job } from './frame-batcher.ts';

export class StreamQueue implements Job {
  readonly #batcher: FrameBatcher;
  readonly #perTick: number;
  readonly #act: (streamId: number) => void;
  readonly #isHeld: () => boolean;
  #ids: number[] = [];
  #next = 0;
  #running = false;

  /**
   * `act` is called once for each stream, in any state. While `isHeld`, nothing is done before `resume` or `force`.
   */
  constructor(batcher: FrameBatcher, perTick: number, act: (streamId: number) => void, isHeld = (): boolean => false) {
    this.#batcher = batcher;
    this.#perTick = perTick;
    this.#act = act;
    this.#isHeld = isHeld;
  }

  get size(): number {
    return this.#ids.length - this.#next;
  }

  /** Adds a stream, whose turn is in a later tick. */
  add(streamId: number): void {
    this.#ids.push(streamId);
    this.resume();
  }

  /** Continues where the reason for the hold may have ended. */
  resume(): void {
    if (this.#running || this.size === 0 || this.#isHeld()) return;
    this.#running = true;
    this.#batcher.addJob(this);
  }

  /** Handles one tick's share now, held or not. */
  force(): void {
    for (let left = this.#perTick; left > 0 && this.size > 0; left--) this.#one();
  }

  step(): boolean {
    let left = this.#perTick;
    while (this.size > 0 && !this.#isHeld()) {
      this.#one();
      if (--left === 0 || this.#batcher.late) break;
    }
    this.#running = this.size > 0 && !this.#isHeld();
    return this.#running;
  }

  #one(): void {
    const id = this.#ids[this.#next++] ?? 0;
    if (this.#next === this.#ids.length) {
      this.#ids = [];
      this.#next = 0;
    }
    this.#act(id);
  }
}
