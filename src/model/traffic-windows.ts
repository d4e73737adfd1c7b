// Windows of traffic, from counts since the start of a process to what was served since the last report that arrived
// (fleet.md §4), apart for each rollout: what was served before a candidate was there says nothing about it.
import type { MirrorCounts } from './answers/proxy-messages.ts';
import type { TrafficWindow } from './fleet-messages.ts';
import { joinedExamples, type ShadowExamples, shadowSince, sumOfShadows } from './shadow.ts';
import { shadowKinds } from './shadow-kinds.ts';

export type TrafficCounts = Omit<TrafficWindow, 'of' | 'rollout'>;

/** Since the start of the process. */
export interface VariantCounts {
  readonly stable: TrafficCounts;
  readonly candidate: TrafficCounts;
}

export interface PendingReport {
  readonly window: readonly TrafficWindow[];
  /** Confirms delivery: the counts are not sent again. Without it the next report includes them as well. */
  delivered(): void;
}

export class TrafficWindows {
  #rollout: string | null = null;
  #before: VariantCounts | undefined;
  /** Not delivered yet, one of each side and rollout. */
  #waiting: TrafficWindow[] = [];
  /** Windows of the last report, which may be lost. */
  #underWay: readonly TrafficWindow[] = [];

  /** From here on it is traffic of that rollout, or of none. */
  begin(rollout: string | null, now: VariantCounts): void {
    this.#seal(now);
    this.#rollout = rollout;
  }

  /** One at a time: the next is asked for when this one has arrived or is lost. */
  report(now: VariantCounts): PendingReport {
    const lost = this.#underWay;
    this.#underWay = [];
    for (const each of lost) this.#add(each);
    this.#seal(now);
    const window = this.#waiting;
    this.#waiting = [];
    this.#underWay = window;
    return {
      window,
      delivered: () => {
        if (this.#underWay === window) this.#underWay = [];
      },
    };
  }

  #seal(now: VariantCounts): void {
    const { stable, candidate } = this.#before ?? {};
    this.#add({ of: 'stable', rollout: this.#rollout, ...difference(now.stable, stable) });
    if (this.#rollout !== null) {
      this.#add({ of: 'candidate', rollout: this.#rollout, ...difference(now.candidate, candidate) });
    }
    this.#before = now;
  }

  #add(window: TrafficWindow): void {
    const at = this.#waiting.findIndex(({ of, rollout }) => of === window.of && rollout === window.rollout);
    const known = this.#waiting[at];
    if (known !== undefined) this.#waiting[at] = { ...known, ...sumOf(known, window) };
    else this.#waiting = [...this.#waiting, window].slice(-windowsMax);
  }
}

/** Maximum number of windows in one report. */
const windowsMax = 16;

const difference = (now: TrafficCounts, before: TrafficCounts | undefined): TrafficCounts => ({
  requests: now.requests - (before?.requests ?? 0),
  serverErrors: now.serverErrors - (before?.serverErrors ?? 0),
  clientErrors: now.clientErrors - (before?.clientErrors ?? 0),
  proxyErrors: now.proxyErrors - (before?.proxyErrors ?? 0),
  ...(now.refusals !== undefined && { refusals: now.refusals - (before?.refusals ?? 0) }),
  latency: now.latency.map((count, at) => count - (before?.latency[at] ?? 0)),
  ...(now.mirror && { mirror: mirrorsSince(now.mirror, before?.mirror) }),
  ...(now.shadow && { shadow: shadowSince(now.shadow, before?.shadow) }),
  ...(now.examples && { examples: examplesSince(now.examples, before?.examples ?? {}) }),
});

/** Returns the examples behind those of an earlier reading: lists of one rollout only grow. */
const examplesSince = (now: Partial<ShadowExamples>, before: Partial<ShadowExamples>): Partial<ShadowExamples> =>
  Object.fromEntries(
    shadowKinds
      .map((kind) => [kind, now[kind]?.slice(before[kind]?.length ?? 0) ?? []] as const)
      .filter(([, list]) => list.length > 0),
  );

const mirrorsSince = (now: MirrorCounts, before: MirrorCounts = { compared: 0, mismatched: 0 }): MirrorCounts => ({
  compared: now.compared - before.compared,
  mismatched: now.mismatched - before.mismatched,
});

/** Returns undefined where there is nothing to add up. */
export function sumOfMirrors(list: readonly (MirrorCounts | undefined)[]): MirrorCounts | undefined {
  let sum: MirrorCounts | undefined;
  for (const each of list) {
    if (each === undefined) continue;
    const { compared = 0, mismatched = 0 } = sum ?? {};
    sum = { compared: compared + each.compared, mismatched: mismatched + each.mismatched };
  }
  return sum;
}

export function sumOf(one: TrafficCounts, other: TrafficCounts): TrafficCounts {
  const mirror = sumOfMirrors([one.mirror, other.mirror]);
  const shadow = sumOfShadows([one.shadow, other.shadow]);
  const examples = one.examples ?? other.examples;
  const [longer, shorter] = one.latency.length >= other.latency.length ? [one, other] : [other, one];
  return {
    requests: one.requests + other.requests,
    serverErrors: one.serverErrors + other.serverErrors,
    clientErrors: one.clientErrors + other.clientErrors,
    proxyErrors: one.proxyErrors + other.proxyErrors,
    ...((one.refusals ?? other.refusals) !== undefined && { refusals: (one.refusals ?? 0) + (other.refusals ?? 0) }),
    latency: longer.latency.map((count, at) => count + (shorter.latency[at] ?? 0)),
    ...(mirror && { mirror }),
    ...(shadow && { shadow }),
    ...(examples && { examples: joinedExamples([one.examples ?? {}, other.examples ?? {}]) }),
  };
}

export const noTraffic: TrafficCounts = { requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0, latency: [] };

/** Returns the counts between two readings; all of the later one when it has started again at zero. */
export const since = (now: TrafficCounts, before: TrafficCounts): TrafficCounts =>
  now.requests < before.requests ? now : difference(now, before);
