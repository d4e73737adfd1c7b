// How much of what costs more than it is worth one connection has been granted (guards.ts): counters, and the time
// since when nobody has read anything.
import { Allowance, guards } from './guards.ts';

export class Patience {
  readonly #nowMs: () => number;
  readonly resets: Allowance;
  readonly problems: Allowance;
  readonly settings: Allowance;
  readonly pings: Allowance;
  readonly idleFrames: Allowance;
  readonly emptyData: Allowance;
  readonly crumbs: Allowance;
  #progressMs: number;
  /** Since then. */
  #sentBytes = 0;
  /** Many streams waited when it was asked last. */
  #stalling = false;

  constructor(nowMs: () => number, resetsPerSecond: number) {
    this.#nowMs = nowMs;
    this.#progressMs = nowMs();
    this.resets = new Allowance({ burst: resetsPerSecond, perSecond: resetsPerSecond }, nowMs);
    this.problems = new Allowance(guards.streamErrors, nowMs);
    this.settings = new Allowance(guards.settings, nowMs);
    this.pings = new Allowance(guards.pings, nowMs);
    this.idleFrames = new Allowance(guards.idleFrames, nowMs);
    this.emptyData = new Allowance(guards.emptyData, nowMs);
    this.crumbs = new Allowance(guards.crumbs, nowMs);
  }

  onDataSent(bytes: number): void {
    this.#sentBytes += bytes;
    this.pings.earn(guards.pingsPerData);
    this.idleFrames.earn(guards.idleFramesPerData);
  }

  /** The other side takes what is sent. */
  onProgress(): void {
    this.#progressMs = this.#nowMs();
    this.#sentBytes = 0;
  }

  /** There are not many streams that wait. */
  onFlowing(): void {
    this.#stalling = false;
  }

  /** To be asked now and then while many wait: whether next to nothing has been taken for too long. */
  isStalled(): boolean {
    if (!this.#stalling || this.#sentBytes >= guards.stalledBytesMin) this.onProgress();
    this.#stalling = true;
    return this.#nowMs() - this.#progressMs >= guards.stalledMs;
  }
}
