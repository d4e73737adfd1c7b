// The spans of a whole process on their way to the collector: a bounded queue, one post at a time. A collector that is
// down, slow or fails costs spans and one warning a minute, and nobody waits for it.
import type { Cancel, Clock } from '../../clock.ts';
import type { Logger } from '../logger.ts';
import type { FinishedSpan } from './finished-span.ts';

/** Posts them. Calls back once, `failure` says why they were not taken. */
type ExportSpans = (spans: readonly FinishedSpan[], done: (failure: string | undefined) => void) => void;

export interface SpanQueueOptions {
  readonly send: ExportSpans;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Spans that wait; more are lost. */
export const queueMax = 4_096;
/** Spans of one post. */
export const postMax = 512;
/** How long the first of a post waits for others. */
export const gatherMs = 1_000;
/** A post that takes longer is given up, whatever the exporter makes of it. */
export const postMsMax = 10_000;
export const warnMsMin = 60_000;

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: FinishedSpan[] = [];
  #lost = 0;
  #reason = '';
  #warnedMs = Number.NEGATIVE_INFINITY;
  /** Counts posts: the answer to one that was given up is late. */
  #post = 0;
  #posting = false;
  /** In the post that is under way. */
  #underWay = 0;
  #cancel: Cancel | undefined;
  #closing = false;
  #onIdle: () => void = () => {};

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Spans that wait to be posted. */
  get length(): number {
    return this.#waiting.length;
  }

  /** `lost`: how many more there were, which somebody else had no room for. */
  add(spans: readonly FinishedSpan[], lost = 0): void {
    const room = Math.max(0, queueMax - this.#waiting.length);
    for (let i = 0; i < Math.min(room, spans.length); i++) {
      const span = spans[i];
      if (span !== undefined) this.#waiting.push(span);
    }
    const missed = lost + Math.max(0, spans.length - room);
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
    this.#lost += this.#waiting.length + (this.#posting ? this.#underWay : 0);
    this.#waiting = [];
    this.#warn();
  }

  #arm(): void {
    if (this.#posting || this.#waiting.length === 0) return;
    if (this.#waiting.length >= postMax || this.#closing) this.#next();
    else this.#cancel ??= this.#options.clock.after(gatherMs, () => this.#next());
  }

  #next(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#waiting.length === 0) {
      this.#onIdle();
      return;
    }
    const spans = this.#waiting.splice(0, postMax);
    const post = ++this.#post;
    this.#posting = true;
    this.#underWay = spans.length;
    const giveUp = this.#options.clock.after(postMsMax, () => settle('it does not answer'));
    const settle = (failure: string | undefined): void => {
      if (post !== this.#post || !this.#posting) return;
      giveUp();
      this.#posting = false;
      if (failure !== undefined) this.#lose(spans.length, failure);
      if (this.#closing) this.#next();
      else this.#arm();
    };
    try {
      this.#options.send(spans, settle);
    } catch (error) {
      settle(error instanceof Error ? error.message : String(error));
    }
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
