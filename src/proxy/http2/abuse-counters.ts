// Abuse counters of one connection: frames that cost more than they are worth are counted against the bounds of
// guards.ts, and the time in which the peer has read nothing is measured.
import { guards, TokenBucket } from './guards.ts';

const betweenLooksMsMax = 1_000;

export class AbuseCounters {
  readonly #nowMs: () => number;
  readonly resets: TokenBucket;
  readonly problems: TokenBucket;
  readonly refusedHeads: TokenBucket;
  readonly settings: TokenBucket;
  readonly pings: TokenBucket;
  readonly idleFrames: TokenBucket;
  readonly emptyData: TokenBucket;
  readonly smallData: TokenBucket;
  readonly smallFrames: TokenBucket;
  /** Milliseconds in which next to nothing has been taken, as far as looks have measured it. */
  #stalledMs = 0;
  #lookedMs: number;
  /** Bytes sent since `#lookedMs`. */
  #sentBytes = 0;
  /** True when many streams waited at the last look. */
  #stalling = false;

  constructor(nowMs: () => number, resetsPerSecond: number) {
    this.#nowMs = nowMs;
    this.#lookedMs = nowMs();
    this.resets = new TokenBucket({ burst: resetsPerSecond, perSecond: resetsPerSecond }, nowMs);
    this.problems = new TokenBucket(guards.streamErrors, nowMs);
    this.refusedHeads = new TokenBucket(guards.refusedHeadBytes, nowMs);
    this.settings = new TokenBucket(guards.settings, nowMs);
    this.pings = new TokenBucket(guards.pings, nowMs);
    this.idleFrames = new TokenBucket(guards.idleFrames, nowMs);
    this.emptyData = new TokenBucket(guards.emptyData, nowMs);
    this.smallData = new TokenBucket(guards.smallData, nowMs);
    this.smallFrames = new TokenBucket(guards.smallFrames, nowMs);
  }

  /**
   * Counts a frame of DATA that was sent. `isSmall`: a window cut it very short; windows of one byte do not earn the
   * right to send more window updates.
   */
  onDataSent(bytes: number, isSmall: boolean): void {
    this.#sentBytes += bytes;
    if (isSmall) return;
    this.pings.earn(guards.pingsPerData);
    this.idleFrames.earn(guards.idleFramesPerData + Math.floor(bytes / guards.bytesPerIdleFrame));
    if (bytes >= guards.fullFrameBytes) this.smallFrames.earn(1);
  }

  /** Starts the measurement again: the peer takes what is sent. */
  onProgress(): void {
    this.#stalledMs = 0;
    this.#sentBytes = 0;
  }

  /** Ends the stall: few streams wait. */
  onFlowing(): void {
    this.#stalling = false;
  }

  /**
   * Returns whether next to nothing was taken for too long; the caller asks each half second while many streams wait.
   * A gap between two looks counts for at most one second: a thread that was blocked has not seen what arrived in the
   * meantime.
   */
  isStalled(): boolean {
    const now = this.#nowMs();
    if (!this.#stalling || this.#sentBytes >= guards.stalledBytesMin) this.onProgress();
    else this.#stalledMs += Math.min(now - this.#lookedMs, betweenLooksMsMax);
    this.#stalling = true;
    this.#lookedMs = now;
    return this.#stalledMs >= guards.stalledMs;
  }
}
