import { expect } from 'chai';

import { type Evidence, judge } from '../../../../raft/store/log-verdict.ts';

describe('the verdict at start', () => {
  it('is clean when nothing is wrong', () => expect(verdict({})).to.equal('clean'));

  it('is clean for an empty directory without a witness', () => {
    expect(verdict({ empty: true, persistSeq: 0, testimony: 'absent' })).to.equal('clean');
  });

  it('is clean when the witness lags behind: it may be late', () => {
    expect(verdict({ testimony: { synced: 9 }, persistSeq: 12 })).to.equal('clean');
  });

  it('is suspect when bytes were dropped after a crash: they may never have been acknowledged', () => {
    expect(verdict({ complaints: ['dropping 40 bytes'] })).to.equal('suspect');
  });

  it('stays suspect until its suspicion is settled', () => {
    expect(verdict({ suspicion: 'dropping 40 bytes' })).to.equal('suspect');
  });

  it('is suspect without a readable witness', () => {
    expect(verdict({ testimony: 'damaged' })).to.equal('suspect');
    expect(verdict({ testimony: 'absent' })).to.equal('suspect');
  });

  it('is poisoned when bytes were dropped after a clean stop', () => {
    expect(verdict({ complaints: ['dropping 40 bytes'], stoppedCleanly: true })).to.equal('poisoned');
  });

  it('is poisoned when a batch that the witness saw is gone, an empty database included', () => {
    expect(verdict({ testimony: { synced: 13 }, persistSeq: 12 })).to.equal('poisoned');
    expect(verdict({ empty: true, persistSeq: 0 })).to.equal('poisoned');
  });

  it('is poisoned by any hole, mismatch or damaged record', () => {
    expect(verdict({ problems: ['entry 7 is missing'] })).to.equal('poisoned');
  });

  it('stays poisoned, for the first reason, with any later finding', () => {
    const found = judge({ ...sound, poison: 'write failed: EIO', problems: ['entry 7 is missing'] });
    expect(found).to.deep.equal({ kind: 'poisoned', reason: 'write failed: EIO' });
  });
});

const sound: Evidence = {
  empty: false,
  problems: [],
  complaints: [],
  testimony: { synced: 12 },
  persistSeq: 12,
  stoppedCleanly: false,
  poison: undefined,
  suspicion: undefined,
};

function verdict(different: Partial<Evidence>): string {
  return judge({ ...sound, ...different }).kind;
}
