// Ids of traces and spans, and the sampling decision: by the id alone, so that all services that sample the same share
// decide alike (OpenTelemetry, Probability Sampling: the id's last 56 bits against a threshold). Nearly every request
// begins a trace, so ids are made in blocks, each as the `traceparent` that the upstream gets.
import { formatTraceParent, lineOf, placeInLine } from './trace-parent.ts';

/** Fills the buffer with random bytes. */
export type RandomFill = (bytes: Buffer) => void;

const traceBytes = 16;
const spanBytes = 8;
/** Number of ids in a block. They share a text, all of which stays while one id is kept, so it is small. */
const atOnce = 64;
/** Number of blocks per call for random bytes: most of the cost is the call. */
const batches = 16;
/** Offset of the bytes of a trace's id that are compared with the threshold. */
const skipped = 9;

const sample = lineOf(formatTraceParent('0'.repeat(2 * traceBytes), '0'.repeat(2 * spanBytes), false));

export class TraceIds {
  readonly #fill: RandomFill;
  readonly #random = Buffer.allocUnsafeSlow(batches * atOnce * (traceBytes + spanBytes));
  #used = this.#random.length;
  readonly #lines = Buffer.from(sample.repeat(atOnce), 'latin1');
  readonly #view = new DataView(this.#lines.buffer, this.#lines.byteOffset, this.#lines.length);
  /** Threshold: a trace with at least this number is recorded. */
  readonly #least: number;
  #text = '';
  #at = 0;

  /** Takes `sampleRatio`, 0 to 1. */
  constructor(sampleRatio: number, fill: RandomFill) {
    this.#fill = fill;
    this.#least = Math.ceil((1 - sampleRatio) * 2 ** 32);
  }

  /** Field line `traceparent` of a new trace, with the id of a span and the sampled flag. */
  newTrace(): string {
    if (this.#at === this.#text.length) this.#make();
    const at = this.#at;
    this.#at = at + sample.length;
    return this.#text.slice(at, this.#at);
  }

  spanId(): string {
    return this.newTrace().slice(placeInLine.spanId, placeInLine.spanId + 2 * spanBytes);
  }

  #make(): void {
    if (this.#used === this.#random.length) {
      this.#fill(this.#random);
      this.#used = 0;
    }
    for (let line = 0; line < this.#lines.length; line += sample.length) {
      const isSampled = this.#random.readUInt32BE(this.#used + skipped) >= this.#least;
      this.#lines[line + placeInLine.flag] = isSampled ? one : zero;
      this.#write(line + placeInLine.traceId, traceBytes);
      this.#write(line + placeInLine.spanId, spanBytes);
    }
    this.#text = this.#lines.toString('latin1');
    this.#at = 0;
  }

  /** Writes the next random bytes as digits. */
  #write(to: number, count: number): void {
    const random = this.#random;
    const view = this.#view;
    const from = this.#used;
    let any = 0;
    for (let i = 0; i < count; i++) {
      const byte = random[from + i] ?? 0;
      any |= byte;
      view.setUint16(to + 2 * i, digits[byte] ?? 0);
    }
    // An id of zeros is invalid.
    if (any === 0) this.#lines[to] = one;
    this.#used = from + count;
  }
}

const zero = 48;
const one = 49;
/** Two digits of each byte, the first in the upper half. */
const digits = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16BE(),
);
