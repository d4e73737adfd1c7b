// Clients of a candidate (fleet.md §7): a share of clients, proxies by number, proxies by label; none at a node that
// is cut off.
import { expect } from 'chai';
import { Feed } from '../../../src/feed/feed.ts';
import { CandidateShares } from '../../../src/fleet/candidate-shares.ts';
import { RolloutWatch } from '../../../src/fleet/rollout-watch.ts';
import type { RolloutReport } from '../../../src/model/fleet-messages.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import { bucketOf } from '../../../src/model/rollout-bucket.ts';
import { noTraffic } from '../../../src/model/traffic-windows.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { config } from '../../support/proxy-config.ts';

const candidate = (parts: Partial<Candidate> = {}): Candidate => ({
  rollout: 'r',
  index: 5,
  since: 5,
  share: 10,
  by: 'client',
  key: { clientIp: true },
  deadmanMs: 5_000,
  config: config({ index: 5 }),
  ...parts,
});
const proxy = (id: string, labels: Readonly<Record<string, string>> = {}) => ({ id, labels });
const ids = Array.from({ length: 7 }, (_, n) => `p${n}`);

describe('the shares of a candidate', () => {
  let feed: Feed;
  let shares: CandidateShares;
  beforeEach(() => {
    feed = new Feed();
    shares = new CandidateShares(feed);
  });
  const offer = (parts: Partial<Candidate> = {}): Candidate => {
    const made = candidate(parts);
    feed.offer({ candidate: made, index: made.index });
    return made;
  };

  it('are those of the clients of each proxy, or all of those with the labels', () => {
    expect(shares.shareOf(offer(), proxy('p'))).to.equal(10);
    const labelled = offer({ share: 0, labels: [{ site: 'fra', tier: '1' }] });
    expect(shares.shareOf(labelled, proxy('p', { site: 'fra', tier: '1', more: 'x' }))).to.equal(100);
    expect(shares.shareOf(labelled, proxy('p', { site: 'fra' }))).to.equal(0);
  });

  it('add up over steps by labels and by share', () => {
    const both = offer({ share: 30, labels: [{ site: 'fra' }, { site: 'ams' }] });
    const sharesOf = ['fra', 'ams', 'lon'].map((site) => shares.shareOf(both, proxy('p', { site })));
    expect(sharesOf).to.deep.equal([100, 100, 30]);
  });

  it('by proxy take exactly so many as ⌈share × connected⌉, in the order of their hashes', () => {
    const ranked = ids.toSorted((one, other) => bucketOf('r', one) - bucketOf('r', other));
    shares.connected([...ids, ...ids]);
    for (const [share, count] of [
      [0.01, 1],
      [14.2, 1],
      [14.3, 2],
      [50, 4],
      [100, 7],
    ] as const) {
      const made = offer({ by: 'proxy', share });
      const chosen = ids.filter((id) => shares.shareOf(made, proxy(id)) === 100);
      expect(chosen.toSorted()).to.deep.equal(ranked.slice(0, count).toSorted());
    }
    let told = 0;
    shares.subscribe(() => told++);
    const made = offer({ by: 'proxy', share: 50 });
    shares.connected(ids.slice(0, 2));
    expect(ids.filter((id) => shares.shareOf(made, proxy(id)) > 0)).to.have.length(1);
    expect(told).to.equal(2);
    shares.connected(ids.slice(0, 2).reverse());
    expect(told, 'nothing has changed').to.equal(2);
  });

  it('are told to the data plane of the process, again when they change, and none once it is over', () => {
    const seen: (number | undefined)[] = [];
    const source = shares.sourceOf(() => proxy('p0', { site: 'fra' }));
    const end = source.subscribeCandidate?.((news) => seen.push(news?.share));
    offer();
    offer({ share: 30 });
    shares.hold('cut off');
    shares.hold('cut off');
    shares.hold(undefined);
    offer({ share: 0, labels: [{ site: 'fra' }] });
    feed.offer({ candidate: undefined, index: 9 });
    end?.();
    offer();
    expect(seen).to.deep.equal([10, 30, 0, 30, 100, undefined]);
  });

  describe('that a node watches', () => {
    const word = (id: string, state: 'installed' | 'pending' = 'installed'): RolloutReport => ({
      rollout: 'r',
      life: 'l',
      candidate: noTraffic,
      stable: noTraffic,
      proxies: [{ id, state }],
    });
    const watchOf = (clock: ManualClock, cluster: { leads: boolean; hasLeader: boolean }, asked: string[] = []) =>
      new RolloutWatch({
        nodeId: 'a',
        fleet: { rolloutWord: () => word('a') },
        shares,
        peers: async () => [
          {
            nodeId: 'b',
            ask: async ({ op }) => {
              asked.push(op);
              return word('p1');
            },
          },
          { nodeId: 'c', ask: async () => undefined },
        ],
        cluster,
        clock,
      });
    const turns = () => new Promise((resolve) => setImmediate(resolve));

    it("are zero after the dead man's time without a leader, and as before with the next", () => {
      const clock = new ManualClock();
      const cluster = { leads: false, hasLeader: true };
      const made = offer();
      const watch = watchOf(clock, cluster);
      expect(shares.shareOf(made, proxy('p')), 'what it knows may be over').to.equal(0);
      watch.caughtUp();
      expect(shares.shareOf(made, proxy('p'))).to.equal(10);
      cluster.hasLeader = false;
      for (let ms = 0; ms < 4_750; ms += 250) clock.advance(250);
      expect(shares.shareOf(made, proxy('p'))).to.equal(10);
      clock.advance(250);
      expect(shares.shareOf(made, proxy('p'))).to.equal(0);
      cluster.hasLeader = true;
      clock.advance(250);
      expect(shares.shareOf(made, proxy('p'))).to.equal(10);
      feed.offer({ candidate: undefined, index: 8 });
      clock.advance(250);
      expect(clock.pending).to.equal(0);
      watch.close();
    });

    it('are judged by what all nodes say, of which only the leader asks the others', async () => {
      const clock = new ManualClock();
      const asked: string[] = [];
      const cluster = { leads: false, hasLeader: true };
      const watch = watchOf(clock, cluster, asked);
      offer();
      clock.advance(250);
      await turns();
      expect(asked).to.deep.equal([]);
      cluster.leads = true;
      clock.advance(250);
      await turns();
      expect(asked).to.deep.equal(['rollout']);
      expect([...watch.words().keys()].sort()).to.deep.equal(['a', 'b']);
      watch.close();
      expect(clock.pending).to.equal(0);
    });

    it('by proxy are of all that are connected anywhere, on every node', async () => {
      const clock = new ManualClock();
      const watch = watchOf(clock, { leads: false, hasLeader: true });
      watch.caughtUp();
      const made = offer({ by: 'proxy', share: 50 });
      clock.advance(250);
      await turns();
      clock.advance(250);
      const chosen = ['a', 'p1'].filter((id) => shares.shareOf(made, proxy(id)) === 100);
      expect(chosen).to.deep.equal(bucketOf('r', 'a') < bucketOf('r', 'p1') ? ['a'] : ['p1']);
      watch.close();
    });
  });
});
