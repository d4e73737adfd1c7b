import { expect } from 'chai';
import type { Message } from '../../../../raft/core/message.ts';
import type { CoreEvent } from '../../../../raft/core/output.ts';
import { AdapterCluster } from '../../../../raft/testing/adapter/adapter-cluster.ts';
import { everyProtection, ledByFirst, line, tick } from './cluster-builder.ts';

const stranger = '9#1';
const noop = (index: number, term: number) => ({ index, term, time: 0, kind: 'noop' }) as const;

/** Messages to node 2 from `from` of each kind that could change something. */
function messagesOf(from: string, term: number): Message[] {
  const head = { clusterId: 'scenario', from, to: '2#1', term } as const;
  const log = { lastIndex: 1000, lastTerm: 1000 };
  const appended = { prevIndex: 11, prevTerm: 1, entries: [noop(12, 1)], commit: 12, sendSeq: 1, youAcked: 0 };
  const answer = { lastIndex: 1000, sendSeq: 1, boot: 1, suspect: false };
  return [
    { ...head, type: 'append', ...appended, vouchedBoot: 0 },
    { ...head, type: 'heartbeat', commit: 1e9, round: 0 },
    { ...head, type: 'preVote', ...log, nonce: 1, commit: 0, commitTerm: 0 },
    { ...head, type: 'vote', ...log, nonce: 1, transfer: true },
    { ...head, type: 'voteResp', granted: false, nonce: 1 },
    { ...head, type: 'appendResp', match: 1000, reject: undefined, ...answer },
    { ...head, type: 'timeoutNow' },
    { ...head, type: 'removed', index: 5 },
    { ...head, type: 'readIndexResp', id: 1, index: 1 },
  ];
}

/** Events of one step that say why a message was not taken. */
function objections(cluster: AdapterCluster, id: number, message: Message): CoreEvent['type'][] {
  const { core } = cluster.node(id);
  core.drain();
  core.step(message);
  const events = core.drain()?.events ?? [];
  return events.map(({ type }) => type).filter((type) => type === 'stranger' || type === 'refused');
}

const appendFrom = (from: string, term: number): Message => messagesOf(from, term)[0]!;

describe('senders that a configuration does not name', () => {
  it('are not heard by a follower', () => {
    const cluster = ledByFirst(3, everyProtection);
    const before = line(cluster, 2);
    for (const term of [1, 1000]) {
      for (const message of messagesOf(stranger, term)) {
        expect(objections(cluster, 2, message), message.type).to.deep.equal(['stranger']);
        const { leader, removed, poisoned } = cluster.node(2).core.inspect();
        expect({ line: line(cluster, 2), leader, removed, poisoned }, message.type).to.deep.equal({
          line: before,
          leader: '1#1',
          removed: false,
          poisoned: false,
        });
      }
    }
  });

  it('are not heard by a leader', () => {
    const cluster = ledByFirst(3, everyProtection);
    tick(cluster, 1, 2);
    for (const message of messagesOf(stranger, 1000)) {
      expect(objections(cluster, 1, { ...message, to: '1#1' }), message.type).to.deep.equal(['stranger']);
    }
    expect(line(cluster, 1)).to.equal('leader t1 c11/11');
  });

  it('are not heard as leaders or candidates when they are learners', () => {
    const cluster = new AdapterCluster();
    cluster.addNodes({ n: 3, voters: [1, 2], learners: [3], index: 10, opts: everyProtection });
    cluster.node(1).core.campaign();
    cluster.stabilize();
    for (const message of messagesOf('3#1', 7)) {
      const isOfVoter = ['append', 'heartbeat', 'preVote', 'vote', 'timeoutNow'].includes(message.type);
      if (isOfVoter) expect(objections(cluster, 2, message), message.type).to.deep.equal(['stranger']);
    }
    expect(line(cluster, 2)).to.equal('follower t1 c11/11');
  });

  it('are heard by a node that has not been told of a configuration with itself', () => {
    const cluster = new AdapterCluster();
    cluster.addNodes({ n: 2 });
    const entries = [noop(1, 1)];
    const first = { ...appendFrom('7#1', 1), prevIndex: 0, prevTerm: 0, entries, commit: 1 } as Message;
    expect(objections(cluster, 2, first)).to.deep.equal([]);
    expect(line(cluster, 2)).to.equal('follower t1 c1/1');
  });

  it('are heard by a node that has heard none of its own for longer than an election takes', () => {
    const cluster = ledByFirst(3, everyProtection);
    tick(cluster, 2, 5);
    expect(objections(cluster, 2, appendFrom(stranger, 4))).to.deep.equal(['stranger']);
    tick(cluster, 2, 1);
    expect(objections(cluster, 2, appendFrom(stranger, 4))).to.deep.equal([]);
    expect(objections(cluster, 2, appendFrom(stranger, 4)), 'as its leader from then on').to.deep.equal([]);
    expect(line(cluster, 2)).to.equal('follower t4 c12/12');
  });

  it('are never heard where peers prove nothing', () => {
    const cluster = ledByFirst(3, { ...everyProtection, unproven: true });
    tick(cluster, 2, 1000);
    const { term } = cluster.node(2).core.inspect();
    for (const message of messagesOf(stranger, term + 1)) {
      expect(objections(cluster, 2, message), message.type).to.deep.equal(['stranger']);
    }
    expect(line(cluster, 2)).to.match(/c11\/11$/);
  });
});

describe('a member that says what cannot be', () => {
  it('does not end a node that it says has lost data, of which the disk shows no trace', () => {
    const cluster = ledByFirst(3, everyProtection);
    const heartbeat = messagesOf('1#1', 1)[1]!;
    const append = { ...appendFrom('1#1', 1), youAcked: 14 } as Message;
    for (const message of [heartbeat, append, { ...heartbeat, term: 1000 }]) {
      tick(cluster, 2, 1);
      const { electionElapsed } = cluster.node(2).core.inspect();
      expect(objections(cluster, 2, message), message.type).to.deep.equal(['refused']);
      const state = cluster.node(2).core.inspect();
      expect(state).to.include({ poisoned: false, suspect: false });
      if (message.term === 1) expect(state.electionElapsed, 'not heard as a leader').to.equal(electionElapsed);
    }
    expect(cluster.node(2).core.inspect().log.lastIndex).to.equal(11);
  });

  it('learns from the answer that the log does not reach so far', () => {
    const cluster = ledByFirst(3, everyProtection);
    const { core } = cluster.node(2);
    core.step(messagesOf('1#1', 1)[1]!);
    const [answer] = core.drain()?.sendAfterPersist ?? [];
    expect(answer).to.include({ type: 'appendResp', match: undefined, lastIndex: 11 });
  });

  it('does not end the leader of the term that it says it leads', () => {
    const cluster = ledByFirst(3, everyProtection);
    for (const message of messagesOf('3#1', 1).slice(0, 2)) {
      expect(objections(cluster, 1, { ...message, to: '1#1' }), message.type).to.deep.equal(['refused']);
    }
    expect(line(cluster, 1)).to.equal('leader t1 c11/11');
  });

  it('adds no entries that do not follow one another', () => {
    const cluster = ledByFirst(3, everyProtection);
    const head = appendFrom('1#1', 1);
    for (const entries of [[noop(9, 1)], [noop(13, 1)], [noop(12, 0)], [noop(12, 2)], [noop(12, 1), noop(12, 1)]]) {
      expect(objections(cluster, 2, { ...head, entries } as Message)).to.deep.equal(['refused']);
    }
    expect(line(cluster, 2)).to.equal('follower t1 c11/11');
  });

  it('commits nothing by acknowledging more than there is', () => {
    const cluster = ledByFirst(3, everyProtection);
    const answer = messagesOf('3#1', 1).find(({ type }) => type === 'appendResp')!;
    expect(objections(cluster, 1, { ...answer, to: '1#1' })).to.deep.equal(['refused']);
    expect(cluster.node(1).core.inspect().progress.get('3#1')?.match).to.equal(11);
  });
});
