// The spans of one worker on their way to main: in batches, and never more under way than main has taken.
import type { Cancel, Clock } from '../../clock.ts';
import type { FinishedSpan } from './finished-span.ts';

export interface SpanBatch {
  readonly spans: readonly FinishedSpan[];
  /** How many more there were for which there was no room. */
  readonly lost: number;
}

const batchMax = 256;
const gatherMs = 500;
/** Batches that main has not taken yet; meanwhile one more is gathered. */
const underWayMax = 4;

export class SpanBatches {
  readonly #clock: Clock;
  readonly #send: (batch: SpanBatch) => void;
  #spans: FinishedSpan[] = [];
  #lost = 0;
  #underWay = 0;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, send: (batch: SpanBatch) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  add(span: FinishedSpan): void {
    if (this.#spans.length >= batchMax) {
      this.#lost++;
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= batchMax) this.flush();
    else this.#cancel ??= this.#clock.after(gatherMs, () => this.flush());
  }

  /** Main has one more. */
  taken(): void {
    this.#underWay--;
    if (this.#spans.length >= batchMax) this.flush();
  }

  /** Sends what is there, if main keeps up. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#spans.length + this.#lost === 0) return;
    if (this.#underWay >= underWayMax) {
      this.#cancel = this.#clock.after(gatherMs, () => this.flush());
      return;
    }
    this.#underWay++;
    const batch = { spans: this.#spans, lost: this.#lost };
    this.#spans = [];
    this.#lost = 0;
    this.#send(batch);
  }
}
