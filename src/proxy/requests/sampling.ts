// Sampling of requests: all are kept while there are few, and a random one in n when there are many, so that keeping
// them costs a thread no more than so much in any tenth of a second.

const windowMs = 100;

export class Sampling {
  readonly #keptMax: number;
  readonly #random: () => number;
  #windowEndMs = 0;
  #seen = 0;
  #kept = 0;
  #oneIn = 1;
  /** Number of requests to skip before the next one is kept. */
  #skip = 0;

  /** @param perSecond maximum number that is kept per second, roughly. */
  constructor(perSecond: number, random: () => number) {
    this.#keptMax = Math.max(1, (perSecond * windowMs) / 1000);
    this.#random = random;
  }

  get oneIn(): number {
    return this.#oneIn;
  }

  /** 0: this one is not kept; else how many it stands for. */
  take(nowMs: number): number {
    if (nowMs >= this.#windowEndMs) this.#turn(nowMs);
    this.#seen++;
    if (this.#skip > 0) {
      this.#skip--;
      return 0;
    }
    const standsFor = this.#oneIn;
    // More came than in the window before.
    if (++this.#kept >= this.#keptMax) {
      this.#kept = 0;
      this.#oneIn *= 2;
    }
    // A gap from 0 to 2(n − 1), n − 1 on average: what comes in a rhythm is not always, or never, the one.
    if (this.#oneIn > 1) this.#skip = Math.floor(this.#random() * (2 * this.#oneIn - 1));
    return standsFor;
  }

  #turn(nowMs: number): void {
    const windows = Math.max(1, (nowMs - this.#windowEndMs + windowMs) / windowMs);
    this.#oneIn = Math.max(1, Math.ceil(this.#seen / windows / this.#keptMax));
    this.#windowEndMs = nowMs + windowMs;
    this.#seen = 0;
    this.#kept = 0;
    if (this.#oneIn === 1) this.#skip = 0;
  }
}
