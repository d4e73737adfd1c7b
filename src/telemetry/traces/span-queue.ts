// The spans of a whole process on their way to the collector: a bounded queue, one post at a time. A collector that is
// down, slow or fails costs spans and one warning a minute, and never delays a request.
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Logger } from '../logger.ts';
import type { PackedSpans } from './span-encoding.ts';

/** Posts spans. Calls back once; `failure` is the reason why they were not taken. */
type ExportSpans = (spans: readonly PackedSpans[], done: (failure: string | undefined) => void) => void;

export interface SpanQueueOptions {
  readonly send: ExportSpans;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Limit of queued spans; more are lost. */
export const queueMax = 4_096;
/** Limit of spans in one post. */
export const postMax = 512;
/** Milliseconds that the first span of a post waits for others. */
export const gatherMs = 1_000;
/** Milliseconds after which a post is abandoned, even when the exporter goes on with it. */
export const postMsMax = 10_000;
export const warnMsMin = 60_000;

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: PackedSpans[] = [];
  #count = 0;
  #lost = 0;
  #reason = '';
  #warnedMs = Number.NEGATIVE_INFINITY;
  /** Number of the post, which tells late answers to abandoned posts apart. */
  #post = 0;
  #posting = false;
  /** Spans in the post that is under way. */
  #underWay = 0;
  #cancel: Cancel | undefined;
  #closing = false;
  #onIdle: () => void = () => {};

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Spans that wait to be posted. */
  get length(): number {
    return this.#count;
  }

  /** Queues packed spans. `lost`: the number of spans that the sending thread had no room for. */
  add(spans: PackedSpans, lost = 0): void {
    const fits = this.#count + spans.count <= queueMax;
    if (fits && spans.count > 0) {
      this.#waiting.push(spans);
      this.#count += spans.count;
    }
    const missed = lost + (fits ? 0 : spans.count);
    if (missed > 0) this.#lose(missed, 'they come faster than the collector takes them');
    this.#arm();
  }

  /** Posts what is left, but for no longer than `withinMs`; what does not go out by then is lost. */
  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(withinMs, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
      if (!this.#posting) this.#next();
    });
    this.#cancel?.();
    this.#lost += this.#count + (this.#posting ? this.#underWay : 0);
    this.#waiting = [];
    this.#count = 0;
    this.#warn();
  }

  #arm(): void {
    if (this.#posting || this.#count === 0) return;
    if (this.#count >= postMax || this.#closing) this.#next();
    else this.#cancel ??= this.#options.clock.after(gatherMs, () => this.#next());
  }

  #next(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#count === 0) {
      this.#onIdle();
      return;
    }
    const { spans, count } = this.#take();
    const post = ++this.#post;
    this.#posting = true;
    this.#underWay = count;
    const giveUp = this.#options.clock.after(postMsMax, () => settle('it does not answer'));
    const settle = (failure: string | undefined): void => {
      if (post !== this.#post || !this.#posting) return;
      giveUp();
      this.#posting = false;
      if (failure !== undefined) this.#lose(count, failure);
      if (this.#closing) this.#next();
      else this.#arm();
    };
    try {
      this.#options.send(spans, settle);
    } catch (error) {
      settle(error instanceof Error ? error.message : String(error));
    }
  }

  #take(): { spans: PackedSpans[]; count: number } {
    let batches = 0;
    let count = 0;
    for (const { count: more } of this.#waiting) {
      if (batches > 0 && count + more > postMax) break;
      batches++;
      count += more;
    }
    this.#count -= count;
    return { spans: this.#waiting.splice(0, batches), count };
  }

  #lose(count: number, reason: string): void {
    this.#lost += count;
    this.#reason = reason;
    if (this.#options.clock.monotonicMs() - this.#warnedMs >= warnMsMin) this.#warn();
  }

  #warn(): void {
    if (this.#lost === 0) return;
    const fields = { lost: this.#lost, reason: this.#reason || 'the process ends' };
    this.#options.logger.warn(fields, 'spans do not reach the collector and are lost');
    this.#lost = 0;
    this.#warnedMs = this.#options.clock.monotonicMs();
  }
}
