// Tally of the reports of one node's proxies about a rollout since this node learned of it (fleet.md §7).
import type { RolloutReport, ShadowReport, TrafficWindow } from '../model/fleet-messages.ts';
import { noShadow, noShadowExamples } from '../model/shadow.ts';
import { noTraffic, sumOf, type TrafficCounts } from '../model/traffic-windows.ts';

export class RolloutTally {
  /** Kept after its end, until another begins. */
  #rollout: string | undefined;
  #isUnderWay = false;
  #candidate: TrafficCounts = noTraffic;
  #stable: TrafficCounts = noTraffic;

  /** From now on that one counts; undefined: none. */
  follow(rollout: string | undefined): void {
    this.#isUnderWay = rollout !== undefined;
    if (rollout === undefined || rollout === this.#rollout) return;
    this.#rollout = rollout;
    this.#candidate = noTraffic;
    this.#stable = noTraffic;
  }

  /** Adds those of the windows that belong to the rollout. */
  add(windows: readonly TrafficWindow[]): void {
    for (const window of windows) {
      if (window.rollout === null || window.rollout !== this.#rollout) continue;
      if (window.of === 'candidate') this.#candidate = sumOf(this.#candidate, window);
      else this.#stable = sumOf(this.#stable, window);
    }
  }

  word(): Pick<RolloutReport, 'rollout' | 'candidate' | 'stable'> {
    if (!this.#isUnderWay) return { rollout: null, candidate: noTraffic, stable: noTraffic };
    const candidate = countsOf(this.#candidate);
    const stable = countsOf(this.#stable);
    return { rollout: this.#rollout ?? null, candidate, stable };
  }

  /** Returns the comparisons of the last rollout, with what its proxies reported after its end. */
  shadow(): ShadowReport {
    const { shadow = noShadow, examples } = this.#candidate;
    return { rollout: this.#rollout ?? null, counts: shadow, examples: { ...noShadowExamples, ...examples } };
  }
}

/** Counts without the other fields of a window. */
const countsOf = ({
  requests,
  serverErrors,
  clientErrors,
  proxyErrors,
  refusals,
  latency,
  mirror,
  shadow,
}: TrafficCounts): TrafficCounts => ({
  requests,
  serverErrors,
  clientErrors,
  proxyErrors,
  ...(refusals !== undefined && { refusals }),
  latency,
  ...(mirror && { mirror }),
  ...(shadow && { shadow }),
});
