// How much of what costs more than it is worth one connection has been granted (guards.ts): counters, and the time
// since when nobody has read anything.
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
  /** How long next to nothing has been taken, as far as it was looked at. */
  #stalledMs = 0;
  #lookedMs: number;
  /** Since then. */
  #sentBytes = 0;
  /** Many streams waited when it was asked last. */
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

  /** `crumb`: a window cut it very short; windows of a byte must not earn the right to open more of them. */
  onDataSent(bytes: number, crumb: boolean): void {
    this.#sentBytes += bytes;
    if (crumb) return;
    this.pings.earn(guards.pingsPerData);
    this.idleFrames.earn(guards.idleFramesPerData + Math.floor(bytes / guards.bytesPerIdleFrame));
    if (bytes >= guards.loafBytes) this.crumbs.earn(1);
  }

  /** The other side takes what is sent. */
  onProgress(): void {
    this.#stalledMs = 0;
    this.#sentBytes = 0;
  }

  /** There are not many streams that wait. */
  onFlowing(): void {
    this.#stalling = false;
  }

  /**
   * To be asked each half second while many wait: whether next to nothing was taken for too long. What lies between two
   * looks counts for little more than that: a thread that was held up itself has not seen what came meanwhile.
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
