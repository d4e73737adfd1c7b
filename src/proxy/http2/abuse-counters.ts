// Abuse counters of one connection: frames that cost more than they are worth are counted against the bounds of
// guards.ts, and the time in which the peer has read nothing is measured.
import { Allowance, guards } from './guards.ts';

const betweenLooksMsMax = 1_000;

export class Patience {
  readonly #nowMs: () => number;
  readonly resets: Allowance;
  readonly problems: Allowance;
  readonly refusedHeads: Allowance;
  readonly settings: Allowance;
  readonly pings: Allowance;
  readonly idleFrames: Allowance;
  readonly emptyData: Allowance;
  readonly smallData: Allowance;
  readonly crumbs: Allowance;
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
    this.resets = new Allowance({ burst: resetsPerSecond, perSecond: resetsPerSecond }, nowMs);
    this.problems = new Allowance(guards.streamErrors, nowMs);
    this.refusedHeads = new Allowance(guards.refusedHeadBytes, nowMs);
    this.settings = new Allowance(guards.settings, nowMs);
    this.pings = new Allowance(guards.pings, nowMs);
    this.idleFrames = new Allowance(guards.idleFrames, nowMs);
    this.emptyData = new Allowance(guards.emptyData, nowMs);
    this.smallData = new Allowance(guards.smallData, nowMs);
    this.crumbs = new Allowance(guards.crumbs, nowMs);
  }

  /**
   * Counts a frame of DATA that was sent. `crumb`: a window cut it very short; windows of one byte do not earn the
   * right to send more window updates.
   */
  onDataSent(bytes: number, crumb: boolean): void {
    this.#sentBytes += bytes;
    if (crumb) return;
    this.pings.earn(guards.pingsPerData);
    this.idleFrames.earn(guards.idleFramesPerData + Math.floor(bytes / guards.bytesPerIdleFrame));
    if (bytes >= guards.loafBytes) this.crumbs.earn(1);
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
