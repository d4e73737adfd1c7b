import { expect } from 'chai';
import { ReportedFigures } from '../../../src/leader/reported-figures.ts';
import { type RolloutReport } from '../../../src/model/fleet-messages.ts';
import { latencyBuckets } from '../../../src/model/message-limits.ts';
import { noShadow } from '../../../src/model/shadow.ts';

const counts = (requests: number, serverErrors = 0) => ({
  requests,
  serverErrors,
  clientErrors: 0,
  proxyErrors: 0,
  latency: Array.from({ length: latencyBuckets }, (_, at) => (at === 10 ? requests : 0)),
});

describe('the figures of a rollout', () => {
  let words: Map<string, RolloutReport>;
  let figures: ReportedFigures;
  beforeEach(() => {
    words = new Map();
    figures = new ReportedFigures(() => words);
  });
  const say = (node: string, requests: number, more: Partial<RolloutReport> = {}) =>
    words.set(node, {
      rollout: 'r',
      life: node,
      candidate: counts(requests),
      stable: counts(10 * requests),
      proxies: [],
      ...more,
    });
  const seen = () => {
    const { candidate, stable } = figures.figures() ?? {};
    return [candidate?.requests, stable?.requests];
  };

  it('are what all nodes told since the step began', () => {
    say('a', 5);
    say('b', 7);
    figures.begin('r');
    expect(seen()).to.deep.equal([0, 0]);
    say('a', 6);
    say('b', 9);
    say('c', 4);
    expect(seen()).to.deep.equal([7, 70]);
    figures.begin('r');
    expect(seen()).to.deep.equal([0, 0]);
  });

  it('have the comparisons of mirrors since the step began, of both configurations', () => {
    const compared = (compared: number, mismatched: number) => ({ ...counts(1), mirror: { compared, mismatched } });
    say('a', 1, { stable: compared(100, 50) });
    figures.begin('r');
    expect(figures.figures()?.mirror).to.deep.equal({ compared: 0, mismatchShare: 0 });
    say('a', 1, { stable: compared(160, 55), candidate: compared(40, 5) });
    expect(figures.figures()?.mirror).to.deep.equal({ compared: 100, mismatchShare: 0.1 });
  });

  it('have the comparisons of shadow steps since the step began, of all nodes', () => {
    const shadow = (requests: number, lost: number) => ({ ...counts(0), shadow: { ...noShadow, requests, lost } });
    say('a', 0, { candidate: shadow(50, 5) });
    figures.begin('r');
    expect(figures.figures()?.shadow).to.deep.equal(noShadow);
    say('a', 0, { candidate: shadow(60, 5) });
    say('b', 0, { candidate: shadow(7, 1) });
    expect(figures.figures()?.shadow).to.deep.equal({ ...noShadow, requests: 17, lost: 1 });
    say('a', 0, { candidate: shadow(3, 2), life: 'another' });
    expect(figures.figures()?.shadow).to.deep.equal({ ...noShadow, requests: 20, lost: 3 });
  });

  it('keep what a node told that was started anew, and what one told that is gone', () => {
    say('a', 5);
    figures.begin('r');
    say('a', 15);
    expect(seen()).to.deep.equal([10, 100]);
    say('a', 2, { life: 'another' });
    expect(seen()).to.deep.equal([12, 120]);
    say('a', 3, { life: 'another' });
    expect(seen()).to.deep.equal([13, 130]);
  });

  it('are of one rollout, even while a node that lags still reports the one before', () => {
    say('a', 5, { rollout: 'earlier' });
    say('b', 1);
    figures.begin('r');
    say('a', 90, { rollout: 'earlier' });
    say('b', 2);
    expect(seen()).to.deep.equal([1, 10]);
    say('a', 3);
    expect(seen()).to.deep.equal([4, 40]);
  });

  it('count the proxies by what became of the candidate there', () => {
    const proxies = [
      { id: 'p', state: 'installed' },
      { id: 'q', state: 'pending' },
    ] as const;
    say('a', 0, { proxies });
    say('b', 0, { proxies: [{ id: 'b', state: 'refused' }], candidate: counts(4, 1) });
    figures.begin('r');
    say('b', 0, { proxies: [{ id: 'b', state: 'refused' }], candidate: counts(8, 3) });
    expect(figures.figures()?.proxies).to.deep.equal({ total: 3, installed: 1, refused: 1 });
    expect(figures.figures()?.candidate).to.deep.include({ requests: 4, errorRate: 0.5 });
  });
});
