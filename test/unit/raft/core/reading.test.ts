import { expect } from 'chai';
import type { CoreOutput } from '../../../../raft/core/output.ts';
import { clusterOf, everyProtection, ledByFirst, propose, tick } from './cluster-builder.ts';

const readsOf = (output: CoreOutput | null) => output?.reads ?? [];

describe('linearizable read', () => {
  it('is answered after a quorum confirmed a round that began later', () => {
    const cluster = ledByFirst(3);
    cluster.node(1).core.read(7);
    expect(readsOf(cluster.node(1).core.drain())).to.deep.equal([]);
    cluster.node(1).core.read(8);
    tick(cluster, 1, 1);
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.deliver([1]);
    expect(readsOf(cluster.node(1).core.drain()), 'read 8 came after that round began').to.deep.equal([
      { id: 7, index: 11 },
    ]);
  });

  it('waits for a commit of the own term', () => {
    const cluster = clusterOf(1, { asyncPersist: true });
    const { core } = cluster.node(1);
    core.campaign();
    core.campaign();
    cluster.node(1).ready();
    cluster.node(1).persistOne();
    expect(core.inspect()).to.include({ role: 'leader', term: 2 });
    cluster.node(1).core.read(1);
    expect(readsOf(cluster.node(1).core.drain())).to.deep.equal([]);
  });

  it('is refused when the leader loses its office', () => {
    const cluster = ledByFirst(3, everyProtection);
    cluster.node(1).core.read(1);
    cluster.node(1).core.drain();
    tick(cluster, 1, 6);
    expect(readsOf(cluster.node(1).core.drain())).to.deep.equal([{ id: 1, index: undefined }]);
  });

  it('is passed to the leader by other members', () => {
    const cluster = ledByFirst(2);
    cluster.node(2).core.read(5);
    cluster.node(2).ready();
    cluster.deliver([1]);
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.deliver([1]);
    cluster.node(1).ready();
    cluster.deliver([2]);
    expect(readsOf(cluster.node(2).core.drain())).to.deep.equal([{ id: 5, index: 11 }]);
  });

  it('does not wait for a voter that left meanwhile', () => {
    const cluster = ledByFirst(2);
    cluster.proposeConf(1, [['remove', 2]], 'auto');
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.node(1).core.read(3);
    cluster.node(1).core.drain();
    cluster.deliver([1]);
    expect(readsOf(cluster.node(1).core.drain())).to.deep.equal([{ id: 3, index: 11 }]);
  });
});

describe('leadership transfer', () => {
  it('takes no proposals, catches the target up and tells it to campaign', () => {
    const cluster = ledByFirst(3, everyProtection);
    expect(cluster.node(1).core.transferTo('2#1')).to.equal(true);
    expect(propose(cluster, 1, 'late')).to.equal(false);
    cluster.stabilize();
    expect([1, 2].map((id) => cluster.node(id).core.inspect().role)).to.deep.equal(['follower', 'leader']);
  });

  it('is given up after an election timeout', () => {
    const cluster = ledByFirst(3);
    cluster.node(1).core.transferTo('2#1');
    tick(cluster, 1, 3);
    expect(propose(cluster, 1, 'again')).to.equal(true);
  });

  it('is refused for a learner', () => {
    const cluster = ledByFirst(2);
    cluster.proposeConf(1, [['learner', 3]], 'auto');
    cluster.stabilize();
    expect(cluster.node(1).core.transferTo('3#1')).to.equal(false);
  });
});
