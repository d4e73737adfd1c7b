import { expect } from 'chai';
import { SluiceError } from '../../../src/errors.ts';
import { Convergences, wantOf } from '../../../src/fleet/convergence.ts';

type State = 'installed' | 'refused' | 'pending';

const node = (states: Readonly<Record<string, State>>) => ({
  proxies: Object.entries(states).map(([id, state]) => ({ id, state, problems: [] })),
});

describe('how many are waited for', () => {
  it('is all, a number or a share', () => {
    expect(wantOf('all')).to.deep.equal({ is: 'all' });
    expect(wantOf('12')).to.deep.equal({ is: 'count', amount: 12 });
    expect(wantOf('99.5%')).to.deep.equal({ is: 'percent', amount: 99.5 });
    for (const text of ['', 'some', '1.5', '-1', '101%', '%', '1e3', ' 1']) {
      expect(() => wantOf(text), text).to.throw(SluiceError);
    }
  });
});

describe('convergence', () => {
  it('is there when all have it, on every node', () => {
    const convergences = new Convergences({ is: 'all' });
    convergences.heard('a', node({ a: 'installed', p: 'pending' }));
    convergences.heard('b', node({ b: 'installed' }));
    expect(convergences.isOver).to.equal(false);
    convergences.heard('a', node({ a: 'installed', p: 'installed' }));
    expect(convergences.isOver).to.equal(true);
    expect(convergences.result(12.4)).to.deep.equal({
      wanted: 3,
      installed: 3,
      refused: 0,
      pending: 0,
      pendingProxies: [],
      unheard: [],
      tookMs: 12,
      refusals: [],
    });
  });

  it('counts a number however many there are, and a share of those that there are, rounded up', () => {
    const of = (text: string) => {
      const convergences = new Convergences(wantOf(text));
      convergences.heard('a', node({ a: 'installed', p: 'installed', q: 'pending', r: 'pending' }));
      return [convergences.result(0).wanted, convergences.isOver];
    };
    expect([of('2'), of('3'), of('12'), of('50%'), of('51%'), of('0%')]).to.deep.equal([
      [2, true],
      [3, false],
      [12, false],
      [2, true],
      [3, false],
      [0, true],
    ]);
  });

  it('is over as soon as one refuses', () => {
    const convergences = new Convergences({ is: 'all' });
    const problems = [{ pointer: '/routes/r', message: 'no' }];
    convergences.heard('a', { proxies: [{ id: 'a', state: 'refused', problems }, ...node({ p: 'pending' }).proxies] });
    expect(convergences.isOver).to.equal(true);
    expect(convergences.result(0)).to.deep.include({ refused: 1, refusals: [{ proxy: 'a', problems }] });
  });

  it('waits for one that leaves, knows it again on another node, and sees two of one id', () => {
    const convergences = new Convergences({ is: 'all' });
    convergences.heard('a', node({ a: 'installed', p: 'pending' }));
    convergences.heard('a', node({ a: 'installed' }));
    expect(convergences.result(0)).to.deep.include({ wanted: 2, pending: 1, pendingProxies: ['p'] });
    convergences.heard('b', node({ b: 'installed', p: 'installed' }));
    expect(convergences.result(0)).to.deep.include({ wanted: 3, installed: 3, pending: 0 });
    convergences.heard('a', node({ a: 'installed', p: 'pending' }));
    expect(convergences.result(0)).to.deep.include({ wanted: 4, installed: 3, pendingProxies: ['p'] });
  });

  it('holds a node that does not answer for a proxy that is pending', () => {
    const convergences = new Convergences({ is: 'all' });
    convergences.heard('a', node({ a: 'installed' }));
    convergences.unheard('b');
    expect(convergences.result(0)).to.deep.include({ wanted: 2, pendingProxies: ['b'] });
    convergences.heard('b', node({ b: 'installed' }));
    convergences.unheard('b');
    expect(convergences.isOver).to.equal(true);
  });
});
