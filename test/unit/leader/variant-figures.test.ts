import { expect } from 'chai';
import fc from 'fast-check';
import { variantFigures } from '../../../src/leader/variant-figures.ts';
import { type TrafficWindow } from '../../../src/model/fleet-messages.ts';
import { latencyBuckets } from '../../../src/model/message-limits.ts';

const growth = 2 ** (1 / 4);

function windowOf(durations: readonly number[], fields: Partial<TrafficWindow> = {}): TrafficWindow {
  const latency = new Array<number>(latencyBuckets).fill(0);
  for (const ms of durations) {
    let at = 0;
    for (let bound = 0.1; ms > bound && at < latencyBuckets - 1; bound *= growth) at += 1;
    latency[at] = (latency[at] ?? 0) + 1;
  }
  const counts = { requests: durations.length, serverErrors: 0, clientErrors: 0, proxyErrors: 0 };
  return { of: 'candidate', rollout: 'r', ...counts, latency, ...fields };
}

describe('figures of a side', () => {
  it('are all zero without requests', () => {
    expect(new Set(Object.values(variantFigures([])))).to.deep.equal(new Set([0]));
  });

  it('add up what proxies report; clients’ errors are not the candidate’s', () => {
    const windows = [
      windowOf([1, 1], { requests: 10, serverErrors: 1, clientErrors: 5, proxyErrors: 2 }),
      windowOf([2], { requests: 10, serverErrors: 3 }),
    ];
    expect(variantFigures(windows)).to.deep.include({
      requests: 20,
      serverErrors: 4,
      clientErrors: 5,
      proxyErrors: 2,
      errorRate: 0.3,
    });
  });

  it('tell percentiles never too low, and never by more than one bucket too high', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.2, max: 50_000, noNaN: true }), { minLength: 1 }), (durations) => {
        const sorted = [...durations].sort((a, b) => a - b);
        const figures = variantFigures([windowOf(durations)]);
        for (const [share, told] of [
          [0.5, figures.p50Ms],
          [0.95, figures.p95Ms],
          [0.99, figures.p99Ms],
        ] as const) {
          const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
          expect(told).to.be.within(exact * (1 - 1e-9), exact * growth * (1 + 1e-9));
        }
        const mean = durations.reduce((sum, ms) => sum + ms, 0) / durations.length;
        expect(figures.meanMs).to.be.within(mean / growth, mean * growth);
      }),
      { numRuns: 200, seed: 14 },
    );
  });
});
