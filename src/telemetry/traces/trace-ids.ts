// Ids of traces and spans, and which traces are recorded: by the id alone, so that everybody who samples the same share
// decides alike (OpenTelemetry, Probability Sampling: the id's last 56 bits against a threshold).

/** Fills the buffer with random bytes. */
export type RandomFill = (bytes: Buffer) => void;

const traceDigits = 32;
const spanDigits = 16;
/** Made at once: most of what an id costs is the call, not the bytes. */
const poolBytes = 6_144;
/** Digits before those that the threshold is held against, and how many of those are looked at. */
const skipped = 18;
const compared = 8;

export class TraceIds {
  readonly #fill: RandomFill;
  readonly #pool = Buffer.allocUnsafeSlow(poolBytes);
  /** Digits as large, or larger, are of a trace that is recorded: as many are compared, so their order is that of texts. */
  readonly #least: string;
  /** The pool in hexadecimal digits. */
  #digits = '';
  #at = 0;

  /** `sampleRatio`: 0 to 1. */
  constructor(sampleRatio: number, fill: RandomFill) {
    this.#fill = fill;
    const least = Math.ceil((1 - sampleRatio) * 2 ** (4 * compared));
    this.#least = least === 2 ** (4 * compared) ? beyondAll : least.toString(16).padStart(compared, '0');
  }

  traceId(): string {
    return this.#take(traceDigits);
  }

  spanId(): string {
    return this.#take(spanDigits);
  }

  /** Whether a trace that begins with this id is recorded. */
  isSampled(traceId: string): boolean {
    return traceId.slice(skipped, skipped + compared) >= this.#least;
  }

  #take(count: number): string {
    for (;;) {
      if (this.#at + count > this.#digits.length) {
        this.#fill(this.#pool);
        this.#digits = this.#pool.toString('hex');
        this.#at = 0;
      }
      const text = this.#digits.slice(this.#at, this.#at + count);
      this.#at += count;
      // All zero is no id.
      if (text.charCodeAt(0) !== zero || !/^0+$/.test(text)) return text;
    }
  }
}

const zero = 48;
/** No digit comes after it. */
const beyondAll = 'g';
