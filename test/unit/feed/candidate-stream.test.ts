// The events of a candidate on the stream (fleet.md §3), for proxies of ours alone.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Feed } from '../../../src/feed/feed.ts';
import { type Follower, SnapshotStreams } from '../../../src/feed/sse.ts';
import { CandidateShares } from '../../../src/fleet/candidate-shares.ts';
import { configDigest } from '../../../src/model/config-digest.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { cookieKeysAfter } from '../../support/cookie-rings.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { config } from '../../support/proxy-config.ts';

describe('a candidate on the stream', () => {
  let feed: Feed;
  let shares: CandidateShares;
  let streams: SnapshotStreams;
  let server: Server;

  beforeEach(async () => {
    feed = new Feed();
    shares = new CandidateShares(feed);
    const follower = ({ headers }: IncomingMessage): Follower => {
      const id = headers['x-sluice-proxy'];
      const [rollout, , heardIndex = 0] = headers['x-sluice-candidate']?.toString().split(' ') ?? [];
      return {
        isOurs: id !== undefined,
        hasSha256: undefined,
        hasRollout: rollout,
        knownIndex: Number(heardIndex),
        headers: {},
        shareOf: (candidate) => shares.shareOf(candidate, { id: String(id), labels: {} }),
        closed: () => undefined,
      };
    };
    const own = { source: feed, clock: new ManualClock(), logger: silentLogger, clusterId: () => 'c-1' };
    streams = new SnapshotStreams({ ...own, follower, candidates: shares });
    server = createServer((_request, response) => streams.attach(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    streams.close();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  /** Connects and returns a reader of the events, as `event id rollout share`. */
  async function connect(headers: Record<string, string>): Promise<() => string[]> {
    const { port } = server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, agent: false, headers } as const;
    const [response] = (await once(get(options), 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return () =>
      [...text.matchAll(/event: (\w+)\nid: (\d+)\ndata: (.*)\n\n/g)].map(([, event, id, data]) => {
        const { rollout = '', share = '', shadowSample = '' } = JSON.parse(data ?? '') as Record<string, unknown>;
        return `${event} ${id} ${rollout} ${share} ${shadowSample}`.trim();
      });
  }

  const candidate = (parts: Partial<Candidate> = {}): Candidate => ({
    rollout: 'r',
    index: 5,
    since: 5,
    share: 10,
    by: 'client',
    key: { clientIp: true },
    deadmanMs: 60_000,
    config: config({ index: 5, id: 'tried', secrets: ['/snapshot/listeners/0/tls/key'] }),
    ...parts,
  });
  const offer = (made: Candidate | undefined, index = made?.index ?? 0): void => feed.offer({ candidate: made, index });

  it('says which requests are compared, and when none is any more', async () => {
    feed.publish(config({ index: 1 }));
    offer(candidate({ share: 0, shadowSample: 3 }));
    const events = await connect({ 'x-sluice-proxy': 'p' });
    await eventually(() => expect(events().slice(1)).to.deep.equal(['candidate 5 r 0 3']));
    offer(candidate({ index: 6, share: 0 }), 6);
    await eventually(() => expect(events().slice(2)).to.deep.equal(['share 6 r 0']));
  });

  it('comes after the stable one, with all that a proxy needs, and only to ours', async () => {
    feed.publish(config({ index: 3 }));
    const own = candidate();
    offer(own);
    const [ours, stranger] = [await connect({ 'x-sluice-proxy': 'p' }), await connect({})];
    await eventually(() => expect(ours()).to.deep.equal(['snapshot 3', 'candidate 5 r 10']));
    offer({ ...own, share: 30, index: 6 });
    await eventually(() => expect(ours().at(-1)).to.equal('share 6 r 30'));
    offer(undefined, 7);
    await eventually(() => expect(ours().at(-1)).to.equal('withdraw 7 r'));
    feed.publish(config({ index: 8 }));
    await eventually(() => expect(stranger()).to.deep.equal(['snapshot 3', 'snapshot 8']));
  });

  it('is the event of fleet.md §3', async () => {
    feed.publish(config({ index: 3 }));
    const own = candidate({ key: { header: 'x-user' }, by: 'proxy', share: 40 });
    offer(own);
    shares.connected(['p']);
    const { port } = server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, agent: false, headers: { 'x-sluice-proxy': 'p' } } as const;
    const [response] = (await once(get(options), 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const data = await eventually(() => {
      const found = /event: candidate\nid: 5\ndata: (.*)\n\n/.exec(text);
      if (found === null) throw new Error(text);
      return JSON.parse(found[1] ?? '') as unknown;
    });
    const { id, name, createdAt, snapshot, secrets } = own.config;
    expect(data).to.deep.equal({
      rollout: 'r',
      share: 100,
      by: 'proxy',
      key: { header: 'x-user' },
      deadmanMs: 60_000,
      sha256: configDigest(snapshot),
      id,
      name,
      createdAt,
      snapshot,
      secrets,
    });
    response.destroy();
  });

  it('that a proxy has already costs it a share, or a withdrawal when it is over', async () => {
    feed.publish(config({ index: 3 }));
    const before = await connect({ 'x-sluice-proxy': 'p', 'x-sluice-candidate': 'former' });
    await eventually(() => expect(before()).to.deep.equal(['snapshot 3', 'withdraw 0 former']));
    offer(candidate());
    const [has, hasAnother] = [
      await connect({ 'x-sluice-proxy': 'q', 'x-sluice-candidate': 'r' }),
      await connect({ 'x-sluice-proxy': 's', 'x-sluice-candidate': 'former' }),
    ];
    await eventually(() => expect(has()).to.deep.equal(['snapshot 3', 'share 5 r 10']));
    await eventually(() => expect(hasAnother()).to.deep.equal(['snapshot 3', 'candidate 5 r 10']));
  });

  it('that a proxy holds which is ahead of this node is spoken of when the node has caught up', async () => {
    feed.publish(config({ index: 3 }));
    const ahead = await connect({ 'x-sluice-proxy': 'p', 'x-sluice-candidate': 'later c-1 7' });
    await eventually(() => expect(ahead()).to.deep.equal(['snapshot 3']));
    const passed = candidate({ index: 5 });
    offer(passed);
    offer({ ...passed, share: 20, index: 6 });
    offer(undefined, 9);
    // It took part in nothing before; what is over by now it has to hear of.
    await eventually(() => expect(ahead()).to.deep.equal(['snapshot 3', 'withdraw 9 later']));
  });

  it('keeps its share at a proxy that has it, until the node that it comes to has caught up', async () => {
    feed.publish(config({ index: 3 }));
    shares.hold('behind');
    offer(candidate({ share: 50 }));
    const [has, fresh] = [
      await connect({ 'x-sluice-proxy': 'p', 'x-sluice-candidate': 'r c-1 5' }),
      await connect({ 'x-sluice-proxy': 'q' }),
    ];
    await eventually(() => expect([has(), fresh()]).to.deep.equal([['snapshot 3'], ['snapshot 3']]));
    shares.hold(undefined);
    await eventually(() => expect(has()).to.deep.equal(['snapshot 3', 'share 5 r 50']));
    await eventually(() => expect(fresh()).to.deep.equal(['snapshot 3', 'candidate 5 r 50']));
    shares.hold('cut off');
    await eventually(() => expect(has().at(-1)).to.equal('share 5 r 0'));
  });

  it('is not in the way of streams that begin while something is active', () => {
    feed.publish(config({ index: 3 }));
    const own = { source: feed, clock: new ManualClock(), logger: silentLogger, clusterId: () => 'c-1' };
    new SnapshotStreams({ ...own, candidates: shares }).close();
  });

  it('that becomes active is told as active first', async () => {
    feed.publish(config({ index: 3 }));
    const own = candidate();
    offer(own);
    const [ours, has, stranger] = [
      await connect({ 'x-sluice-proxy': 'p' }),
      await connect({ 'x-sluice-proxy': 'q', 'x-sluice-candidate': 'r' }),
      await connect({}),
    ];
    await eventually(() => expect([ours(), has()].map(({ length }) => length)).to.deep.equal([2, 2]));
    feed.publish({ ...own.config, index: 9 });
    const late = await connect({ 'x-sluice-proxy': 's' });
    offer(undefined, 9);
    // Who has it as the candidate is not sent it again.
    for (const lines of [ours, has])
      await eventually(() => expect(lines().slice(2)).to.deep.equal(['current 9', 'withdraw 9 r']));
    await eventually(() => expect(stranger()).to.deep.equal(['snapshot 3', 'snapshot 9']));
    await eventually(() => expect(late()[0]).to.equal('snapshot 9'));
  });

  it('comes with drained endpoints and keys of cookies, at once and when they change; other programs get neither', async () => {
    feed.cookieKeys.publish(cookieKeysAfter(2));
    feed.publish(config({ index: 3 }));
    const ours = await connect({ 'x-sluice-proxy': 'p' });
    const foreign = await connect({});
    await eventually(() => expect(ours()).to.deep.equal(['snapshot 3', 'cookieKeys 2']));
    feed.drains.publish({ index: 5, endpoints: [] });
    feed.cookieKeys.publish({ ...cookieKeysAfter(3), index: 6 });
    await eventually(() =>
      expect(ours().toSorted()).to.deep.equal(['cookieKeys 2', 'cookieKeys 6', 'drains 5', 'snapshot 3']),
    );
    feed.publish(config({ index: 7 }));
    await eventually(() => expect(foreign()).to.deep.equal(['snapshot 3', 'snapshot 7']));
  });
});
