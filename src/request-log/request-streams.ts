// Live streams of recent requests, as server-sent events: while there is a follower, main scans the records of the workers
// ten times a second. A follower that reads slowly, or asks for more than main can make, misses some and gets
// their number.

import type { ServerResponse } from 'node:http';
import { SluiceError } from '../errors.ts';
import type { RecentRequest } from '../model/answers/request-answers.ts';
import type { RecentSource } from '../model/recent-request.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { beginEvents } from '../util/event-stream-head.ts';
import { type Passes, passesOf } from './request-query.ts';

const lookEveryMs = 100;
const keepAliveMs = 15_000;
/** Longest scan in milliseconds, with the filters of all followers; requests beyond it are dropped. */
const scanMsMax = 8;
/** Bytes that may wait for one follower. */
const waitingMax = 1 << 20;
const followersMax = 16;

interface Follower {
  readonly response: ServerResponse;
  readonly passes: Passes;
  /** Milliseconds that its filter may still take; below 0 it waits for later scans, each of which adds its share. */
  leftMs: number;
  /** Number of requests dropped since the last event `dropped`. */
  dropped: number;
  /** Sampling rates of the last event `sampling`. */
  told: string;
}

/** Request of one scan, with its event once a follower gets it. */
interface Shown {
  readonly request: RecentRequest;
  frame: string | undefined;
}

export class RecentStreams {
  readonly #source: RecentSource;
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  #next = 0;
  #cancel: Cancel = () => {};
  #keptAliveMs = 0;
  #closed = false;
  /** Events that were written, and requests that were dropped, since the start. */
  readonly counts = { events: 0, dropped: 0 };

  constructor(source: RecentSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** Returns the filter of a new follower. Throws INVALID, and UNAVAILABLE when there are too many followers. */
  admit(where: string | undefined): Passes {
    const passes = passesOf(where);
    if (this.#followers.size >= followersMax) {
      throw new SluiceError('UNAVAILABLE', `${followersMax} streams of requests are open already`);
    }
    return passes;
  }

  /** Takes over a response without a head. `HEAD` gets the headers alone. */
  attach(response: ServerResponse, passes: Passes): void {
    if (!beginEvents(response, this.#closed)) return;
    const follower: Follower = { response, passes, leftMs: 0, dropped: 0, told: '' };
    if (this.#followers.size === 0) this.#begin();
    this.#followers.add(follower);
    this.#report(follower);
    response.on('close', () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.#cancel();
    });
  }

  /** Ends every stream and takes no more. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const { response } of this.#followers) response.end();
  }

  /** Aborts streams that have not been read to their end. */
  destroy(): void {
    for (const { response } of this.#followers) response.destroy();
  }

  #begin(): void {
    this.#next = this.#source.end;
    this.#keptAliveMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(lookEveryMs, () => {
      this.#look();
      if (this.#followers.size > 0 && !this.#closed) this.#schedule();
    });
  }

  #look(): void {
    const { end, capacity } = this.#source;
    const missed = Math.max(0, end - capacity - this.#next);
    if (missed > 0) {
      this.#next += missed;
      this.#passOver(missed);
    }
    const startMs = this.#clock.monotonicMs();
    const shown = this.#scan(end, startMs + scanMsMax / 2);
    this.#shareTime();
    for (const follower of this.#followers) this.#show(follower, shown, startMs + scanMsMax);
    for (const follower of this.#followers) this.#report(follower);
    this.#keepAlive();
  }

  #passOver(count: number): void {
    for (const follower of this.#followers) follower.dropped += count;
    this.counts.dropped += count;
  }

  /** Gives each follower its share of a scan. Those whose filters took more than theirs come last. */
  #shareTime(): void {
    const shareMs = scanMsMax / this.#followers.size;
    for (const follower of [...this.#followers]) {
      if (follower.leftMs < 0 && this.#followers.delete(follower)) this.#followers.add(follower);
      follower.leftMs = Math.min(shareMs, follower.leftMs + shareMs);
    }
  }

  /** Reads the requests up to a number; those that come after the time are dropped. */
  #scan(end: number, untilMs: number): Shown[] {
    const shown: Shown[] = [];
    while (this.#next < end) {
      const request = this.#source.at(this.#next++);
      if (request === undefined) this.#passOver(1);
      else shown.push({ request, frame: undefined });
      if (this.#clock.monotonicMs() < untilMs) continue;
      this.#passOver(end - this.#next);
      this.#next = end;
    }
    return shown;
  }

  #show(follower: Follower, shown: readonly Shown[], untilMs: number): void {
    for (const [at, each] of shown.entries()) {
      if (follower.leftMs <= 0 || this.#clock.monotonicMs() >= untilMs) {
        this.#drop(follower, shown.length - at);
        return;
      }
      if (!this.#passes(follower, each.request)) continue;
      if (follower.response.writableLength > waitingMax) {
        this.#drop(follower, 1);
        continue;
      }
      each.frame ??= `event: request\ndata: ${JSON.stringify(each.request)}\n\n`;
      follower.response.write(each.frame);
      this.counts.events++;
    }
  }

  #drop(follower: Follower, count: number): void {
    follower.dropped += count;
    this.counts.dropped += count;
  }

  /** Asks the filter of a follower, whose time it takes: a slow one misses requests, and no other follower does. */
  #passes(follower: Follower, request: RecentRequest): boolean {
    const startMs = this.#clock.monotonicMs();
    const passes = follower.passes(request);
    follower.leftMs -= this.#clock.monotonicMs() - startMs;
    return passes;
  }

  /** Sends the sampling rates when they have changed, and the number of requests that were dropped. */
  #report(follower: Follower): void {
    const { response } = follower;
    if (response.writableLength > waitingMax) return;
    const { oneIn, oneInOfErrors } = this.#source.counts;
    const sampling = JSON.stringify({ oneIn, oneInOfErrors });
    if (sampling !== follower.told) response.write(`event: sampling\ndata: ${sampling}\n\n`);
    follower.told = sampling;
    if (follower.dropped > 0) response.write(`event: dropped\ndata: {"count":${follower.dropped}}\n\n`);
    follower.dropped = 0;
  }

  #keepAlive(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#keptAliveMs < keepAliveMs) return;
    this.#keptAliveMs = nowMs;
    for (const { response } of this.#followers) if (!response.writableNeedDrain) response.write(': keepalive\n\n');
  }
}
