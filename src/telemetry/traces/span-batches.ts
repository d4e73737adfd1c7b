// Batches of the spans of one thread for the queue in main: encoded as they end, with a limit of batches that main has not
// taken yet (backpressure).
import type { Cancel, Clock } from '../../util/clock.ts';
import type { FinishedSpan } from './finished-span.ts';
import { MessageWriter } from './protobuf-writer.ts';
import { type PackedSpans, writeSpan } from './span-encoding.ts';

export interface SpanBatch extends PackedSpans {
  /** Number of spans that were dropped because the batch was full. */
  readonly lost: number;
}

const batchMax = 256;
const batchBytesMax = 512 * 1024;
const gatherMs = 500;
/** Limit of batches that main has not taken yet; one more is filled meanwhile. */
const underWayMax = 4;

export class SpanBatches {
  readonly #clock: Clock;
  readonly #send: (batch: SpanBatch) => void;
  readonly #writer = new MessageWriter();
  #count = 0;
  #lost = 0;
  #underWay = 0;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, send: (batch: SpanBatch) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  add(span: FinishedSpan): void {
    if (this.#full) {
      this.#lost++;
      return;
    }
    writeSpan(this.#writer, span);
    this.#count++;
    if (this.#full) this.flush();
    else this.#cancel ??= this.#clock.after(gatherMs, () => this.flush());
  }

  /** Records that main has taken a batch. */
  taken(): void {
    this.#underWay--;
    if (this.#full) this.flush();
  }

  /** Sends the current batch, unless too many are under way. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#count + this.#lost === 0) return;
    if (this.#underWay >= underWayMax) {
      this.#cancel = this.#clock.after(gatherMs, () => this.flush());
      return;
    }
    this.#underWay++;
    const batch = { bytes: this.#writer.take(), count: this.#count, lost: this.#lost };
    this.#count = 0;
    this.#lost = 0;
    this.#send(batch);
  }

  get #full(): boolean {
    return this.#count >= batchMax || this.#writer.length >= batchBytesMax;
  }
}
