// Rollouts in the metrics of a node (fleet.md §5), from the agreed state: the same on every node.
import { Counter, Gauge, type Registry } from 'prom-client';
import { isUnderWay, type Rollout, shareOf } from '../state/rollout.ts';

const outcomes = ['completed', 'rolledBack', 'aborted'] as const;
type Outcome = (typeof outcomes)[number];

/** @param rollouts those that are kept; what is over is counted once, when it is seen to be. */
export function rolloutMetrics(registry: Registry, rollouts: () => readonly Rollout[]): void {
  const registers = [registry];
  const counted = new Set<string>();
  new Gauge({
    name: 'sluice_rollout_share',
    help: 'Percent of clients or proxies that the candidate of the rollout under way serves; 0 without one.',
    registers,
    collect() {
      const underWay = rollouts().find(isUnderWay);
      this.set(underWay === undefined ? 0 : shareOf(underWay));
    },
  });
  new Counter({
    name: 'sluice_rollouts_total',
    help: 'Rollouts that are over, by how they ended.',
    labelNames: ['outcome'],
    registers,
    collect() {
      const kept = rollouts();
      for (const outcome of outcomes) this.inc({ outcome }, 0);
      for (const { id, state } of kept) {
        if (!isOutcome(state) || counted.has(id)) continue;
        counted.add(id);
        this.inc({ outcome: state });
      }
      const ids = new Set(kept.map(({ id }) => id));
      for (const id of counted) if (!ids.has(id)) counted.delete(id);
    },
  });
}

const isOutcome = (state: string): state is Outcome => outcomes.some((outcome) => outcome === state);
