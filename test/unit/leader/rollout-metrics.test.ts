import { expect } from 'chai';
import { RolloutMetrics } from '../../../src/leader/rollout-metrics.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { activate, applyAll, capture, rollout } from '../../support/commands.ts';
import { plan } from '../../support/random-commands.ts';

describe('metrics of rollouts', () => {
  it('show the share under way, and each end once', async () => {
    const state = new ConfigState();
    applyAll(state, capture('a'), capture('b'), activate('a'));
    const metrics = new RolloutMetrics(state);
    const apply = (...commands: Parameters<typeof rollout>[]): void => {
      for (const command of commands) {
        applyAll(state, rollout(...command));
        metrics.changed();
      }
    };
    const text = (): Promise<string> => metrics.registry.metrics();
    apply(['r1', { action: 'start', snapshotId: 'b', plan }]);
    expect(await text()).to.match(/^sluice_rollout_share 10$/m);
    apply(['r1', { action: 'abort' }], ['r2', { action: 'start', snapshotId: 'b', plan }]);
    apply(['r2', { action: 'promote', finish: true }]);
    metrics.changed();
    expect(await text()).to.match(/^sluice_rollout_share 0$/m);
    expect(await text()).to.contain('sluice_rollouts_total{outcome="aborted"} 1');
    expect(await text()).to.contain('sluice_rollouts_total{outcome="completed"} 1');
    expect(await text()).to.contain('sluice_rollouts_total{outcome="rolledBack"} 0');
  });
});
