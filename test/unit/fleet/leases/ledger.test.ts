import { expect } from 'chai';
import { Ledger } from '../../../../src/fleet/leases/lease-ledger.ts';
import type { LeaseGrant, LeaseLine } from '../../../../src/model/answers/lease-answers.ts';

const rate = { id: 'l', requestsPerSecond: 10, burst: 100 };
const nothing: LeaseLine = { key: 'k', share: 0, level: 0, back: 0, want: 0, used: 0 };

describe('the ledger of leases', () => {
  let ledger: Ledger;
  let seq: number;

  beforeEach(() => {
    ledger = new Ledger();
    ledger.begin([], 0);
    seq = 0;
  });

  const take = (holder: string, line: Partial<LeaseLine>, nowMs: number, limit = rate): LeaseGrant => {
    const report = { seq: ++seq, limits: [{ ...limit, keys: [{ ...nothing, ...line }] }] };
    const grant = ledger.take(holder, report, nowMs)?.limits[0]?.keys[0];
    if (grant === undefined) throw new Error('no answer');
    return grant;
  };

  /** All tokens that a proxy gets which asks until nothing is left. */
  const drain = (holder: string, nowMs: number, key = 'k'): number => {
    let share = 0;
    let got = 0;
    for (;;) {
      const grant = take(holder, { key, share, want: 10, used: 10 }, nowMs);
      if (grant.grant === 0) return got;
      share = grant.share;
      got += grant.grant;
    }
  };

  it('grants a proxy that asks more than it lacks, and all that there is in the end', () => {
    expect(take('p', { want: 1 }, 0)).to.include({ share: 2, grant: 2, left: 98, state: 'granted' });
    expect(drain('q', 0)).to.be.closeTo(98, 1e-6);
  });

  it('answers dry when nothing is left anywhere, and again when others hold tokens beyond their due', () => {
    take('p', { want: 100, used: 100 }, 0);
    expect(take('p', { share: 100, level: 0, used: 100 }, 100).state).to.equal('granted');
    expect(take('q', { want: 1 }, 100)).to.include({ grant: 0, state: 'dry' });
    take('p', { share: 100, level: 80 }, 200);
    expect(take('q', { want: 1 }, 300)).to.include({ grant: 0, state: 'again' });
  });

  it('takes back from a proxy that holds more than its due, and gives that once the proxy has confirmed it', () => {
    take('p', { want: 50, used: 10 }, 0);
    take('q', { want: 1, used: 10 }, 10);
    const { share } = take('p', { share: 100, level: 80 }, 20);
    expect(share).to.be.within(1, 99);
    expect(take('q', { want: 1 }, 30).grant).to.equal(0);
    const back = 80 * (1 - share / 100);
    take('p', { share, level: 80 - back, back }, 40);
    expect(take('q', { want: 1 }, 50).grant).to.be.within(1, back + 0.1);
  });

  it('credits what is given back once, however often a report says it', () => {
    take('p', { want: 50 }, 0);
    for (const nowMs of [10, 20, 30]) take('p', { share: 50, level: 0, back: 50 }, nowMs);
    expect(drain('q', 30)).to.be.at.most(50.5);
  });

  it('passes over reports that come late', () => {
    expect(ledger.take('p', { seq: 2, limits: [] }, 0)).to.be.an('object');
    for (const late of [1, 2]) expect(ledger.take('p', { seq: late, limits: [] }, 0), String(late)).to.equal(undefined);
  });

  it('keeps the part of a silent proxy for 60 s', () => {
    expect(take('p', { want: 50 }, 0).share).to.equal(100);
    expect(drain('q', 59_000)).to.equal(0);
    expect(take('q', {}, 61_000).grant).to.equal(0);
    expect(drain('q', 81_000)).to.equal(100);
  });

  it('keeps the part of a proxy whose stream ended for 7 s', () => {
    take('p', { want: 50 }, 0);
    ledger.ended('p', 5_000);
    expect(drain('q', 6_000)).to.equal(0);
    ledger.ended('p', 7_000);
    expect(drain('q', 12_000)).to.be.closeTo(50, 0.001);
  });

  it('keeps the part of a proxy that was heard after its stream had ended', () => {
    take('p', { want: 50 }, 0);
    take('p', { share: 100 }, 5_000);
    ledger.ended('p', 7_000);
    expect(drain('q', 12_000)).to.equal(0);
  });

  it('moves nothing of limits of a former leader for 3 s, and begins their budgets empty', () => {
    ledger.begin(['l'], 0);
    expect(take('p', { share: 40, level: 10, want: 5 }, 1_000)).to.include({ share: 40, grant: 0, state: 'settling' });
    expect(take('q', { key: 'other', want: 5 }, 1_000).state).to.equal('settling');
    // 10 tokens a second from then on, less the share that a proxy fills by itself.
    expect(take('q', { key: 'new', want: 100 }, 4_000).grant).to.be.closeTo(10, 0.001);
    expect(take('q', { want: 100 }, 4_000).grant).to.be.closeTo(6, 0.001);
  });

  it('begins the budgets of limits full that are activated under it', () => {
    ledger.begin(['another'], 0);
    expect(take('p', { want: 100 }, 10).grant).to.equal(100);
  });

  it('lets keys beyond its places share one budget, and forgets budgets that are whole and not held', () => {
    ledger = new Ledger(2);
    ledger.begin([], 0);
    expect(['a', 'b'].map((key) => drain(key, 0, key))).to.deep.equal([100, 100]);
    expect(drain('p', 0, 'c') + drain('q', 0, 'd')).to.be.closeTo(100, 1e-6);
    expect(ledger.size.budgets).to.equal(2);
    for (const key of ['a', 'b']) take(key, { key }, 200_000);
    for (const nowMs of [300_000, 400_000, 500_000]) take('x', { key: 'z', want: 1 }, nowMs);
    expect(ledger.size.budgets).to.equal(1);
  });

  it('asks for fewer reports the more proxies there are', () => {
    const paces = [1, 100, 1_000].map((count) => {
      for (let proxy = 0; proxy < count; proxy++) ledger.take(`${count} ${proxy}`, { seq: 1, limits: [] }, 0);
      return ledger.take(`last ${count}`, { seq: 1, limits: [] }, 0)?.paceMs;
    });
    expect(paces).to.deep.equal([250, 515, 2_000]);
  });
});
