import { expect } from 'chai';
import type { Append } from '../../../../raft/core/message.ts';
import { AdapterCluster } from '../../../../raft/testing/adapter/adapter-cluster.ts';
import { everyProtection, ledByFirst, line, propose, tick } from './cluster-builder.ts';

describe('membership', () => {
  it('puts a configuration in force when it is committed, not before', () => {
    const cluster = ledByFirst(3);
    cluster.proposeConf(1, [['remove', 3]], 'auto');
    cluster.node(1).ready();
    expect(cluster.node(1).core.inspect().config.voters).to.have.length(3);
    cluster.stabilize();
    expect(cluster.node(2).core.inspect().config.voters).to.deep.equal(['1#1', '2#1']);
  });

  it('takes one change at a time', () => {
    const cluster = ledByFirst(3);
    cluster.proposeConf(1, [['remove', 3]], 'auto');
    expect(cluster.proposeConf(1, [['remove', 2]], 'auto')).to.deep.equal({ kind: 'refused', why: 'pending change' });
  });

  it('takes no change before an entry of the own term is committed', () => {
    const cluster = ledByFirst(3);
    cluster.node(2).core.campaign();
    cluster.node(2).ready();
    cluster.deliver([3]);
    cluster.node(3).ready();
    cluster.deliver([2]);
    expect(cluster.node(2).core.inspect().role).to.equal('leader');
    expect(cluster.proposeConf(2, [['remove', 1]], 'auto')).to.deep.equal({ kind: 'refused', why: 'pending change' });
  });

  it('replaces a voter in one joint step and leaves it by itself', () => {
    const cluster = ledByFirst(3);
    cluster.addNodes({ n: 1, voters: [1, 2, 3], learners: [4], index: 10 });
    cluster.proposeConf(
      1,
      [
        ['voter', 4],
        ['remove', 3],
      ],
      'auto',
    );
    cluster.stabilize();
    tick(cluster, 1, 1);
    cluster.stabilize();
    expect(cluster.node(1).core.inspect().config).to.deep.include({ voters: ['1#1', '2#1', '4#1'], outgoing: [] });
    expect(cluster.node(4).core.inspect().config.removed).to.deep.equal(['3#1']);
  });

  it('hands over when its leader leaves, also where messages arrive in order', () => {
    const cluster = ledByFirst(3, { handOverOnRemoval: true, checkquorum: true, prevote: true });
    cluster.proposeConf(1, [['remove', 1]], 'auto');
    cluster.stabilize();
    expect(cluster.node(1).core.inspect().role).to.equal('follower');
    expect([2, 3].map((id) => cluster.node(id).core.inspect().role)).to.include('leader');
    const { config, leader } = cluster.node(3).core.inspect();
    expect(config.removed).to.deep.equal(['1#1']);
    expect(leader).to.be.oneOf(['2#1', '3#1']);
  });

  it('obeys no other node that left', () => {
    const cluster = ledByFirst(3);
    cluster.proposeConf(1, [['remove', 3]], 'auto');
    cluster.stabilize();
    const { core } = cluster.node(2);
    core.step({ clusterId: 'scenario', from: '3#1', to: '2#1', term: 1, type: 'timeoutNow' });
    expect(core.inspect().role).to.equal('follower');
  });

  it('needs both majorities while it is joint', () => {
    const cluster = ledByFirst(3);
    cluster.addNodes({ n: 2, voters: [1, 2, 3], learners: [4, 5], index: 10 });
    cluster.proposeConf(
      1,
      [
        ['voter', 4],
        ['voter', 5],
        ['remove', 2],
        ['remove', 3],
      ],
      'explicit',
    );
    cluster.stabilize();
    propose(cluster, 1, 'a');
    cluster.stabilize([1, 4, 5]);
    expect(line(cluster, 1), 'the outgoing half has only one of three').to.equal('leader t1 c12/13');
    cluster.stabilize();
    expect(line(cluster, 1)).to.equal('leader t1 c13/13');
  });

  it('stops leading when its own removal is committed', () => {
    const cluster = ledByFirst(3, { stepDownOnRemoval: true });
    cluster.proposeConf(1, [['remove', 1]], 'auto');
    cluster.stabilize();
    expect(cluster.node(1).core.inspect()).to.include({ role: 'follower', removed: true });
    cluster.node(1).core.campaign();
    expect(cluster.node(1).core.inspect().role).to.equal('follower');
  });

  it('gets no vote blocked by a log behind the removal of its owner', () => {
    const cluster = ledByFirst(2, { stepDownOnRemoval: true });
    cluster.proposeConf(1, [['remove', 1]], 'auto');
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    propose(cluster, 1, 'behind');
    const { core } = cluster.node(2);
    cluster.deliver([1]);
    cluster.node(1).ready();
    cluster.deliver([], [2]);
    expect([line(cluster, 1), line(cluster, 2)]).to.deep.equal(['follower t1 c12/13', 'follower t1 c11/12']);
    core.campaign();
    cluster.stabilize();
    expect(line(cluster, 2)).to.match(/^leader t2 c13/);
  });

  describe('of which a poll tells', () => {
    const options = { ...everyProtection, stepDownOnRemoval: true };
    const noop = (index: number, term: number) => ({ index, term, time: 0, kind: 'noop' }) as const;
    const append = (from: number, to: number, entry: ReturnType<typeof noop>): Append => ({
      ...{ clusterId: 'scenario', from: `${from}#1`, to: `${to}#1`, term: entry.term, type: 'append' },
      ...{ prevIndex: entry.index - 1, prevTerm: 1, entries: [entry] },
      ...{ commit: 11, sendSeq: 1, youAcked: 0, vouchedBoot: 0 },
    });

    /** Node 1 made itself a learner and knows that this is committed; node 2 holds the entry and knows nothing. */
    function leftBehind(): AdapterCluster {
      const cluster = ledByFirst(2, options);
      cluster.proposeConf(1, [['learner', 1]], 'auto');
      cluster.node(1).ready();
      cluster.deliver([2]);
      cluster.node(2).ready();
      cluster.deliver([1]);
      cluster.node(1).ready();
      cluster.deliver([], [2]);
      expect([line(cluster, 1), line(cluster, 2)]).to.deep.equal(['follower t1 c12/12', 'follower t1 c11/12']);
      return cluster;
    }

    it('waits for no voter on its way out, though that holds what the last one left had lost', () => {
      const cluster = leftBehind();
      cluster.node(1).core.step(append(2, 1, noop(13, 2)));
      cluster.node(1).ready();
      cluster.deliver([], [2]);
      tick(cluster, 1, 20);
      for (let campaigns = 0; campaigns < 2; campaigns += 1) {
        cluster.node(2).core.campaign();
        cluster.stabilize();
      }
      expect(line(cluster, 2)).to.equal('leader t3 c13/13');
      expect(cluster.node(2).core.inspect().config).to.deep.include({ voters: ['2#1'], learners: ['1#1'] });
    });

    it('lets a learner lead that was promoted without knowing, and holds more than the others', () => {
      const cluster = new AdapterCluster();
      cluster.addNodes({ n: 2, voters: [1], learners: [2], index: 10, opts: options });
      cluster.node(1).core.campaign();
      cluster.stabilize();
      cluster.proposeConf(1, [['voter', 2]], 'auto');
      cluster.node(1).ready();
      cluster.deliver([2]);
      cluster.node(2).ready();
      cluster.deliver([1], [2]);
      cluster.node(1).ready();
      cluster.deliver([], [2]);
      cluster.node(2).core.step(append(1, 2, noop(13, 2)));
      cluster.node(2).ready();
      cluster.node(1).core.stalled(1_000);
      tick(cluster, 2, 20);
      for (let campaigns = 0; campaigns < 2; campaigns += 1) {
        cluster.node(1).core.campaign();
        cluster.stabilize();
      }
      expect(line(cluster, 1)).to.match(/^(follower|preCandidate)/);
      cluster.node(2).core.campaign();
      cluster.stabilize();
      expect(line(cluster, 2)).to.match(/^leader t\d c14\/14$/);
    });

    it('takes nothing for committed that is another entry', () => {
      const cluster = leftBehind();
      const { core } = cluster.node(2);
      const poll = { clusterId: 'scenario', from: '1#1', to: '2#1', type: 'preVote', lastIndex: 12, nonce: 1 } as const;
      tick(cluster, 2, 5);
      core.step({ ...poll, term: 9, lastTerm: 2, commit: 12, commitTerm: 2 });
      core.step({ ...poll, term: 9, lastTerm: 2, commit: 13, commitTerm: 1 });
      expect(line(cluster, 2)).to.match(/c11\/12$/);
      core.step({ ...poll, term: 9, lastTerm: 2, commit: 12, commitTerm: 1 });
      expect(line(cluster, 2)).to.match(/c12\/12$/);
    });
  });
});
