import { expect } from 'chai';
import type { Append, AppendResp } from '../../../../raft/core/message.ts';
import type { AdapterCluster } from '../../../../raft/testing/adapter/adapter-cluster.ts';
import { clusterOf, ledByFirst } from './cluster-builder.ts';

/** Two sound voters of three, led by the first; the third came back and can't say whether its log is whole. */
function withSuspect(): AdapterCluster {
  const cluster = clusterOf(2);
  cluster.addNodes({ n: 1, voters: [1, 2, 3], index: 10, opts: { suspect: true } });
  return cluster;
}

function isSuspect(cluster: AdapterCluster, id: number): boolean {
  return cluster.node(id).core.inspect().suspect;
}

describe('a suspect node', () => {
  it('neither campaigns nor votes', () => {
    const cluster = withSuspect();
    const { core } = cluster.node(3);
    core.campaign();
    expect(core.inspect().role).to.equal('follower');
    const head = { clusterId: 'scenario', from: '1#1', to: '3#1', lastIndex: 99, lastTerm: 9, nonce: 1 } as const;
    core.step({ ...head, type: 'preVote', term: 2 });
    core.step({ ...head, type: 'vote', term: 2, transfer: false });
    cluster.node(3).ready();
    const answers = cluster.wire.flatMap((message) => ('granted' in message ? message.granted : []));
    expect(answers).to.deep.equal([false, false]);
  });

  it('confirms no read round', () => {
    const cluster = withSuspect();
    cluster.node(3).core.step({
      ...{ clusterId: 'scenario', from: '1#1', to: '3#1', term: 1 },
      ...{ type: 'heartbeat', commit: 0, round: 7 },
    });
    cluster.node(3).ready();
    expect(cluster.wire.flatMap((message) => (message.type === 'heartbeatResp' ? message.round : []))).to.deep.equal([
      0,
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

  for (const [when, heardBoot, isTrusted] of [
    ['names its present start', 1, true],
    ['names an earlier start', 0, false],
  ] as const) {
    it(`${isTrusted ? 'is' : 'is not'} trusted after an append of the leader's own term that ${when}`, () => {
      const cluster = withSuspect();
      cluster.node(3).core.step({
        ...{ clusterId: 'scenario', from: '1#1', to: '3#1', term: 2, type: 'append', prevIndex: 10, prevTerm: 1 },
        ...{ entries: [{ index: 11, term: 2, time: 0, kind: 'noop' }], commit: 11, sendSeq: 1, youAcked: 0, heardBoot },
      });
      expect(isSuspect(cluster, 3)).to.equal(!isTrusted);
    });
  }

  it('makes a leader that has nothing to send name its present start', () => {
    const cluster = ledByFirst(2);
    const { core } = cluster.node(1);
    const index = core.inspect().log.lastIndex;
    core.step({
      ...{ clusterId: 'scenario', from: '2#1', to: '1#1', term: 1, type: 'appendResp' },
      ...{ match: undefined, reject: undefined, lastIndex: index, sendSeq: 0, boot: 2 },
    });
    cluster.node(1).ready();
    const appends = cluster.wire.filter((message): message is Append => message.type === 'append');
    expect(appends.map(({ heardBoot, youAcked, entries }) => ({ heardBoot, youAcked, entries }))).to.deep.equal([
      { heardBoot: 2, youAcked: index, entries: [] },
    ]);
  });

  it('stops counting when its present start shows less than it had acknowledged', () => {
    const cluster = ledByFirst(2);
    const { core } = cluster.node(1);
    core.step({
      ...{ clusterId: 'scenario', from: '2#1', to: '1#1', term: 1, type: 'appendResp' },
      ...{ match: undefined, reject: undefined, lastIndex: 10, sendSeq: 0, boot: 2 },
    });
    expect(core.inspect().progress.get('2#1')?.lost).to.equal(true);
    expect(core.drain()?.events).to.deep.include({ type: 'lostData', peer: '2#1', acked: 11, last: 10 });
  });
});
