// How much of what costs more than it is worth one connection has been granted (guards.ts): counters, and the time
// since when nobody has read anything.
import { Allowance, guards } from './guards.ts';

export class Patience {
  readonly #nowMs: () => number;
  readonly resets: Allowance;
  readonly faults: Allowance;
  readonly settings: Allowance;
  readonly pings: Allowance;
  readonly idleFrames: Allowance;
  readonly emptyData: Allowance;
  readonly crumbs: Allowance;
  #progressMs: number;

  constructor(nowMs: () => number, resetsPerSecond: number) {
    this.#nowMs = nowMs;
    this.#progressMs = nowMs();
    this.resets = new Allowance({ burst: resetsPerSecond, perSecond: resetsPerSecond }, nowMs);
    this.faults = new Allowance(guards.faults, nowMs);
    this.settings = new Allowance(guards.settings, nowMs);
    this.pings = new Allowance(guards.pings, nowMs);
    this.idleFrames = new Allowance(guards.idleFrames, nowMs);
    this.emptyData = new Allowance(guards.emptyData, nowMs);
    this.crumbs = new Allowance(guards.crumbs, nowMs);
  }

  onDataSent(): void {
    this.pings.earn(guards.pingsPerData);
    this.idleFrames.earn(guards.idleFramesPerData);
  }

  /** A window has opened, or nobody waits for one. */
  onProgress(): void {
    this.#progressMs = this.#nowMs();
  }

  get stalledMs(): number {
    return this.#nowMs() - this.#progressMs;
  }
}
