import { expect } from 'chai';
import { Registry } from 'prom-client';
import { addHistogram } from '../../../src/telemetry/counted-histogram.ts';
import { measureLoopLag } from '../../../src/telemetry/loop-lag.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { familiesOf, linesOf, sampleOf } from '../../support/metric-lines.ts';

describe('metrics', () => {
  it('count what is told, each process by itself', async () => {
    const [metrics, others] = [new Metrics(), new Metrics()];
    metrics.wrote('applied');
    metrics.wrote('applied');
    metrics.wrote('unknown');
    metrics.repeated();
    metrics.read('stale');
    metrics.applied(3);
    const { text, contentType } = await metrics.exposition();
    expect(contentType).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(linesOf(text, 'sluice_raft_proposals_total')).to.deep.equal([
      'sluice_raft_proposals_total{outcome="applied"} 2',
      'sluice_raft_proposals_total{outcome="not_applied"} 0',
      'sluice_raft_proposals_total{outcome="unknown"} 1',
    ]);
    expect(sampleOf(text, 'sluice_raft_deduplicated_total')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_reads_total{mode="stale"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_apply_seconds_bucket{le="0.0025"}')).to.equal(0);
    expect(sampleOf(text, 'sluice_raft_apply_seconds_bucket{le="0.005"}')).to.equal(1);
    expect(sampleOf((await others.exposition()).text, 'sluice_raft_deduplicated_total')).to.equal(0);
  });

  it('include what others count, as it is when it is asked for', async () => {
    const metrics = new Metrics();
    const counts = [1, 2, 0];
    metrics.include(async () => {
      const registry = new Registry();
      addHistogram(registry, 'elsewhere_seconds', 'Counted elsewhere.', { bounds: [0.1, 1], counts, sum: 1.5 });
      return registry;
    });
    expect(familiesOf((await metrics.exposition()).text)).to.include('elsewhere_seconds');
    counts[2] = 4;
    expect(linesOf((await metrics.exposition()).text, 'elsewhere_seconds')).to.deep.equal([
      'elsewhere_seconds_bucket{le="0.1"} 1',
      'elsewhere_seconds_bucket{le="1"} 3',
      'elsewhere_seconds_bucket{le="+Inf"} 7',
      'elsewhere_seconds_sum 1.5',
      'elsewhere_seconds_count 7',
    ]);
  });

  it('show by how much timers of the main thread are late', async () => {
    const metrics = new Metrics();
    const clock = new ManualClock();
    measureLoopLag(metrics, clock);
    clock.advance(100);
    clock.advance(400);
    const { text } = await metrics.exposition();
    expect(sampleOf(text, 'sluice_event_loop_lag_seconds_bucket{le="0.001"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_event_loop_lag_seconds_bucket{le="0.25"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_event_loop_lag_seconds_bucket{le="0.5"}')).to.equal(2);
    expect(sampleOf(text, 'sluice_event_loop_lag_seconds_sum')).to.equal(0.3);
  });
});
