import { expect } from 'chai';
import { RolloutTally } from '../../../src/fleet/rollout-tally.ts';
import type { ShadowExample } from '../../../src/model/answers/rollout-answers.ts';
import { type TrafficWindow } from '../../../src/model/fleet-messages.ts';
import { latencyBuckets } from '../../../src/model/message-limits.ts';
import { noShadow, noShadowExamples } from '../../../src/model/shadow.ts';
import { noTraffic, TrafficWindows } from '../../../src/model/traffic-windows.ts';

const example = (path: string): ShadowExample => ({
  ...{ time: '2026-01-01T00:00:00Z', method: 'GET', host: 'h', path, params: [] },
  ...{ from: { id: 'r', name: 'r' }, to: null, what: ['route'] },
});
const counts = {
  ...{ requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0 },
  latency: new Array<number>(latencyBuckets).fill(0),
};
const window = (rollout: string, lost: number, ...paths: readonly string[]): TrafficWindow => ({
  ...{ of: 'candidate', rollout, ...counts },
  shadow: { ...noShadow, requests: 10, lost },
  examples: { lost: paths.map(example) },
});

describe('the tally of a rollout', () => {
  it('keeps the comparisons of a rollout after its end, with late reports, until another begins', () => {
    const tally = new RolloutTally();
    tally.follow('r');
    tally.add([window('r', 1, '/a'), window('earlier', 9, '/z')]);
    expect(tally.word()).to.deep.include({ rollout: 'r' });
    expect(tally.word().candidate).to.not.have.property('examples');
    tally.follow(undefined);
    tally.add([window('r', 2, '/b')]);
    expect(tally.word()).to.deep.equal({ rollout: null, candidate: noTraffic, stable: noTraffic });
    expect(tally.shadow()).to.deep.equal({
      rollout: 'r',
      counts: { ...noShadow, requests: 20, lost: 3 },
      examples: { ...noShadowExamples, lost: [example('/a'), example('/b')] },
    });
    tally.follow('s');
    expect(tally.shadow()).to.deep.equal({ rollout: 's', counts: noShadow, examples: noShadowExamples });
  });

  it('keeps at most a hundred examples of a kind', () => {
    const tally = new RolloutTally();
    tally.follow('r');
    for (let at = 0; at < 30; at++) tally.add([window('r', 5, ...Array.from({ length: 5 }, (_, n) => `/${at}/${n}`))]);
    expect(tally.shadow().examples.lost).to.have.lengthOf(100);
  });
});

describe('windows of traffic', () => {
  it('tell each comparison and each example once, and those of a lost report again', () => {
    const windows = new TrafficWindows();
    const served = (lost: number, ...paths: readonly string[]) => ({
      stable: counts,
      candidate: {
        ...counts,
        shadow: { ...noShadow, requests: 2 * lost, lost },
        examples: { ...noShadowExamples, lost: paths.map(example) },
      },
    });
    const told = (list: readonly TrafficWindow[]) => {
      const { shadow, examples } = list.find(({ of }) => of === 'candidate') ?? {};
      return [shadow?.requests, shadow?.lost, examples?.lost?.map(({ path }) => path) ?? []];
    };
    windows.begin('r', { stable: counts, candidate: counts });
    const first = windows.report(served(1, '/a'));
    expect(told(first.window)).to.deep.equal([2, 1, ['/a']]);
    first.delivered();
    expect(told(windows.report(served(3, '/a', '/b')).window)).to.deep.equal([4, 2, ['/b']]);
    expect(told(windows.report(served(4, '/a', '/b', '/c')).window)).to.deep.equal([6, 3, ['/b', '/c']]);
  });
});
