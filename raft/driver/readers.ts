// Read barriers of this node. One attempt is under way at a time and serves all reads that waited when it began; each
// attempt has an id that was never used before, so that a late answer cannot be taken for a fresh one.
import type { Index } from '../core/types.ts';

export interface ReadTimes {
  readonly retryMs: number;
  readonly limitMs: number;
}

interface Waiting {
  readonly id: number;
  readonly deadline: number;
}

interface Attempt {
  readonly id: number;
  readonly until: number;
  readonly readers: Waiting[];
  isRefused: boolean;
}

export class Readers {
  readonly #times: ReadTimes;
  readonly #ask: (attempt: number) => void;
  readonly #answer: (id: number, index: Index | undefined) => void;
  #nextId: number;
  #waiting: Waiting[] = [];
  #attempt: Attempt | undefined;

  constructor(
    times: ReadTimes,
    firstId: number,
    ask: (attempt: number) => void,
    answer: (id: number, index: Index | undefined) => void,
  ) {
    this.#times = times;
    this.#nextId = firstId;
    this.#ask = ask;
    this.#answer = answer;
  }

  add(id: number, now: number): void {
    this.#waiting.push({ id, deadline: now + this.#times.limitMs });
    if (this.#attempt === undefined) this.#start(now);
  }

  answered(attempt: number, index: Index | undefined, now: number): void {
    const current = this.#attempt;
    if (current === undefined || attempt !== current.id) return;
    // Refused: there may be a leader in a moment; ask again when there is, or at the next tick, not in a loop.
    if (index === undefined) {
      current.isRefused = true;
      return;
    }
    this.#attempt = undefined;
    for (const { id } of current.readers) this.#answer(id, index);
    if (this.#waiting.length > 0) this.#start(now);
  }

  /**
   * Restarts reads when another node leads: requests to the former leader are lost, and would hold up all reads behind
   * them.
   */
  leaderChanged(now: number): void {
    this.#breakOff();
    if (this.#waiting.length > 0) this.#start(now);
  }

  tick(now: number): void {
    if (this.#attempt !== undefined && (this.#attempt.isRefused || now >= this.#attempt.until)) this.#breakOff();
    if (this.#attempt === undefined) this.#dropLate(now);
    if (this.#attempt === undefined && this.#waiting.length > 0) this.#start(now);
  }

  /** Its readers wait for the next one. */
  #breakOff(): void {
    this.#waiting.unshift(...(this.#attempt?.readers ?? []));
    this.#attempt = undefined;
  }

  #dropLate(now: number): void {
    const late = this.#waiting.filter(({ deadline }) => now >= deadline);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ deadline }) => now < deadline);
    for (const { id } of late) this.#answer(id, undefined);
  }

  stop(): void {
    const readers = [...(this.#attempt?.readers ?? []), ...this.#waiting];
    this.#attempt = undefined;
    this.#waiting = [];
    for (const { id } of readers) this.#answer(id, undefined);
  }

  #start(now: number): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#attempt = { id, until: now + this.#times.retryMs, readers: this.#waiting, isRefused: false };
    this.#waiting = [];
    this.#ask(id);
  }
}
