import { expect } from 'chai';
import type { Outcome } from '../../../../raft/index.ts';
import { ClusterAdmin } from '../../../../src/cluster/members/cluster-admin.ts';
import { SluiceError } from '../../../../src/errors.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { ClusterOf, statusOfFour, statusOfOne } from '../../../support/cluster-of.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const refusal = async (asked: Promise<unknown>): Promise<[number, string]> => {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof SluiceError) return [error.status, error.message];
  throw new Error('it was not refused', { cause: error });
};

describe('cluster admin', () => {
  let cluster: ClusterOf;
  let admin: ClusterAdmin;

  beforeEach(() => {
    cluster = new ClusterOf(statusOfFour);
    admin = new ClusterAdmin(cluster, systemClock);
  });

  it('shows members with roles, lag and health, as the leader knows them', async () => {
    const { members, candidates, ...rest } = await admin.overview();
    expect(rest).to.deep.equal({
      clustered: true,
      clusterId: 'cluster-a',
      leader: 'a',
      term: 3,
      commit: 40,
      applied: 40,
      log: { first: 1, last: 41, lastTerm: 1 },
    });
    expect(members.map(({ nodeId, role, match, lag, healthy }) => [nodeId, role, match, lag, healthy])).to.deep.equal([
      ['a', 'leader', 41, 0, true],
      ['b', 'voter', 41, 0, true],
      ['c', 'voter', 12, 28, false],
      ['d', 'learner', 40, 0, true],
    ]);
    expect(candidates).to.deep.equal([{ nodeId: 'e', raftAddress: '10.0.0.5:7000' }]);
  });

  it('says null for what only the leader knows', async () => {
    cluster.now = { ...statusOfFour, id: 'b#2', role: 'follower', peers: [] };
    const { members } = await admin.overview();
    for (const { match, lag, healthy } of members) expect([match, lag, healthy]).to.deep.equal([null, null, null]);
    expect(await admin.elsewhere()).to.equal('10.0.0.1:8080');
  });

  it('says which of two logs that are left reaches further: the term of the last entry, and its index', async () => {
    cluster.now = {
      ...statusOfFour,
      role: 'follower',
      leader: undefined,
      peers: [],
      applied: 40,
      lastIndex: 43,
      lastTerm: 3,
    };
    const { applied, log } = await admin.overview();
    expect({ applied, log }).to.deep.equal({ applied: 40, log: { first: 1, last: 43, lastTerm: 3 } });
  });

  it('has nothing to show before the node belongs to a cluster', async () => {
    cluster.now = undefined;
    expect(await refusal(admin.overview())).to.deep.equal([503, 'this node belongs to no cluster yet']);
  });

  it('adds a node that waits under that name and address', async () => {
    const candidate = statusOfFour.candidates.at(-1);
    cluster.outcome = () => {
      const { config } = statusOfFour;
      if (candidate === undefined) throw new Error('no candidate');
      cluster.now = {
        ...statusOfFour,
        config: { ...config, learners: [...config.learners, candidate.id], members: [...config.members, candidate] },
      };
      return { kind: 'committed', index: 42 };
    };
    const added = await admin.add({ nodeId: 'e', address: '10.0.0.5:7000' });
    expect(added).to.include({ nodeId: 'e', incarnation: 5, role: 'learner' });
    expect(cluster.changes).to.deep.equal([{ change: { op: 'addLearner', member: candidate }, force: false }]);
    await admin.add({ nodeId: 'e', address: '10.0.0.5:7000' });
    expect(cluster.changes).to.have.length(1);
  });

  it('adds the next life of a member that lost its store', async () => {
    const reborn = { id: 'c#9', address: '10.0.0.3:7000', clientAddress: '' };
    const { config } = statusOfFour;
    cluster.now = { ...statusOfFour, candidates: [reborn] };
    cluster.outcome = () => {
      cluster.now = {
        ...statusOfFour,
        config: { ...config, learners: [...config.learners, 'c#9'], members: [...config.members, reborn] },
      };
      return { kind: 'committed', index: 42 };
    };
    for (const round of ['first', 'again'])
      expect(await admin.add({ nodeId: 'c', address: '10.0.0.3:7000' }), round).to.include({
        incarnation: 9,
        role: 'learner',
      });
    expect(cluster.changes).to.have.length(1);
  });

  it('adds no node that is not there', async () => {
    expect(await refusal(admin.add({ nodeId: 'f', address: '10.0.0.6:7000' }))).to.deep.equal([
      409,
      'no node f at 10.0.0.6:7000 waits for this cluster: start it first',
    ]);
  });

  it('promotes a learner, and leaves a voter as it is', async () => {
    await admin.promote('d');
    await admin.promote('b');
    expect(cluster.changes).to.deep.equal([{ change: { op: 'promote', id: 'd#4' }, force: false }]);
  });

  it('replaces a voter by a learner in one step', async () => {
    expect(await admin.replace('c', 'd')).to.include({ nodeId: 'd' });
    expect(cluster.changes).to.deep.equal([{ change: { op: 'replace', id: 'c#3', by: 'd#4' }, force: false }]);
  });

  it('replaces a voter by its own next life', async () => {
    const { config } = statusOfFour;
    const reborn = { id: 'c#9', address: '10.0.0.3:7000', clientAddress: '' };
    cluster.now = {
      ...statusOfFour,
      config: { ...config, learners: ['c#9'], members: [...config.members, reborn] },
    };
    await admin.replace('c', 'c');
    expect(cluster.changes[0]?.change).to.deep.equal({ op: 'replace', id: 'c#3', by: 'c#9' });
    expect(await refusal(admin.remove('c', false))).to.deep.equal([409, 'c names c#3 and c#9: give one of these']);
    await admin.remove('c#9', false);
    expect(cluster.changes[1]?.change).to.deep.equal({ op: 'remove', id: 'c#9' });
  });

  it('changes nothing by a replacement that was carried out before', async () => {
    const { config } = statusOfFour;
    const without = (ids: readonly string[]) => ids.filter((id) => id !== 'c#3');
    cluster.now = {
      ...statusOfFour,
      config: {
        ...config,
        voters: [...without(config.voters), 'd#4'],
        learners: [],
        members: config.members.filter(({ id }) => id !== 'c#3'),
      },
    };
    expect(await admin.replace('c', 'd')).to.include({ nodeId: 'd', role: 'voter' });
    expect(await admin.replace('c#3', 'd#4')).to.include({ nodeId: 'd', role: 'voter' });
    expect(cluster.changes).to.deep.equal([]);
  });

  it('removes, by force if asked', async () => {
    await admin.remove('d', false);
    await admin.remove('c', true);
    expect(cluster.changes).to.deep.equal([
      { change: { op: 'remove', id: 'd#4' }, force: false },
      { change: { op: 'remove', id: 'c#3' }, force: true },
    ]);
  });

  it('knows no strangers', async () => {
    for (const asked of [admin.promote('x'), admin.replace('x', 'd'), admin.remove('x', true), admin.transfer('x')])
      expect(await refusal(asked)).to.deep.equal([404, 'member "x" not found']);
    expect(await refusal(admin.replace('d', 'd'))).to.deep.equal([409, 'member "d" is no voter']);
    expect(await refusal(admin.replace('c', 'b'))).to.deep.equal([409, 'member "b" is no learner']);
  });

  it('names the learners that keep another one out', async () => {
    cluster.outcome = () => ({ kind: 'notApplied', why: 'not caught up' });
    const adding = admin.add({ nodeId: 'e', address: '10.0.0.5:7000' });
    expect(await refusal(adding)).to.deep.equal([409, 'these learners have to catch up first: d']);
  });

  const outcomes: [Outcome, number, RegExp][] = [
    [{ kind: 'notApplied', why: 'quorum at risk' }, 409, /no quorum afterwards/],
    [{ kind: 'notApplied', why: 'not caught up' }, 409, /not caught up/],
    [{ kind: 'notApplied', why: 'invalid change' }, 409, /does not fit/],
    [{ kind: 'notApplied', why: 'pending change' }, 503, /as before: pending change/],
    [{ kind: 'notApplied', why: 'not leader' }, 503, /as before/],
    [{ kind: 'unknown', why: 'stepped down' }, 504, /it is unknown/],
  ];
  for (const [outcome, status, text] of outcomes) {
    it(`says ${status} to ${'why' in outcome ? outcome.why : ''}`, async () => {
      cluster.outcome = () => outcome;
      const [said, message] = await refusal(admin.promote('d'));
      expect(said).to.equal(status);
      expect(message).to.match(text);
    });
  }

  it('hands leadership over and says who leads then', async () => {
    cluster.onTransfer = () => {
      cluster.now = { ...statusOfFour, role: 'follower', leader: 'b#2' };
    };
    expect(await admin.transfer('b')).to.equal('b');
    expect(cluster.transfers).to.deep.equal(['b#2']);
  });

  it('says when leadership stays where it is', async () => {
    const clock = new ManualClock();
    admin = new ClusterAdmin(cluster, clock);
    const asked = refusal(admin.transfer(undefined));
    for (let step = 0; step < 200; step++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(20);
    }
    expect(await asked).to.deep.equal([503, 'leadership did not move: no other voter is up to date and reachable']);
  });

  it('moves the leadership once, however often the same member is to hand over', async () => {
    cluster.onTransfer = () => {
      cluster.now = { ...statusOfFour, id: 'b#2', leader: 'b#2' };
    };
    for (const from of ['a', 'a', 'a#1']) expect(await admin.transfer(undefined, from)).to.equal('b');
    expect(cluster.transfers).to.have.length(1);
    expect(await refusal(admin.transfer(undefined, 'x'))).to.deep.equal([404, 'member "x" not found']);
  });

  it('has the leader lead on when it is named', async () => {
    expect(await admin.transfer('a')).to.equal('a');
    expect(cluster.transfers).to.deep.equal([]);
  });

  it('has no node to add to or take from a cluster of one without a raft section', async () => {
    admin = new ClusterAdmin(new ClusterOf(statusOfOne, false), systemClock);
    expect((await admin.overview()).members).to.have.length(1);
    for (const asked of [
      admin.add({ nodeId: 'e', address: 'e:1' }),
      admin.remove('single', true),
      admin.transfer(undefined),
    ])
      expect(await refusal(asked)).to.deep.equal([
        409,
        'this is a cluster of one: a raft section in the settings lets others join',
      ]);
  });

  it('keeps the only voter, even by force', async () => {
    admin = new ClusterAdmin(new ClusterOf(statusOfOne), systemClock);
    expect(await refusal(admin.remove('single', true))).to.deep.equal([
      409,
      'single is the only voter: no member would be left to decide anything',
    ]);
  });
});
