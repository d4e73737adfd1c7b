// Attempts to connect: which control plane is asked next, and after what wait. One control plane: after
// `reconnectInterval`, for ever (contract.md §1.4). Several: a random one first, the next at once when it fails, and a
// wait after a round in which none served.

export interface Attempt {
  readonly url: string;
  readonly delayMs: number;
}

/** By how much a wait differs at most, so that a fleet does not come back in step. */
const jitter = 0.2;

export class Attempts {
  readonly #urls: readonly string[];
  readonly #intervalMs: number;
  readonly #random: () => number;
  #at: number;
  #failures = 0;

  /** @param random in [0, 1) */
  constructor(urls: readonly string[], intervalMs: number, random: () => number) {
    this.#urls = urls;
    this.#intervalMs = intervalMs;
    this.#random = random;
    this.#at = Math.floor(random() * urls.length);
  }

  first(): Attempt {
    return { url: this.#url(), delayMs: 0 };
  }

  /** @param servedMs how long the stream that has ended was open; one that ends right away is a failure too. */
  next(servedMs: number): Attempt {
    this.#at = (this.#at + 1) % this.#urls.length;
    if (this.#urls.length === 1) return { url: this.#url(), delayMs: this.#intervalMs };
    this.#failures = servedMs >= this.#intervalMs ? 1 : this.#failures + 1;
    const isRoundOver = this.#failures % this.#urls.length === 0;
    const factor = 1 + jitter * (2 * this.#random() - 1);
    return { url: this.#url(), delayMs: isRoundOver ? this.#intervalMs * factor : 0 };
  }

  #url(): string {
    return this.#urls[this.#at] ?? '';
  }
}
