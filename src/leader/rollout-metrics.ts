// Metrics of rollouts: the share of the one under way, and how those ended that it saw end.
import { Counter, Gauge, Registry } from 'prom-client';
import { isUnderWay, type Rollout, shareOf } from '../state/rollout.ts';
import type { StateView } from '../state/view.ts';

const outcomes = ['completed', 'rolledBack', 'aborted'] as const;

export class RolloutMetrics {
  readonly registry = new Registry();
  readonly #view: Pick<StateView, 'rollouts'>;
  readonly #ended: Counter<'outcome'>;
  /** Epoch of the newest change that was seen. */
  #seen: number;

  constructor(view: Pick<StateView, 'rollouts'>) {
    this.#view = view;
    const share = (): number => {
      const rollout = view.rollouts.find(isUnderWay);
      return rollout === undefined ? 0 : shareOf(rollout);
    };
    new Gauge({
      name: 'sluice_rollout_share',
      help: 'Percent that the candidate of the rollout under way serves; 0 without one.',
      registers: [this.registry],
      collect() {
        this.set(share());
      },
    });
    this.#ended = new Counter({
      name: 'sluice_rollouts_total',
      help: 'Rollouts that ended since this node started, by how.',
      labelNames: ['outcome'],
      registers: [this.registry],
    });
    for (const outcome of outcomes) this.#ended.inc({ outcome }, 0);
    this.#seen = lastEpoch(view.rollouts);
  }

  /** To be called when a rollout began, changed or ended. */
  changed(): void {
    const { rollouts } = this.#view;
    for (const { state, epoch } of rollouts) {
      const outcome = outcomes.find((one) => one === state);
      if (epoch > this.#seen && outcome !== undefined) this.#ended.inc({ outcome });
    }
    this.#seen = lastEpoch(rollouts);
  }
}

const lastEpoch = (rollouts: readonly Rollout[]): number => Math.max(0, ...rollouts.map(({ epoch }) => epoch));
