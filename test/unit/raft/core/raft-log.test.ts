import { expect } from 'chai';
import { RaftLog } from '../../../../raft/core/raft-log.ts';
import { seededRng } from '../../../../raft/core/rng.ts';
import { type BootState, type Entry, emptyConfig } from '../../../../raft/core/types.ts';

const noop = (index: number, term: number): Entry => ({ index, term, time: 0, kind: 'noop' });
const termsOf = (log: RaftLog) =>
  Array.from({ length: log.lastIndex - log.base.index }, (_, i) => log.term(log.base.index + 1 + i));

function logOf(terms: readonly number[], commit = 0): RaftLog {
  const boot: BootState = {
    hardState: { term: 9, vote: undefined, commit },
    base: { index: 0, term: 0 },
    entries: terms.map((term, at) => noop(at + 1, term)),
    checkpoint: undefined,
    suspect: false,
  };
  return new RaftLog(boot, 0);
}

describe('raft log', () => {
  it('replaces what differs and keeps what agrees', () => {
    const log = logOf([1, 1, 2, 2]);
    expect(log.merge([noop(2, 1), noop(3, 3)])).to.equal(3);
    expect(termsOf(log)).to.deep.equal([1, 1, 3]);
  });

  it('is not shortened by a shorter message', () => {
    const log = logOf([1, 1, 2, 2]);
    expect(log.merge([noop(2, 1)])).to.equal(undefined);
    expect(log.lastIndex).to.equal(4);
  });

  it('refuses to replace a committed entry', () => {
    expect(() => logOf([1, 1, 2], 2).merge([noop(2, 3)])).to.throw('committed');
  });

  it('takes an entry for durable only when nothing behind that write truncates it', () => {
    const log = logOf([]);
    log.append(noop(1, 1));
    log.append(noop(2, 1));
    log.take(1);
    log.merge([noop(2, 2)]);
    log.take(2);
    log.saved(1);
    expect(log.stable, 'the disk holds entry 2 of term 1').to.equal(1);
    log.saved(2);
    expect(log.stable).to.equal(2);
  });

  it('counts a truncation that is still in memory', () => {
    const log = logOf([]);
    log.append(noop(1, 1));
    log.take(1);
    log.merge([noop(1, 2)]);
    log.saved(1);
    expect(log.stable).to.equal(0);
  });

  it('forgets everything for a checkpoint, and calls it durable only after its own write', () => {
    const log = logOf([1, 1, 1]);
    const meta = { index: 9, term: 2, time: 5, config: emptyConfig, file: 'f', size: 1, sha256: 'x' };
    log.restore(meta);
    expect(log.take(1)).to.deep.include({ install: meta });
    log.append(noop(10, 2));
    expect(log.stable).to.equal(0);
    log.saved(1);
    expect([log.stable, log.firstIndex]).to.deep.equal([9, 10]);
  });

  it('keeps term and log time of the position it is compacted to', () => {
    const log = logOf([1, 2, 3], 2);
    expect(log.compactTo(2)).to.deep.equal({ index: 2, term: 2 });
    expect([log.term(1), log.term(2), log.term(3)]).to.deep.equal([undefined, 2, 3]);
  });

  it('hints at a position from which both logs agree within one probe for each term', () => {
    const rng = seededRng(3);
    const randomTerms = () => {
      let term = 1;
      return Array.from({ length: 1 + rng.below(12) }, () => {
        term += rng.below(3) === 0 ? 1 : 0;
        return term;
      });
    };
    for (let round = 0; round < 2_000; round += 1) {
      const [leader, follower] = [randomTerms(), randomTerms()];
      expect(probes(leader, follower)).to.be.at.most(1 + new Set([...leader, ...follower]).size);
    }
  });
});

/** Counts the appends that a leader sends until one is accepted. */
function probes(leader: readonly number[], follower: readonly number[]): number {
  const [leaderLog, followerLog] = [logOf(leader), logOf(follower)];
  let prev = leader.length;
  for (let count = 1; ; count += 1) {
    const term = leaderLog.term(prev)!;
    if (followerLog.term(prev) === term) return count;
    const hint = followerLog.agreementHint(prev, term);
    const next = leaderLog.agreementHint(hint.index, hint.term).index;
    for (let at = next + 1; at <= prev; at += 1)
      expect(leaderLog.term(at), `a hint never skips an agreement: ${leader} ${follower}`).to.not.equal(
        followerLog.term(at),
      );
    prev = Math.min(prev - 1, next);
  }
}
