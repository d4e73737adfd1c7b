import { expect } from 'chai';
import fc from 'fast-check';
import type { TrafficWindow } from '../../../src/model/fleet-messages.ts';
import {
  noTraffic,
  since,
  sumOf,
  type TrafficCounts,
  TrafficWindows,
  type VariantCounts,
} from '../../../src/model/traffic-windows.ts';

const counts = (requests: number): TrafficCounts => ({
  requests,
  serverErrors: Math.floor(requests / 2),
  clientErrors: 0,
  proxyErrors: 0,
  latency: [requests, 0],
});
const sides = (stable: number, candidate = 0): VariantCounts => ({
  stable: counts(stable),
  candidate: counts(candidate),
});
const told = (window: readonly TrafficWindow[]) =>
  window.map(({ of, rollout, requests }) => `${of} ${rollout ?? '-'} ${requests}`);

describe('windows of traffic', () => {
  it('hold what came since the last one that arrived', () => {
    const windows = new TrafficWindows();
    const first = windows.report(sides(10));
    expect(told(first.window)).to.deep.equal(['stable - 10']);
    expect(told(windows.report(sides(15)).window), 'the first is lost').to.deep.equal(['stable - 15']);
    const third = windows.report(sides(17));
    expect(told(third.window)).to.deep.equal(['stable - 17']);
    third.delivered();
    expect(told(windows.report(sides(20)).window)).to.deep.equal(['stable - 3']);
  });

  it('are apart for each rollout: what was served before a candidate says nothing of it', () => {
    const windows = new TrafficWindows();
    windows.begin('r1', sides(10, 3));
    const first = windows.report(sides(14, 5));
    expect(told(first.window)).to.deep.equal(['stable - 10', 'stable r1 4', 'candidate r1 2']);
    first.delivered();
    windows.begin('r2', sides(15, 6));
    windows.begin(null, sides(20, 8));
    expect(told(windows.report(sides(21, 8)).window)).to.deep.equal([
      'stable r1 1',
      'candidate r1 1',
      'stable r2 5',
      'candidate r2 2',
      'stable - 1',
    ]);
  });

  it('report every request once, also when reports are lost', () => {
    const step = fc.record({ stable: fc.nat(20), candidate: fc.nat(20), arrives: fc.boolean(), begins: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const windows = new TrafficWindows();
        const arrived: TrafficWindow[] = [];
        let [stable, candidate] = [0, 0];
        windows.begin('r', sides(0));
        for (const each of steps) {
          stable += each.stable;
          candidate += each.candidate;
          if (each.begins) windows.begin('r', sides(stable, candidate));
          const report = windows.report(sides(stable, candidate));
          if (!each.arrives) continue;
          report.delivered();
          arrived.push(...report.window);
        }
        arrived.push(...windows.report(sides(stable, candidate)).window);
        const sum = (of: string) =>
          arrived.filter((each) => each.of === of).reduce((total, { requests }) => total + requests, 0);
        expect([sum('stable'), sum('candidate')]).to.deep.equal([stable, candidate]);
      }),
    );
  });

  it('are added up, and told apart from what was there before', () => {
    expect(sumOf(counts(3), noTraffic)).to.deep.equal(counts(3));
    expect(sumOf(noTraffic, counts(3))).to.deep.equal(counts(3));
    expect(since(counts(8), counts(6))).to.deep.include({ requests: 2, latency: [2, 0] });
    expect(since(counts(2), counts(6)), 'it began anew').to.deep.equal(counts(2));
  });
});
