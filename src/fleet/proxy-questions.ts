// Questions to a proxy over its stream, each of which it answers by a message of its own (fleet.md §4).
import type { Cancel, Clock } from '../util/clock.ts';

/** Questions that wait for one proxy; more are not asked. */
const waitingMax = 64;

interface Waiting {
  readonly answered: (answer: unknown) => void;
  readonly cancel: Cancel;
}

export class ProxyQuestions {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  /** Not yet sent. */
  readonly #frames: Buffer[] = [];
  #look: () => void = () => undefined;
  #count = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The stream calls `next` when `look` is called, and whenever it can be written to. */
  onAsked(look: () => void): void {
    this.#look = look;
  }

  /** Returns the next event, once. */
  next(): Buffer | undefined {
    return this.#frames.shift();
  }

  /** Resolves with the answer; undefined when there is none in time. Never rejects. */
  ask(question: object, withinMs: number): Promise<unknown> {
    if (this.#closed || Math.max(this.#waiting.size, this.#frames.length) >= waitingMax)
      return Promise.resolve(undefined);
    const id = ++this.#count;
    return new Promise((resolve) => {
      const answered = (answer: unknown): void => {
        this.#waiting.delete(id);
        resolve(answer);
      };
      this.#waiting.set(id, { answered, cancel: this.#clock.after(withinMs, () => answered(undefined)) });
      this.#frames.push(Buffer.from(`event: ask\ndata: ${JSON.stringify({ id, ...question })}\n\n`));
      this.#look();
    });
  }

  /** Takes an answer; one that nothing waits for any more is dropped. */
  answered(id: number, answer: unknown): void {
    const waiting = this.#waiting.get(id);
    waiting?.cancel();
    waiting?.answered(answer);
  }

  /** The stream has ended: nothing is answered any more. */
  close(): void {
    this.#closed = true;
    for (const { cancel, answered } of [...this.#waiting.values()]) {
      cancel();
      answered(undefined);
    }
  }
}
