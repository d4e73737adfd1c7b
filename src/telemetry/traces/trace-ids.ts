// Ids of traces and spans, and which traces are recorded: by the id alone, so that everybody who samples the same share
// decides alike (OpenTelemetry, Probability Sampling: the id's last 56 bits against a threshold).

/** Fills the buffer with random bytes. */
export type RandomFill = (bytes: Buffer) => void;

const traceBytes = 16;
const spanBytes = 8;
/** Asked for at once: a call for 24 bytes costs nearly as much. */
const poolBytes = 6_144;
/** Hexadecimal digits before those that the threshold is held against, and how many of those are looked at. */
const skipped = 18;
const compared = 8;

export class TraceIds {
  readonly #fill: RandomFill;
  readonly #pool = Buffer.allocUnsafeSlow(poolBytes);
  readonly #threshold: number;
  #at = poolBytes;

  /** `sampleRatio`: 0 to 1. */
  constructor(sampleRatio: number, fill: RandomFill) {
    this.#fill = fill;
    this.#threshold = (1 - sampleRatio) * 2 ** (4 * compared);
  }

  traceId(): string {
    return this.#hex(traceBytes);
  }

  spanId(): string {
    return this.#hex(spanBytes);
  }

  /** Whether a trace that begins with this id is recorded. */
  isSampled(traceId: string): boolean {
    return Number.parseInt(traceId.slice(skipped, skipped + compared), 16) >= this.#threshold;
  }

  #hex(count: number): string {
    for (;;) {
      if (this.#at + count > poolBytes) {
        this.#fill(this.#pool);
        this.#at = 0;
      }
      const text = this.#pool.toString('hex', this.#at, this.#at + count);
      this.#at += count;
      // All zero is no id.
      if (!/^0+$/.test(text)) return text;
    }
  }
}
