// The fleet in the metrics of a node (fleet.md §5): the proxies whose streams it holds, and its own.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { proxyStates } from '../model/answers/fleet-answers.ts';
import type { ShadowCounts } from '../model/answers/rollout-answers.ts';
import { shadowCountNames } from '../model/shadow.ts';

const shadowResults = shadowCountNames.filter((name) => name !== 'requests');

export class FleetMetrics {
  readonly #convergence: Histogram;
  readonly #shadow: Counter<'result'>;

  constructor(registry: Registry, counts: () => Readonly<Record<string, number>>) {
    const registers = [registry];
    new Gauge({
      name: 'sluice_fleet_proxies',
      help: 'Proxies of this node, its own included, by how they are with the active configuration.',
      labelNames: ['state'],
      registers,
      collect() {
        const now = counts();
        for (const state of proxyStates) this.set({ state }, now[state] ?? 0);
      },
    });
    this.#convergence = new Histogram({
      name: 'sluice_activation_convergence_seconds',
      help: 'Time from an activation until every connected proxy of this node had installed it.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    });
    this.#shadow = new Counter({
      name: 'sluice_rollout_shadow_requests_total',
      help: 'Requests that proxies of this node matched against the candidate of a rollout too, by what differs.',
      labelNames: ['result'],
      registers,
    });
    for (const result of shadowResults) this.#shadow.inc({ result }, 0);
  }

  compared(counts: ShadowCounts): void {
    for (const result of shadowResults) this.#shadow.inc({ result }, counts[result]);
  }

  converged(seconds: number): void {
    this.#convergence.observe(seconds);
  }
}
