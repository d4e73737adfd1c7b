// Streams of one connection for which something is still to be done, a few in each turn of the loop: a client may ask for
// a hundred things in one packet and leave with the next, and what each of those costs must not be paid in one piece
// while others wait.
import type { FlushTurn, Job } from './frame-batcher.ts';

export class StreamQueue implements Job {
  readonly #turn: FlushTurn;
  readonly #perTurn: number;
  readonly #act: (streamId: number) => void;
  readonly #isHeld: () => boolean;
  #ids: number[] = [];
  #next = 0;
  #running = false;

  /** `act` is called once for each stream, whatever has become of it. While `isHeld`, nothing is done before `resume` or `force`. */
  constructor(turn: FlushTurn, perTurn: number, act: (streamId: number) => void, isHeld = (): boolean => false) {
    this.#turn = turn;
    this.#perTurn = perTurn;
    this.#act = act;
    this.#isHeld = isHeld;
  }

  get size(): number {
    return this.#ids.length - this.#next;
  }

  /** Its time comes in a later turn. */
  add(streamId: number): void {
    this.#ids.push(streamId);
    this.resume();
  }

  /** What held it may be gone. */
  resume(): void {
    if (this.#running || this.size === 0 || this.#isHeld()) return;
    this.#running = true;
    this.#turn.begin(this);
  }

  /** As many as are done in a turn are done now, whatever holds them. */
  force(): void {
    for (let left = this.#perTurn; left > 0 && this.size > 0; left--) this.#one();
  }

  step(): boolean {
    let left = this.#perTurn;
    while (this.size > 0 && !this.#isHeld()) {
      this.#one();
      if (--left === 0 || this.#turn.late) break;
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
