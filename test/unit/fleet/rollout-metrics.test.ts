import { expect } from 'chai';
import { Registry } from 'prom-client';
import { rolloutMetrics } from '../../../src/fleet/rollout-metrics.ts';
import type { Rollout } from '../../../src/state/rollout.ts';

const rollout = (id: string, state: Rollout['state'], share = 10): Rollout =>
  ({ id, state, step: 0, plan: { steps: [{ share, holdMs: 0 }] } }) as unknown as Rollout;

describe('metrics of rollouts', () => {
  it('show the share of the one under way, and count each that is over once', async () => {
    const registry = new Registry();
    let rollouts: Rollout[] = [];
    rolloutMetrics(registry, () => rollouts);
    const lines = async () => (await registry.metrics()).split('\n').filter((line) => /^sluice/.test(line));
    expect(await lines()).to.deep.equal([
      'sluice_rollout_share 0',
      'sluice_rollouts_total{outcome="completed"} 0',
      'sluice_rollouts_total{outcome="rolledBack"} 0',
      'sluice_rollouts_total{outcome="aborted"} 0',
    ]);
    rollouts = [rollout('a', 'completed'), rollout('b', 'rolledBack'), rollout('c', 'paused', 30)];
    for (const _ of [1, 2]) {
      expect(await lines()).to.include.members([
        'sluice_rollout_share 30',
        'sluice_rollouts_total{outcome="completed"} 1',
        'sluice_rollouts_total{outcome="rolledBack"} 1',
      ]);
    }
    rollouts = [rollout('c', 'completed')];
    expect(await lines()).to.include.members([
      'sluice_rollout_share 0',
      'sluice_rollouts_total{outcome="completed"} 2',
    ]);
  });
});
