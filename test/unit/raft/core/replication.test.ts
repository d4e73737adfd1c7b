import { expect } from 'chai';
import { clusterOf, ledByFirst, line, propose, tick } from './cluster-builder.ts';

describe('replication', () => {
  it('commits an entry of an earlier term only together with one of its own', () => {
    const cluster = ledByFirst(3);
    propose(cluster, 1, 'old');
    cluster.node(1).ready();
    cluster.deliver([2], [3]);
    cluster.node(2).ready();
    cluster.deliver([], [1]);
    cluster.node(2).core.campaign();
    cluster.stabilize([2, 3]);
    expect(line(cluster, 2), 'the no-op of term 2 carries it').to.equal('leader t2 c13/13');
  });

  it('does not count what its own disk has not confirmed', () => {
    const cluster = clusterOf(1, { asyncPersist: true });
    cluster.node(1).core.campaign();
    cluster.stabilize();
    propose(cluster, 1, 'a');
    cluster.node(1).ready();
    expect(line(cluster, 1)).to.equal('leader t1 c11/12');
    cluster.node(1).persistOne();
    cluster.node(1).ready();
    expect(line(cluster, 1)).to.equal('leader t1 c12/12');
  });

  it('answers several appends of one turn once, with the highest match', () => {
    const cluster = ledByFirst(2);
    propose(cluster, 1, 'a');
    cluster.node(1).ready();
    propose(cluster, 1, 'b');
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    expect(cluster.describeWire()).to.deep.include.members([
      { from: 2, to: 1, kind: 'MsgAppResp', term: 1, index: 13, reject: false },
    ]);
    expect(cluster.wire.filter(({ type }) => type === 'appendResp')).to.have.length(1);
  });

  it('tells the commit index alone without asking for an answer', () => {
    const cluster = ledByFirst(2);
    propose(cluster, 1, 'a');
    cluster.node(1).ready();
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.deliver([1]);
    cluster.node(1).ready();
    const told = cluster.wire.filter(({ type }) => type === 'append');
    expect(told).to.deep.include.members([{ ...told[0], entries: [], commit: 12, sendSeq: 0 }]);
    cluster.deliver([2]);
    cluster.node(2).ready();
    expect(line(cluster, 2)).to.equal('follower t1 c12/12');
    expect(cluster.wire).to.be.empty;
  });

  it('commits on a follower no further than the message reaches', () => {
    const cluster = ledByFirst(2);
    const { core } = cluster.node(2);
    const head = { clusterId: 'scenario', from: '1#1', to: '2#1', term: 2 } as const;
    const entry = (index: number, term: number) => ({ index, term, time: 0, kind: 'noop' }) as const;
    const known = { sendSeq: 1, youAcked: 0, vouchedBoot: 0 };
    core.step({
      ...head,
      type: 'append',
      prevIndex: 11,
      prevTerm: 1,
      entries: [entry(12, 2), entry(13, 2)],
      commit: 11,
      ...known,
    });
    core.step({ ...head, type: 'append', prevIndex: 11, prevTerm: 1, entries: [entry(12, 2)], commit: 13, ...known });
    expect(line(cluster, 2)).to.equal('follower t2 c12/13');
  });

  it('finds out where a follower with another history agrees', () => {
    const cluster = ledByFirst(3);
    for (const text of ['a', 'b', 'c']) propose(cluster, 1, text);
    cluster.node(1).ready();
    cluster.deliver([], [2, 3]);
    cluster.node(2).core.campaign();
    cluster.stabilize([2, 3]);
    cluster.stabilize();
    tick(cluster, 2, 1);
    cluster.stabilize();
    expect([1, 2, 3].map((id) => line(cluster, id))).to.deep.equal([
      'follower t2 c12/12',
      'leader t2 c12/12',
      'follower t2 c12/12',
    ]);
  });

  it('refuses proposals when too much waits to be committed', () => {
    const cluster = ledByFirst(3);
    const [accepted, refused] = cluster.node(1).core.propose([
      { payload: new Uint8Array(4_000_000), time: 0 },
      { payload: new Uint8Array(5_000_000), time: 0 },
    ]);
    expect(accepted).to.include({ index: 12 });
    expect(refused).to.deep.equal({ kind: 'refused', why: 'too large' });
    for (let i = 0; i < 3; i += 1) cluster.node(1).core.propose([{ payload: new Uint8Array(4_000_000), time: 0 }]);
    expect(cluster.node(1).core.propose([{ payload: new Uint8Array(4_000_000), time: 0 }])).to.deep.equal([
      { kind: 'refused', why: 'overload' },
    ]);
  });

  it('never lets log time go back', () => {
    const cluster = ledByFirst(1);
    cluster.node(1).core.propose([{ payload: new Uint8Array(), time: 5_000 }]);
    cluster.node(1).core.propose([{ payload: new Uint8Array(), time: 3_000 }]);
    expect([12, 13].map((index) => cluster.node(1).core.entry(index)?.time)).to.deep.equal([5_000, 5_000]);
  });

  it('gives up a node whose disk shows traces of a loss, when its leader counts more than it has', () => {
    const cluster = clusterOf(2, { suspect: true });
    const { core } = cluster.node(2);
    core.step({
      ...{ clusterId: 'scenario', from: '1#1', to: '2#1', term: 1, type: 'append', entries: [], commit: 10 },
      ...{ prevIndex: 10, prevTerm: 1, sendSeq: 9, youAcked: 14, vouchedBoot: 1 },
    });
    expect(core.inspect().poisoned).to.equal(true);
    expect(core.drain()?.events).to.deep.include({ type: 'lostData', peer: undefined, acked: 14, last: 10 });
  });

  it('drops messages of another cluster and those meant for another identity', () => {
    const cluster = ledByFirst(2);
    const { core } = cluster.node(2);
    const heartbeat = { from: '9#1', term: 9, type: 'heartbeat', commit: 0, round: 0 } as const;
    core.step({ ...heartbeat, clusterId: 'other', to: '2#1' });
    core.step({ ...heartbeat, clusterId: 'scenario', to: '2#7' });
    expect(core.inspect().term).to.equal(1);
  });

  it('keeps what was acknowledged behind a checkpoint that arrives late', () => {
    const cluster = clusterOf(2);
    const { core } = cluster.node(2);
    const head = { clusterId: 'scenario', from: '1#1', to: '2#1', term: 1 } as const;
    const meta = { ...cluster.node(1).checkpoint(), index: 12, file: 'late' };
    core.step({ ...head, type: 'checkpointBegin', meta, transfer: 1 });
    const entries = [11, 12, 13].map((index) => ({ index, term: 1, time: 0, kind: 'noop' }) as const);
    const known = { sendSeq: 1, youAcked: 0, vouchedBoot: 0 };
    core.step({ ...head, type: 'append', prevIndex: 10, prevTerm: 1, entries, commit: 10, ...known });
    expect(core.checkpointReady(meta)).to.equal(false);
    expect(line(cluster, 2)).to.equal('follower t1 c12/13');
  });
});
