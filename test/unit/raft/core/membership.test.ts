import { expect } from 'chai';
import { ledByFirst, line, propose, tick } from './cluster-builder.ts';

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

  it('obeys nobody else who left', () => {
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
});
