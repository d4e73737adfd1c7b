import { expect } from 'chai';
import type { Entry } from '../../../../raft/core/types.ts';
import { clusterOf, everyProtection, ledByFirst, line, propose, tick } from './cluster-builder.ts';

describe('election', () => {
  it('sends vote requests only after the own vote is durable', () => {
    const cluster = clusterOf(3, { asyncPersist: true });
    cluster.node(1).core.campaign();
    cluster.node(1).ready();
    expect(cluster.wire).to.deep.equal([]);
    cluster.node(1).persistOne();
    expect(cluster.wire.map(({ type }) => type)).to.deep.equal(['vote', 'vote']);
  });

  it('does not count the own vote before it is durable', () => {
    const cluster = clusterOf(1, { asyncPersist: true });
    cluster.node(1).core.campaign();
    cluster.node(1).ready();
    expect(line(cluster, 1)).to.equal('candidate t1 c10/10');
    cluster.node(1).persistOne();
    expect(line(cluster, 1)).to.match(/^leader t1/);
  });

  it('refuses a candidate whose log ends earlier', () => {
    const cluster = ledByFirst(3);
    propose(cluster, 1, 'a');
    cluster.stabilize([1, 2]);
    cluster.deliver([], [3]);
    cluster.node(3).core.campaign();
    cluster.stabilize([2, 3]);
    expect(cluster.node(3).core.inspect().role).to.not.equal('leader');
  });

  it('asks for no more than the configuration that takes its vote, though it holds more and does not know that committed', () => {
    const head = { clusterId: 'scenario', from: '1#1', to: '2#1' } as const;
    const votes = [10, 11].map((lastIndex) => {
      const cluster = clusterOf(2);
      const { core } = cluster.node(2);
      const { config } = core.inspect();
      const entries: Entry[] = [
        { index: 11, term: 1, time: 0, kind: 'config', config: { ...config, voters: ['1#1'], removed: ['2#1'] } },
        { index: 12, term: 1, time: 0, kind: 'noop' },
      ];
      const known = { commit: 10, sendSeq: 1, youAcked: 0, vouchedBoot: 0 };
      const prev = { prevIndex: 10, prevTerm: core.inspect().log.term(10) ?? 0 };
      core.step({ ...head, ...known, ...prev, type: 'append', term: 1, entries });
      core.step({ ...head, type: 'removed', term: 1, index: 11 });
      const lastTerm = lastIndex === 10 ? prev.prevTerm : 1;
      core.step({ ...head, type: 'vote', term: 2, lastIndex, lastTerm, nonce: 1, transfer: false });
      cluster.node(2).ready();
      const answer = cluster.wire.find(({ type }) => type === 'voteResp');
      return answer?.type === 'voteResp' && answer.granted;
    });
    expect(votes).to.deep.equal([false, true]);
  });

  it('of a voter on its way out needs all that its removal may have been committed by, not the entry alone', () => {
    const cluster = ledByFirst(3);
    const drop = () => cluster.deliver([], cluster.ids);
    /** Everyone hears of the term, and 3 alone answers. */
    const campaign = (id: number) => {
      cluster.node(id).core.campaign();
      cluster.node(id).ready();
      cluster.deliver([1, 2, 3].filter((other) => other !== id));
      cluster.node(3).ready();
      cluster.deliver([id], cluster.ids);
      cluster.node(id).ready();
    };
    // The removal is in the log of 1 alone when 2 takes over, whose first entry reaches no other.
    cluster.proposeConf(1, [['remove', 3]], 'auto');
    cluster.stabilize([1]);
    drop();
    campaign(2);
    cluster.stabilize([2]);
    drop();
    expect(line(cluster, 2)).to.equal('leader t2 c11/12');
    // 1 is back, and its first entry of term 3 commits the removal by the disks of 1 and 3.
    campaign(1);
    cluster.stabilize([1, 3]);
    drop();
    expect(cluster.node(1).core.inspect().config.voters).to.deep.equal(['1#1', '2#1']);
    // With the log of term 2 and the vote of 3 it would be led without its removal.
    campaign(2);
    expect(cluster.node(2).core.inspect()).to.include({ role: 'candidate', term: 4 });
    // The same when 3 knows that it was removed.
    const { core } = cluster.node(3);
    core.step({ clusterId: 'scenario', from: '1#1', to: '3#1', term: 4, type: 'removed', index: 12 });
    campaign(2);
    expect(cluster.node(2).core.inspect()).to.include({ role: 'candidate', term: 5 });
    cluster.node(1).core.campaign();
    cluster.stabilize([1, 2]);
    expect(cluster.node(1).core.inspect()).to.include({ role: 'leader', term: 6 });
  });

  it('does not need what came after the news of the removal: the last voter left may have lost it again', () => {
    const head = { clusterId: 'scenario', from: '1#1', to: '2#1' } as const;
    const cluster = clusterOf(2);
    const { core } = cluster.node(2);
    const { config } = core.inspect();
    const append = (term: number, prevIndex: number, prevTerm: number, entry: Entry) =>
      core.step({
        ...{ ...head, type: 'append', term, prevIndex, prevTerm, entries: [entry] },
        ...{ commit: 10, sendSeq: 1, youAcked: 0, vouchedBoot: 0 },
      });
    const removal: Entry = {
      ...{ index: 11, term: 1, time: 0, kind: 'config' },
      config: { ...config, voters: ['1#1'], removed: ['2#1'] },
    };
    append(1, 10, 1, removal);
    core.step({ ...head, type: 'removed', term: 1, index: 11 });
    append(2, 11, 1, { index: 12, term: 2, time: 0, kind: 'noop' });
    core.step({ ...head, type: 'vote', term: 3, lastIndex: 11, lastTerm: 1, nonce: 1, transfer: false });
    cluster.node(2).ready();
    expect(cluster.wire.find(({ type }) => type === 'voteResp')).to.include({ granted: true });
  });

  it('leaves a leader alone that is still heard', () => {
    const cluster = ledByFirst(3, everyProtection);
    cluster.node(3).core.campaign();
    cluster.stabilize();
    expect([1, 2, 3].map((id) => line(cluster, id))).to.deep.equal([
      'leader t1 c11/11',
      'follower t1 c11/11',
      'preCandidate t1 c11/11',
    ]);
  });

  it('polls without raising any term', () => {
    const cluster = clusterOf(3, everyProtection);
    cluster.node(2).core.campaign();
    cluster.node(2).ready();
    cluster.deliver([1, 3]);
    expect([1, 2, 3].map((id) => cluster.node(id).core.inspect().term)).to.deep.equal([0, 0, 0]);
  });

  it('tells a lagging candidate the term, even in answer to a poll', () => {
    const cluster = clusterOf(2, everyProtection);
    for (let round = 0; round < 2; round += 1) {
      cluster.node(2).core.campaign();
      cluster.node(2).ready();
      cluster.deliver([1]);
      cluster.node(1).ready();
      cluster.deliver([2]);
      cluster.node(2).ready();
      cluster.deliver([], [1]);
      tick(cluster, 2, 6);
    }
    const { term } = cluster.node(2).core.inspect();
    cluster.node(1).core.campaign();
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.deliver([1]);
    expect(cluster.node(1).core.inspect().term).to.equal(term);
  });

  it('lets a learner vote that does not know of its promotion', () => {
    const cluster = ledByFirst(2);
    cluster.addNodes({ n: 1, voters: [1, 2], learners: [3], index: 10 });
    cluster.node(3).core.step({
      clusterId: 'scenario',
      from: '1#1',
      to: '3#1',
      term: 5,
      type: 'vote',
      lastIndex: 11,
      lastTerm: 1,
      nonce: 1,
      transfer: false,
    });
    cluster.node(3).ready();
    expect(cluster.wire).to.deep.include.members([
      { clusterId: 'scenario', from: '3#1', to: '1#1', term: 5, type: 'voteResp', granted: true, nonce: 1 },
    ]);
  });

  it('does not count the answer to an earlier campaign', () => {
    const cluster = clusterOf(3);
    cluster.node(1).core.campaign();
    cluster.node(1).ready();
    const { nonce } = cluster.node(1).core.inspect();
    const answer = { clusterId: 'scenario', from: '2#1', to: '1#1', term: 1, type: 'voteResp', granted: true } as const;
    cluster.node(1).core.step({ ...answer, nonce: nonce + 1 });
    expect(cluster.node(1).core.inspect().role).to.equal('candidate');
    cluster.node(1).core.step({ ...answer, nonce });
    expect(cluster.node(1).core.inspect().role).to.equal('leader');
  });

  it('steps down without the answers of a quorum', () => {
    const cluster = ledByFirst(3, everyProtection);
    tick(cluster, 1, 6);
    expect(cluster.node(1).core.inspect().role).to.equal('follower');
  });

  it('forgets a leader that a node unable to lead has not heard for long', () => {
    const cluster = ledByFirst(1);
    cluster.addNodes({ n: 1, voters: [1], learners: [2], index: 10 });
    cluster.proposeConf(1, [['learner', 2]], 'auto');
    cluster.stabilize();
    expect(cluster.node(2).core.inspect().leader).to.equal('1#1');
    tick(cluster, 2, 6);
    expect(cluster.node(2).core.inspect().leader).to.equal(undefined);
  });

  it('never campaigns before it has applied again what it knew to be committed', () => {
    const cluster = clusterOf(1);
    const { core } = cluster.node(1);
    expect(core.inspect().replayTo).to.equal(10);
    core.health({ mayLead: false, diskSlow: false });
    core.campaign();
    expect(core.inspect().role).to.equal('follower');
  });
});
