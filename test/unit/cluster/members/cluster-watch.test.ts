import { expect } from 'chai';
import type { Config, MemberStatus, RoleReport } from '../../../../raft/index.ts';
import { ClusterWatch } from '../../../../src/cluster/members/cluster-watch.ts';
import { ClusterOf, statusOfFour } from '../../../support/cluster-of.ts';
import { logCapture } from '../../../support/log-capture.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('the watch of a node over its place in the cluster', () => {
  let clock: ManualClock;
  let log: ReturnType<typeof logCapture>;
  let cluster: ClusterOf;
  let watch: ClusterWatch;
  let changes: (string | undefined)[];
  const { config } = statusOfFour;

  beforeEach(() => {
    clock = new ManualClock();
    log = logCapture();
    cluster = new ClusterOf(statusOfFour);
    watch = new ClusterWatch({ cluster, clock, logger: log.logger });
    changes = [];
    watch.subscribe(() => changes.push(watch.refusal));
  });

  afterEach(() => watch.close());

  const hear = (role: RoleReport['role'], term: number, leader?: string, now: Config = config): void =>
    watch.heard({ role, term, config: now, leader: now.members.find(({ id }) => id === leader) });
  const seconds = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      clock.advance(1_000);
      await Promise.resolve();
    }
  };
  const lines = (): string[] => log.lines.map((line) => (JSON.parse(line) as { message: string }).message);

  it('tells elections and leaders', () => {
    hear('leader', 3, 'a#1');
    hear('follower', 4);
    hear('candidate', 5);
    hear('follower', 5, 'c#3');
    hear('follower', 5, 'c#3');
    expect(lines()).to.deep.equal([
      'cluster: leads in term 3',
      'cluster: leads in term 3 no more',
      'cluster: asks for votes in term 5',
      'cluster: follows c in term 5',
    ]);
  });

  it('tells which members were added, promoted, replaced and removed, and by which key', () => {
    const of = (voters: string[], learners: string[]): Config => ({
      ...config,
      voters,
      learners,
      members: [...voters, ...learners].map((id) => ({ id, address: '', clientAddress: '' })),
    });
    hear('leader', 3, 'a#1', of(['a#1', 'b#2', 'c#3'], []));
    hear('leader', 3, 'a#1', of(['a#1', 'b#2', 'c#3'], ['d#4']));
    watch.attribute('d#4', 'ops');
    hear('leader', 3, 'a#1', of(['a#1', 'b#2', 'c#3', 'd#4'], []));
    hear('leader', 3, 'a#1', of(['a#1', 'b#2', 'c#3', 'd#4'], ['e#5']));
    watch.attribute('b#2', 'ops');
    hear('leader', 3, 'a#1', { ...of(['a#1', 'c#3', 'd#4', 'e#5'], []), outgoing: ['b#2'] });
    hear('leader', 3, 'a#1', of(['a#1', 'c#3', 'd#4', 'e#5'], []));
    hear('leader', 3, 'a#1', of(['a#1', 'c#3', 'd#4'], []));
    expect(lines().slice(1)).to.deep.equal([
      'cluster: d added as a learner',
      'cluster: d promoted by ops',
      'cluster: e added as a learner',
      'cluster: b replaced by e, by ops',
      'cluster: e removed',
    ]);
  });

  it('warns after five seconds without a leader, once a minute, and names the members that are unheard', async () => {
    cluster.now = { ...statusOfFour, heardMs: { 'b#2': 12_000, 'c#3': 4_000 } } satisfies MemberStatus;
    hear('follower', 3, 'b#2');
    hear('follower', 3);
    await seconds(4);
    expect(lines()).to.have.length(2);
    await seconds(1);
    const reason = 'no quorum: b unheard for 4 s, c unheard for 4 s';
    expect(JSON.parse(log.lines.at(-1) ?? '')).to.deep.include({
      reason,
      message: 'cluster: no leader for 5 s, writes are refused',
    });
    expect(watch.why).to.equal('no quorum: b unheard for 5 s, c unheard for 4 s');
    await seconds(59);
    expect(lines()).to.have.length(3);
    await seconds(1);
    expect(lines().at(-1)).to.equal('cluster: no leader for 65 s, writes are refused');
    hear('follower', 4, 'b#2');
    expect(watch.why).to.equal(undefined);
  });

  it('sends proxies elsewhere after two election timeouts without a leader, until there is one', async () => {
    hear('follower', 3, 'b#2');
    await seconds(60);
    hear('follower', 3);
    await seconds(3);
    expect(watch.refusal).to.equal(undefined);
    await seconds(1);
    expect(watch.refusal).to.match(/^no leader for 4 s$/);
    hear('follower', 4, 'c#3');
    expect(changes).to.deep.equal(['no leader for 4 s', undefined]);
  });

  it('says once a minute that the node was removed, and sends proxies elsewhere at once', async () => {
    hear('follower', 3, 'b#2');
    watch.removed('this node was removed from its cluster');
    watch.removed('this node was removed from its cluster');
    expect(changes).to.deep.equal(['this node was removed from its cluster']);
    hear('follower', 3);
    await seconds(120);
    expect(lines().filter((line) => line === 'cluster: this node was removed from its cluster')).to.have.length(3);
    expect(lines().some((line) => line.includes('no leader for'))).to.equal(false);
  });

  it('is silent in a cluster of one', async () => {
    watch.close();
    const alone = new ClusterWatch({ cluster: new ClusterOf(undefined, false), clock, logger: log.logger });
    await seconds(10);
    expect([alone.refusal, alone.why, lines()]).to.deep.equal([undefined, undefined, []]);
    alone.close();
  });
});
