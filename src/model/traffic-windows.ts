// From counts since the start of a process to what was served since the last report that arrived (fleet.md §4).
import type { TrafficWindow } from './fleet-messages.ts';

export type TrafficCounts = Omit<TrafficWindow, 'of' | 'rollout'>;

export interface PendingReport {
  readonly window: readonly TrafficWindow[];
  /** It has arrived: the next one begins where this one ends. Not called, the next one covers this time as well. */
  delivered(): void;
}

export class TrafficWindows {
  #before: TrafficCounts | undefined;

  report(now: TrafficCounts): PendingReport {
    const before = this.#before;
    const window: TrafficWindow = {
      of: 'stable',
      rollout: null,
      requests: now.requests - (before?.requests ?? 0),
      serverErrors: now.serverErrors - (before?.serverErrors ?? 0),
      clientErrors: now.clientErrors - (before?.clientErrors ?? 0),
      proxyErrors: now.proxyErrors - (before?.proxyErrors ?? 0),
      latency: now.latency.map((count, at) => count - (before?.latency[at] ?? 0)),
    };
    return {
      window: [window],
      delivered: () => {
        this.#before = now;
      },
    };
  }
}
