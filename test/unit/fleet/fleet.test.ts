// fleet.md §3–§5, for one node.

import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { digestOf } from '../../../src/feed/event-frames.ts';
import { Feed } from '../../../src/feed/feed.ts';
import { CandidateShares } from '../../../src/fleet/candidate-shares.ts';
import { Fleet } from '../../../src/fleet/fleet.ts';
import { FleetAdmin } from '../../../src/fleet/fleet-admin.ts';
import { fleetOf } from '../../../src/fleet/fleet-view.ts';
import type { AcknowledgementMessage } from '../../../src/fleet/peer-messages.ts';
import type { FleetPeer } from '../../../src/fleet/peer-requests.ts';
import { Roster } from '../../../src/fleet/roster.ts';
import type { FleetView, ProxyView } from '../../../src/model/answers/fleet-answers.ts';
import { noShadow, noShadowExamples } from '../../../src/model/shadow.ts';
import { leadingDesk } from '../../support/lease-desk.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { config } from '../../support/proxy-config.ts';

const hours = 3_600_000;

describe('the proxies of a node', () => {
  let clock: ManualClock;
  let feed: Feed;
  let fleet: Fleet;
  let converged: number[];
  let log: ReturnType<typeof logCapture>;

  beforeEach(() => {
    clock = new ManualClock();
    feed = new Feed();
    log = logCapture();
    let count = 0;
    converged = [];
    fleet = new Fleet({
      nodeId: 'n',
      shares: new CandidateShares(feed),
      clusterId: () => 'c',
      source: feed,
      clock,
      logger: log.logger,
      newRandom: () => `random-${count++}`,
      onConverged: (seconds) => converged.push(seconds),
    });
  });

  const follow = (id: string | undefined, boot = 'b', more: Record<string, string> = {}) => {
    const headers = id === undefined ? {} : { 'x-sluice-proxy': id, 'x-sluice-boot': boot, ...more };
    const request = { headers, socket: { remoteAddress: '10.0.0.9' } };
    return fleet.follower(request as unknown as IncomingMessage);
  };

  const tokenOf = (follower: { headers: Readonly<Record<string, string>> }): string =>
    follower.headers['X-Sluice-Ack'] ?? '';

  const ack = (token: string, index: number, more: Partial<AcknowledgementMessage> = {}): AcknowledgementMessage => ({
    token,
    boot: 'b',
    index,
    sha256: 'f',
    of: 'stable',
    state: 'installed',
    tookMs: 1,
    problems: [],
    listeners: [],
    ...more,
  });

  const view = (): FleetView => fleetOf([fleet.view()], []);
  const states = (): Record<string, string> => Object.fromEntries(view().proxies.map(({ id, state }) => [id, state]));

  it('are strangers without a name: counted, and told nothing more', () => {
    const stranger = follow(undefined);
    expect(stranger).to.deep.include({ isOurs: false, headers: {} });
    expect(view()).to.deep.include({ anonymous: 1, proxies: [] });
    stranger.closed();
    expect(view().anonymous).to.equal(0);
  });

  it('are current, behind, refused or disconnected', () => {
    feed.publish(config({ index: 5, id: 's5' }));
    const p = follow('p', 'b', { 'x-sluice-labels': 'site=fra' });
    expect(states()).to.deep.equal({ p: 'behind' });
    expect(fleet.acknowledge(ack(tokenOf(p), 5))).to.equal(true);
    expect(states()).to.deep.equal({ p: 'current' });
    const [shown] = view().proxies;
    expect(shown).to.deep.include({
      embedded: false,
      labels: { site: 'fra' },
      node: 'n',
      address: '10.0.0.9',
      installed: { index: 5, snapshotId: 's5', sha256: 'f' },
      wanted: { index: 5, snapshotId: 's5', sha256: digestOf(config({ index: 5 })) },
      candidate: null,
    });
    feed.publish(config({ index: 8, id: 's8' }));
    expect(states()).to.deep.equal({ p: 'behind' });
    const problems = [{ pointer: '', message: 'cannot' }];
    fleet.acknowledge(ack(tokenOf(p), 8, { state: 'refused', problems }));
    expect(view().proxies[0]).to.deep.include({ state: 'refused', problems });
    expect(view().proxies[0]?.installed?.index).to.equal(5);
    expect(log.lines.join()).to.contain('a proxy refuses the configuration');
    p.closed();
    expect(states()).to.deep.equal({ p: 'disconnected' });
    expect(fleet.acknowledge(ack(tokenOf(p), 8))).to.equal(false);
    expect(fleet.counts()).to.deep.equal({ current: 0, behind: 0, refused: 0, disconnected: 1 });
  });

  it('stay current when an older word comes late, and are not told to refuse by one', () => {
    feed.publish(config({ index: 5, id: 's5' }));
    const p = follow('p');
    feed.publish(config({ index: 8, id: 's8' }));
    fleet.acknowledge(ack(tokenOf(p), 8));
    fleet.acknowledge(ack(tokenOf(p), 5));
    expect(states()).to.deep.equal({ p: 'current' });
    fleet.acknowledge(ack(tokenOf(p), 5, { state: 'refused', problems: [{ pointer: '', message: 'cannot' }] }));
    expect(view().proxies[0]).to.deep.include({ state: 'current', problems: [] });
    expect(log.lines.join()).not.to.contain('refuses');
  });

  it('are forgotten a day after they left, or on request, and not before', () => {
    follow('p').closed();
    follow('q').closed();
    clock.advance(23 * hours);
    follow('r').closed();
    expect(Object.keys(states())).to.deep.equal(['p', 'q', 'r']);
    expect([fleet.forget('q'), fleet.forget('q')]).to.deep.equal([true, false]);
    clock.advance(2 * hours);
    expect(Object.keys(states())).to.deep.equal(['r']);
  });

  it('may come again before their old stream was seen to end', () => {
    const old = follow('p');
    const fresh = follow('p');
    expect(fleet.acknowledge(ack(tokenOf(old), 1))).to.equal(false);
    old.closed();
    expect(states()).to.deep.equal({ p: 'current' });
    fresh.closed();
    expect(states()).to.deep.equal({ p: 'disconnected' });
  });

  it('are two when two processes have one id, with a warning', () => {
    follow('p', 'one');
    follow('p', 'two');
    expect(view().proxies.map(({ id, duplicate }) => [id, duplicate])).to.deep.equal([
      ['p', true],
      ['p', true],
    ]);
    expect(log.lines.join()).to.contain('two proxies have one id');
  });

  it('are not heard with the boot of another process', () => {
    const p = follow('p', 'one');
    expect(fleet.acknowledge(ack(tokenOf(p), 1, { boot: 'two' }))).to.equal(false);
    expect(fleet.report({ token: tokenOf(p), boot: 'two', window: [] })).to.equal(false);
  });

  it('need not be sent what they have, of this cluster', () => {
    const sha256 = 'a'.repeat(64);
    expect(follow('p', 'b', { 'x-sluice-has': `c 5 ${sha256}` }).hasSha256).to.equal(sha256);
    expect(follow('q', 'b', { 'x-sluice-has': `d 5 ${sha256}` }).hasSha256).to.equal(undefined);
  });

  it('include the one within the node, and have converged when all have it', () => {
    fleet.embed({ labels: {}, version: '1' });
    const p = follow('p');
    feed.publish(config({ index: 5 }));
    clock.advance(40);
    const word = { index: 5, of: 'stable', state: 'installed', tookMs: 1, problems: [], listeners: [] } as const;
    fleet.acknowledgeLocal(word, config({ index: 5 }));
    expect(fleet.progress(5).proxies.map(({ id, state }) => [id, state])).to.deep.equal([
      ['n', 'installed'],
      ['p', 'pending'],
    ]);
    expect(converged).to.deep.equal([]);
    clock.advance(60);
    fleet.acknowledge(ack(tokenOf(p), 5));
    expect(converged).to.deep.equal([0.1]);
    expect(view().proxies.find(({ embedded }) => embedded)?.installed?.sha256).to.equal(digestOf(config()));
  });

  it('say of the comparisons of a rollout what all nodes have heard, apart from those that do not know it', async () => {
    const report = (rollout: string | null, requests: number) => ({
      ...{ rollout, counts: { ...noShadow, requests }, examples: noShadowExamples },
    });
    const answers: readonly unknown[] = [report('r', 3), report('earlier', 9), undefined, { rollout: 'r', counts: {} }];
    const own = { shadowWord: () => report('r', 4) } as unknown as Fleet;
    const peers = async () => answers.map((answer, at) => ({ nodeId: `n${at}`, ask: async () => answer }));
    const options = { nodeId: 'n', fleet: own, peers } as unknown as ConstructorParameters<typeof FleetAdmin>[0];
    const admin = new FleetAdmin(options);
    expect(await admin.shadow('r')).to.deep.equal(report('r', 7));
    expect(await admin.shadow('unknown')).to.equal(undefined);
  });

  it('say what their traffic is like', () => {
    const p = follow('p');
    const window = {
      of: 'stable',
      rollout: null,
      requests: 50,
      serverErrors: 4,
      clientErrors: 9,
      proxyErrors: 1,
    } as const;
    expect(view().proxies[0]).to.deep.include({ requestsPerSecond: null, errorRate: null });
    clock.advance(10_000);
    expect(fleet.report({ token: tokenOf(p), boot: 'b', window: [{ ...window, latency: [] }] })).to.equal(true);
    expect(view().proxies[0]).to.deep.include({ requestsPerSecond: 5, errorRate: 0.1 });
  });

  describe('of a whole cluster', () => {
    const peer = (nodeId: string, answer: (question: object) => unknown): FleetPeer => ({
      nodeId,
      ask: async (question) => answer(question),
    });
    const rosterOf = (...peers: FleetPeer[]) =>
      new Roster({ peers: async () => peers, own: () => fleet.liveIds(), clock });
    const adminWith = (roster: Roster, ...peers: FleetPeer[]) =>
      new FleetAdmin({
        ...{ nodeId: 'n', fleet, roster, clock, logger: log.logger },
        peers: async () => peers,
        leases: leadingDesk('n', fleet, clock),
      });
    const admin = (...peers: FleetPeer[]) => adminWith(rosterOf(...peers), ...peers);

    it('count as unheard while their node does not answer, was removed or began anew, and not once they are elsewhere', async () => {
      const z = { id: 'z', state: 'current', node: 'm' } as ProxyView;
      let process = 'm-1';
      let listed: readonly ProxyView[] = [z];
      let answers = true;
      const m = peer('m', (question) => {
        if (!answers) return undefined;
        if ('op' in question && question.op === 'roster') return { life: process, version: 1, proxies: listed };
        const proxies = listed.map(({ id }) => ({ id, state: 'installed', problems: [] }));
        return 'op' in question && question.op === 'view'
          ? { proxies: listed, anonymous: 0 }
          : { life: process, proxies };
      });
      let members = [m];
      const roster = new Roster({ peers: async () => members, own: () => fleet.liveIds(), clock });
      const all = new FleetAdmin({
        ...{ nodeId: 'n', fleet, roster, clock, logger: log.logger },
        peers: async () => members,
        leases: leadingDesk('n', fleet, clock),
      });
      const unheard = async () => {
        const converging = all.converge(5, { is: 'all' }, 1);
        clock.advance(1);
        const { pendingProxies, unheard: named } = await converging;
        return [pendingProxies, named.map(({ proxy, node }) => `${proxy} at ${node}`)];
      };
      await roster.look();
      expect(await unheard()).to.deep.equal([[], []]);
      answers = false;
      expect(await unheard()).to.deep.equal([['m', 'z'], ['z at m']]);
      members = [];
      expect(await unheard()).to.deep.equal([['z'], ['z at m']]);
      expect((await all.list()).proxies.map(({ id, state }) => [id, state])).to.deep.equal([['z', 'disconnected']]);
      members = [m];
      answers = true;
      process = 'm-2';
      listed = [];
      expect(await unheard()).to.deep.equal([['z'], ['z at m']]);
      await roster.look();
      expect(await unheard()).to.deep.equal([['z'], ['z at m']]);
      listed = [z];
      await roster.look();
      listed = [];
      await roster.look();
      expect(await unheard(), 'left by itself').to.deep.equal([[], []]);
    });

    it('are listed by any node, which names those that do not answer', async () => {
      const other = { proxies: [{ id: 'z', state: 'current', node: 'm' } as ProxyView], anonymous: 2 };
      follow('p');
      const list = await admin(
        peer('m', () => other),
        peer('o', () => undefined),
      ).list();
      expect(list.proxies.map(({ id }) => id)).to.deep.equal(['p', 'z']);
      expect(list).to.deep.include({ anonymous: 2, unreachableNodes: ['o'] });
      expect(list.summary).to.deep.equal({ total: 2, current: 2, behind: 0, refused: 0, disconnected: 0 });
    });

    it('are not shown as gone by one node while another has them', async () => {
      follow('p').closed();
      const there = { proxies: [{ id: 'p', state: 'current', node: 'm', lastSeen: '' } as ProxyView], anonymous: 0 };
      expect((await admin(peer('m', () => there)).list()).proxies.map(({ node }) => node)).to.deep.equal(['m']);
    });

    it('are heard at any node; an unknown token is 409, a node that is away 503', async () => {
      const asked: object[] = [];
      const knows = (known: unknown) =>
        admin(
          peer('m', (question) => {
            asked.push(question);
            return known;
          }),
        );
      const message = ack(Buffer.from('m').toString('base64url').concat('.random-1'), 5);
      await knows({ known: true }).acknowledge(message);
      expect(asked).to.deep.equal([{ op: 'acknowledge', message }]);
      for (const [answer, code] of [
        [{ known: false }, 'CONFLICT'],
        [undefined, 'UNAVAILABLE'],
      ]) {
        const error = await knows(answer)
          .acknowledge(message)
          .catch((reason: unknown) => reason);
        expect(error).to.have.property('code', code);
      }
      for (const token of ['', 'nonsense', Buffer.from('gone').toString('base64url').concat('.random-1')]) {
        const error = await admin()
          .acknowledge({ ...message, token })
          .catch((reason: unknown) => reason);
        expect(error).to.have.property('code', 'CONFLICT');
      }
    });

    it('are forgotten on every node, but not while they are connected', async () => {
      const p = follow('p');
      const connected = await admin()
        .forget('p')
        .catch((reason: unknown) => reason);
      expect(connected).to.have.property('code', 'CONFLICT');
      p.closed();
      await admin().forget('p');
      const unknown = await admin()
        .forget('p')
        .catch((reason: unknown) => reason);
      expect(unknown).to.have.property('code', 'NOT_FOUND');
    });

    it('are waited for until they have it, or until time is up', async () => {
      const p = follow('p');
      let remote: 'pending' | 'installed' = 'pending';
      const there = admin(peer('m', () => ({ proxies: [{ id: 'm', state: remote, problems: [] }] })));
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const waiting = there.converge(5, { is: 'all' }, 5_000);
      await turn();
      fleet.acknowledge(ack(tokenOf(p), 5));
      await turn();
      remote = 'installed';
      clock.advance(100);
      await turn();
      expect(await waiting).to.deep.include({ wanted: 2, installed: 2, tookMs: 100 });

      const late = there.converge(6, { is: 'all' }, 300);
      for (let i = 0; i < 4; i++) {
        await turn();
        clock.advance(100);
      }
      expect(await late).to.deep.include({ wanted: 2, installed: 1, pendingProxies: ['p'], tookMs: 300 });
    });
  });
});
