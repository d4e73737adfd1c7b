import { expect } from 'chai';
import { upstreamMetrics } from '../../../src/telemetry/upstream-metrics.ts';

describe('metrics of upstreams beside those of listeners', () => {
  it('say which threads reach the store of sessions, what mirrors did not get, and what signed cookies led to', async () => {
    const stores = [
      { thread: 'worker 1', reached: true },
      { thread: 'worker 2', reached: false },
    ];
    const text = await upstreamMetrics({
      stores,
      lostCopies: [{ destination: 'm', count: 3 }],
      cookies: { kept: 7 },
    }).metrics();
    expect(text.split('\n').filter((line) => /^sluice/.test(line))).to.deep.equal([
      'sluice_session_store_up{thread="worker 1"} 1',
      'sluice_session_store_up{thread="worker 2"} 0',
      'sluice_mirror_copies_lost_total{destination="m"} 3',
      'sluice_signed_cookies_total{result="kept"} 7',
    ]);
  });

  it('have their families also where there is nothing to say', async () => {
    const text = await upstreamMetrics({ stores: [], lostCopies: [], cookies: {} }).metrics();
    expect(text.match(/^# TYPE \S+/gm)).to.deep.equal([
      '# TYPE sluice_session_store_up',
      '# TYPE sluice_mirror_copies_lost_total',
      '# TYPE sluice_signed_cookies_total',
    ]);
  });
});
