import { expect } from 'chai';
import type { Append, AppendResp, Message } from '../../../../raft/core/message.ts';
import { AdapterCluster } from '../../../../raft/testing/adapter/adapter-cluster.ts';
import { everyProtection, ledByFirst, line, propose, tick } from './cluster-builder.ts';

/** Two sound voters of three, led by the first; the third came back and can't say whether its log is whole. */
function withSuspect(): AdapterCluster {
  const cluster = new AdapterCluster();
  cluster.addNodes({ n: 2, voters: [1, 2, 3], index: 10 });
  cluster.addNodes({ n: 1, voters: [1, 2, 3], index: 10, opts: { suspect: true } });
  return cluster;
}

function isSuspect(cluster: AdapterCluster, id: number): boolean {
  return cluster.node(id).core.inspect().suspect;
}

/** Answer of start number 2 of a node to the first node, in its term; it is suspect. */
function answerOf(id: number, fields: Partial<AppendResp>): AppendResp {
  return {
    ...{ clusterId: 'scenario', from: `${id}#1`, to: '1#1', term: 1, type: 'appendResp' },
    ...{ match: undefined, reject: undefined, lastIndex: 0, sendSeq: 0, boot: 2, suspect: true },
    ...fields,
  };
}

function headOf(from: number, to: number) {
  return { clusterId: 'scenario', from: `${from}#1`, to: `${to}#1` } as const;
}

function appendsTo(cluster: AdapterCluster, id: number): Append[] {
  return cluster.wire.filter((message): message is Append => message.type === 'append' && message.to === `${id}#1`);
}

describe('a suspect node', () => {
  it('neither campaigns nor answers polls and votes', () => {
    const cluster = withSuspect();
    const { core } = cluster.node(3);
    core.campaign();
    expect(core.inspect().role).to.equal('follower');
    const head = { clusterId: 'scenario', from: '1#1', to: '3#1', lastIndex: 99, lastTerm: 9, nonce: 1 } as const;
    core.step({ ...head, type: 'preVote', term: 2, commit: 0, commitTerm: 0 });
    core.step({ ...head, type: 'vote', term: 2, transfer: false });
    cluster.node(3).ready();
    expect(cluster.wire).to.deep.equal([]);
  });

  it('says so in every answer to a leader', () => {
    const cluster = withSuspect();
    const head = { clusterId: 'scenario', from: '1#1', to: '3#1', term: 1 } as const;
    const known = { commit: 0, sendSeq: 1, youAcked: 0, vouchedBoot: 0, entries: [] };
    const { core } = cluster.node(3);
    core.step({ ...head, type: 'heartbeat', commit: 0, round: 7 });
    core.step({ ...head, ...known, type: 'append', prevIndex: 10, prevTerm: 1 });
    core.step({ ...head, ...known, type: 'append', prevIndex: 12, prevTerm: 1 });
    cluster.node(3).ready();
    const answers = cluster.wire.map((message) => ('suspect' in message ? [message.type, message.suspect] : []));
    expect(answers).to.have.deep.members([
      ['heartbeatResp', true],
      ['appendResp', true],
      ['appendResp', true],
      ['appendResp', true],
    ]);
  });

  it('introduces itself in answer to a heartbeat, and a sound node does not', () => {
    const cluster = withSuspect();
    const heartbeat = { clusterId: 'scenario', from: '1#1', term: 1, type: 'heartbeat', commit: 0, round: 0 } as const;
    for (const id of [2, 3]) {
      cluster.node(id).core.step({ ...heartbeat, to: `${id}#1` });
      cluster.node(id).ready();
    }
    const introductions = cluster.wire.filter((message): message is AppendResp => message.type === 'appendResp');
    expect(introductions.map(({ from, boot, lastIndex, match }) => ({ from, boot, lastIndex, match }))).to.deep.equal([
      { from: '3#1', boot: 1, lastIndex: 10, match: undefined },
    ]);
  });

  for (const [when, vouchedBoot, isTrusted] of [
    ['vouches for its present start', 1, true],
    ['vouches for no start', 0, false],
  ] as const) {
    it(`${isTrusted ? 'is' : 'is not'} trusted after an append of the leader's own term that ${when}`, () => {
      const cluster = withSuspect();
      cluster.node(3).core.step({
        ...{ clusterId: 'scenario', from: '1#1', to: '3#1', term: 2, type: 'append', prevIndex: 10, prevTerm: 1 },
        ...{
          entries: [{ index: 11, term: 2, time: 0, kind: 'noop' }],
          commit: 11,
          sendSeq: 1,
          youAcked: 0,
          vouchedBoot,
        },
      });
      expect(isSuspect(cluster, 3)).to.equal(!isTrusted);
    });
  }

  it('is vouched for once a quorum without it has stored an entry that is younger than its start', () => {
    const cluster = ledByFirst(3);
    const { core } = cluster.node(1);
    expect(line(cluster, 1)).to.equal('leader t1 c11/11');
    core.step(answerOf(3, { lastIndex: 11 }));
    cluster.node(1).ready();
    expect(appendsTo(cluster, 3).map(({ vouchedBoot }) => vouchedBoot)).to.deep.equal([0]);
    expect(line(cluster, 1)).to.equal('leader t1 c11/12');
    cluster.deliver([2]);
    cluster.node(2).ready();
    cluster.deliver([1], [3]);
    cluster.node(1).ready();
    expect(appendsTo(cluster, 3).map(({ commit, vouchedBoot }) => [commit, vouchedBoot])).to.deep.equal([[12, 2]]);
  });

  it('is not vouched for with the help of another one', () => {
    const cluster = ledByFirst(3);
    const { core } = cluster.node(1);
    core.step(answerOf(2, { lastIndex: 11 }));
    core.step(answerOf(3, { lastIndex: 11 }));
    cluster.node(1).ready();
    for (const id of [2, 3]) core.step(answerOf(id, { match: 12, lastIndex: 12 }));
    cluster.node(1).ready();
    expect(line(cluster, 1)).to.equal('leader t1 c11/12');
    expect(cluster.wire.flatMap((message) => ('vouchedBoot' in message ? message.vouchedBoot : []))).not.to.include(2);
  });

  it('counts neither for commits nor for reads nor for the check of the quorum', () => {
    const cluster = ledByFirst(3, everyProtection);
    const { core } = cluster.node(1);
    core.step(answerOf(3, { lastIndex: 11 }));
    propose(cluster, 1, 'x');
    core.read(7);
    core.step(answerOf(3, { match: 12, lastIndex: 12 }));
    const output = core.drain();
    core.persisted(output?.seq ?? 0);
    const head = { clusterId: 'scenario', from: '3#1', to: '1#1', term: 1 } as const;
    const answer: Message = {
      ...{ ...head, type: 'heartbeatResp', round: 1, applyLag: 0 },
      ...{ diskSlow: false, boot: 2, suspect: true },
    };
    core.step(answer);
    expect(core.drain()?.reads ?? []).to.deep.equal([]);
    expect(line(cluster, 1)).to.equal('leader t1 c11/12');
    for (let ticks = 0; ticks < 9; ticks += 1) {
      tick(cluster, 1, 1);
      core.step(answer);
    }
    expect(line(cluster, 1)).to.equal('follower t1 c11/12');
  });

  it('counts again once it says that it is trusted, and late answers from before do no harm', () => {
    const cluster = ledByFirst(3);
    const { core } = cluster.node(1);
    core.step(answerOf(3, { lastIndex: 11 }));
    propose(cluster, 1, 'x');
    cluster.node(1).ready();
    core.step(answerOf(3, { match: 12, lastIndex: 12, suspect: false }));
    core.step(answerOf(3, { match: 12, lastIndex: 12 }));
    cluster.node(1).ready();
    expect(line(cluster, 1)).to.equal('leader t1 c12/12');
  });

  it('commits nothing because a heartbeat says so: an earlier life may have acknowledged another entry there', () => {
    const cluster = withSuspect();
    const { core } = cluster.node(3);
    const head = { clusterId: 'scenario', from: '2#1', to: '3#1' } as const;
    const known = { prevIndex: 10, prevTerm: 1, commit: 10, sendSeq: 1, youAcked: 0, vouchedBoot: 0 };
    core.step({
      ...{ ...head, ...known, term: 1, type: 'append' },
      entries: [{ index: 11, term: 1, time: 0, kind: 'noop' }],
    });
    core.step({ ...head, from: '1#1', term: 2, type: 'heartbeat', commit: 11, round: 0 });
    expect(line(cluster, 3)).to.equal('follower t2 c10/11');
  });

  it('is poisoned when it holds another entry where it had acknowledged one', () => {
    const cluster = withSuspect();
    const { core } = cluster.node(3);
    core.step({
      ...{ clusterId: 'scenario', from: '1#1', to: '3#1', term: 3, type: 'append', entries: [] },
      ...{ prevIndex: 11, prevTerm: 3, commit: 11, sendSeq: 4, youAcked: 11, vouchedBoot: 0 },
    });
    expect(core.inspect().poisoned).to.equal(true);
  });

  // The vote of the third for the second is lost. The first, which was voted out, reaches the third alone.
  it('does not let a leader that was voted out commit, nor settle the suspicion', () => {
    const cluster = withSuspect();
    const [first, second] = [cluster.node(1).core, cluster.node(2).core];
    first.campaign();
    cluster.stabilize([1, 2]);
    propose(cluster, 1, 'committed by the first two');
    cluster.stabilize([1, 2]);
    cluster.deliver([], [3]);
    expect(line(cluster, 1)).to.equal('leader t1 c12/12');

    second.campaign();
    cluster.node(2).ready();
    cluster.deliver([], [1, 3]);
    const { nonce } = second.inspect();
    second.step({ ...headOf(3, 2), term: 2, type: 'voteResp', granted: true, nonce });
    cluster.node(2).ready();
    cluster.deliver([], [1, 3]);
    expect(line(cluster, 2)).to.equal('leader t2 c12/13');

    propose(cluster, 1, 'a client is told');
    for (let rounds = 0; rounds < 5; rounds += 1) {
      tick(cluster, 1, 1);
      cluster.stabilize([1, 3]);
    }
    expect(line(cluster, 1)).to.equal('leader t1 c12/14');
    expect(line(cluster, 3)).to.equal('follower t1 c12/14');
    expect(isSuspect(cluster, 3)).to.equal(true);

    for (let rounds = 0; rounds < 5; rounds += 1) {
      tick(cluster, 2, 1);
      cluster.stabilize();
    }
    expect([1, 2, 3].map((id) => line(cluster, id).split(' ').slice(1).join(' '))).to.deep.equal([
      't2 c14/14',
      't2 c14/14',
      't2 c14/14',
    ]);
    expect(isSuspect(cluster, 3)).to.equal(false);
  });

  it('stops counting when its present start shows less than it had acknowledged', () => {
    const cluster = ledByFirst(2);
    const { core } = cluster.node(1);
    core.step({
      ...{ clusterId: 'scenario', from: '2#1', to: '1#1', term: 1, type: 'appendResp' },
      ...{ match: undefined, reject: undefined, lastIndex: 10, sendSeq: 0, boot: 2, suspect: true },
    });
    expect(core.inspect().progress.get('2#1')?.lost).to.equal(true);
    expect(core.drain()?.events).to.deep.include({ type: 'lostData', peer: '2#1', acked: 11, last: 10 });
  });
});
