import { expect } from 'chai';
import { upstreamMetrics } from '../../../src/telemetry/upstream-metrics.ts';

describe('metrics of upstreams beside those of listeners', () => {
  it('say which threads reach the store of sessions, and what mirrors did not get', async () => {
    const stores = [
      { thread: 'worker 1', reached: true },
      { thread: 'worker 2', reached: false },
    ];
    const text = await upstreamMetrics({ stores, lostCopies: [{ destination: 'm', count: 3 }] }).metrics();
    expect(text.split('\n').filter((line) => /^sluice/.test(line))).to.deep.equal([
      'sluice_session_store_up{thread="worker 1"} 1',
      'sluice_session_store_up{thread="worker 2"} 0',
      'sluice_mirror_copies_lost_total{destination="m"} 3',
    ]);
  });

  it('have their families also where there is nothing to say', async () => {
    const text = await upstreamMetrics({ stores: [], lostCopies: [] }).metrics();
    expect(text.match(/^# TYPE \S+/gm)).to.deep.equal([
      '# TYPE sluice_session_store_up',
      '# TYPE sluice_mirror_copies_lost_total',
    ]);
  });
});
