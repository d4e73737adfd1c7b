// Streams of one connection for which something is still to be done, a few in each turn of the loop: a client may ask for
// a hundred things in one packet and leave with the next, and what each of those costs must not be paid in one piece
// while others wait.
import type { FlushTurn, Job } from './flush-turn.ts';

export class StreamQueue implements Job {
  readonly #turn: FlushTurn;
  readonly #perTurn: number;
  readonly #act: (streamId: number) => void;
  #ids: number[] = [];
  #next = 0;

  /** `act` is called once for each stream, whatever has become of it. */
  constructor(turn: FlushTurn, perTurn: number, act: (streamId: number) => void) {
    this.#turn = turn;
    this.#perTurn = perTurn;
    this.#act = act;
  }

  get size(): number {
    return this.#ids.length - this.#next;
  }

  /** Its time comes in a later turn. */
  add(streamId: number): void {
    if (this.#ids.push(streamId) === 1) this.#turn.begin(this);
  }

  step(): boolean {
    const end = Math.min(this.#ids.length, this.#next + this.#perTurn);
    do this.#act(this.#ids[this.#next++] ?? 0);
    while (this.#next < end && !this.#turn.late);
    if (this.size > 0) return true;
    this.#ids = [];
    this.#next = 0;
    return false;
  }
}
