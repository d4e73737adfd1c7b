// Progressive activation (fleet.md §7) with three nodes and two proxies as real processes, traffic on all five.

import { once } from 'node:events';
import { type IncomingMessage, get as open } from 'node:http';
import { expect } from 'chai';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import { bucketOf } from '../../src/model/rollout-bucket.ts';
import type { ApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { type Visit, Visitors } from '../support/visitors.ts';

interface Rollout extends Record<string, unknown> {
  readonly id: string;
  readonly state: string;
  readonly step: number;
  readonly share: number;
  readonly events: readonly {
    readonly at: string;
    readonly kind: string;
    readonly values: Record<string, unknown> | null;
  }[];
}

interface Side {
  readonly requests: number;
  readonly errorRate: number;
}

const byUser = { key: { header: 'x-user' } };

describe('a rollout over nodes and proxies', () => {
  let cluster: NodeCluster;
  let nodes: readonly ClusterNode[];
  let proxies: ProxyProcess[] = [];
  let upstreams: Upstream[] = [];
  let port: number;
  let urls: readonly string[];
  let visitors: Visitors;
  let snapshots = 0;
  let broken: 'no' | 'fails' | 'is slow';

  before(async () => {
    cluster = await NodeCluster.start();
    nodes = cluster.nodes;
    port = await freePort();
    broken = 'no';
    upstreams = [
      await startUpstream('stable', (_request, response) => void response.end('stable')),
      await startUpstream('candidate', (_request, response) => {
        if (broken === 'fails') response.statusCode = 500;
        setTimeout(() => response.end('candidate'), broken === 'is slow' ? 400 : 0);
      }),
    ];
    const api = first();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    for (const [at, { port: target }] of upstreams.entries()) {
      await api.create('destinations', { id: `d${at}`, name: `d${at}`, host: '127.0.0.1', port: target });
    }
    await api.create('routes', { id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd0' }] } });
    await api.activateAs('stable');
    const controlPlanes = nodes.map(({ url }) => url);
    proxies = [
      launchProxy({ controlPlanes, proxy: '  id: p1\n  labels: { site: fra }\n  bindAddress: 127.0.0.11' }),
      launchProxy({ controlPlanes, proxy: '  id: p2\n  bindAddress: 127.0.0.12' }),
    ];
    await eventually(() => Promise.all(proxies.map((proxy) => proxy.ready())));
    urls = [...nodes.map(({ proxyAddress }) => proxyAddress), '127.0.0.11', '127.0.0.12'].map(
      (address) => `http://${address}:${port}/`,
    );
    await eventually(async () => {
      for (const url of urls) expect((await call(url, 'GET', '/')).text).to.equal('stable');
    });
  });

  after(async () => {
    await Promise.all([...proxies, ...upstreams].map((each) => ('stop' in each ? each.stop('SIGKILL') : each.close())));
    await cluster.stop();
  });

  beforeEach(() => {
    broken = 'no';
    visitors = new Visitors(urls, 30);
  });
  afterEach(async () => {
    await visitors.stop();
    for (const { id, state } of (await first().get<Rollout[]>('/rollouts')).body) {
      if (state === 'running' || state === 'paused') await first().post(`/rollouts/${id}/abort`);
    }
  });

  const first = (): ApiClient => (nodes.find((node) => node.process !== undefined) ?? cluster.node('a')).api;
  /** A snapshot whose route goes to that upstream. */
  const snapshotTo = async (at: number, more: object = {}): Promise<string> => {
    await first().put('/routes/r', { name: 'r', forward: { destinations: [{ destinationId: `d${at}` }] }, ...more });
    return await first().create('snapshots', { name: `to-${at}-${++snapshots}` });
  };
  const start = async (id: string, plan: object): Promise<Rollout> => {
    const { status, body, headers } = await first().post<Rollout>(`/snapshots/${id}/rollout`, { ...byUser, ...plan });
    expect(status, JSON.stringify(body)).to.equal(202);
    expect(headers.get('warning')).to.equal(null);
    return body;
  };
  const look = async (id: string): Promise<Rollout> => (await first().get<Rollout>(`/rollouts/${id}`)).body;
  const until = (id: string, is: (rollout: Rollout) => boolean): Promise<Rollout> =>
    eventually(async () => {
      const rollout = await look(id);
      if (!is(rollout)) throw new Error(JSON.stringify(rollout));
      return rollout;
    });
  const kinds = ({ events }: Rollout): string[] => events.map(({ kind }) => kind);
  const candidateOn = async (): Promise<Record<string, string | undefined>> => {
    const { proxies: all } = (await first().get<FleetView & Record<string, unknown>>('/fleet')).body;
    const here = all.filter(({ state }) => state !== 'disconnected');
    return Object.fromEntries(here.map(({ id, candidate }) => [id, candidate?.snapshotId ?? undefined]));
  };
  const backToStable = async (): Promise<void> => {
    const id = await snapshotTo(0);
    expect((await first().post(`/snapshots/${id}/activate?wait=all&timeout=20s`)).status).to.equal(200);
    await allSaid('stable');
  };
  /** Visits that begin from now on, so many and at least one at each of these: however slow the machine is. */
  const visits = async (count: number, at: readonly string[] = urls): Promise<readonly Visit[]> => {
    const fromMs = performance.now();
    return await eventually(() => {
      const found = visitors.since(fromMs).filter((visit) => visit.fromMs >= fromMs && at.includes(visit.url));
      expect(found.length).to.be.at.least(count);
      expect(new Set(found.map(({ url }) => url)).size).to.equal(at.length);
      return found;
    });
  };
  /** Waits until every client gets this text. */
  const allSaid = async (said: string, at: readonly string[] = urls): Promise<void> => {
    await eventually(async () => {
      expect(new Set((await visits(30, at)).map((visit) => visit.said))).to.deep.equal(new Set([said]));
    });
  };
  const isInside = ({ id, share }: Pick<Rollout, 'id' | 'share'>, visitor: string): boolean =>
    bucketOf(id, visitor) < share / 100;
  const failures = (visits: readonly Visit[]): Visit[] => visits.filter(({ status }) => status !== 200);

  it('goes from step to step to its end, each visitor on one side of it, and none goes back', async () => {
    const id = await snapshotTo(1);
    const steps = [
      { share: 40, hold: '1s' },
      { share: 60, hold: '1s' },
    ];
    const begun = performance.now();
    const rollout = await start(id, { steps, comment: 'as it should be' });
    const over = await until(rollout.id, ({ state }) => state !== 'running');
    expect([over.state, kinds(over)]).to.deep.equal(['completed', ['started', 'step', 'completed']]);
    await allSaid('candidate');
    await visitors.stop();
    expect(failures(visitors.visits)).to.deep.equal([]);
    const seen = new Map<string, string>();
    for (const { visitor, url, said } of visitors.since(begun)) {
      const who = `${visitor} at ${url}`;
      if (seen.get(who) === 'candidate') expect(said, `${who} goes back`).to.equal('candidate');
      if (said === 'candidate' && !isInside({ id: rollout.id, share: 60 }, visitor)) seen.set(who, 'after');
      else seen.set(who, said);
    }
    const { body: history } = await first().get<Record<string, unknown>[] & Record<string, unknown>>(
      '/activations?limit=1',
    );
    expect(history[0]).to.deep.include({ snapshotId: id, reason: 'rollout', rollout: rollout.id });
    await eventually(async () => {
      const { body } = await first().get<FleetView & Record<string, unknown>>('/fleet');
      expect(body.proxies.map(({ state, installed }) => [state, installed?.snapshotId])).to.deep.equal(
        Array.from({ length: 5 }, () => ['current', id]),
      );
    });
    expect(proxies.every(({ output }) => output.some((line) => line.includes('a candidate is tried out')))).to.equal(
      true,
    );
    visitors = new Visitors(urls, 30);
    await backToStable();
  });

  for (const how of ['fails', 'is slow'] as const) {
    it(`whose candidate ${how} is rolled back by itself, and no more fails than its share of the traffic`, async () => {
      broken = how;
      const id = await snapshotTo(1);
      const guards = ['candidate.requests < 10.0 || (candidate.errorRate <= 0.01 && candidate.p95Ms < 300.0)'];
      const begun = performance.now();
      const { id: rollout } = await start(id, { steps: [{ share: 30, hold: '20s' }], guards, checkInterval: '500ms' });
      const over = await until(rollout, ({ state }) => state !== 'running');
      expect([over.state, kinds(over)]).to.deep.equal(['rolledBack', ['started', 'guard failed', 'rolledBack']]);
      const { candidate, stable } = (over.events[1]?.values ?? {}) as { candidate: Side; stable: Side };
      expect(candidate.requests).to.be.at.least(10);
      expect(stable.errorRate).to.equal(0);
      if (how === 'fails') expect(candidate.errorRate).to.equal(1);
      await allSaid('stable');
      const late = (await visits(100)).filter(({ said }) => said === 'candidate');
      expect(late).to.deep.equal([]);
      const during = visitors.since(begun);
      const touched = during.filter(({ said }) => said === 'candidate');
      expect(touched.length).to.be.greaterThan(0);
      for (const { visitor } of touched) expect(isInside({ id: rollout, share: 30 }, visitor)).to.equal(true);
      expect(failures(during).every(({ said }) => said === 'candidate')).to.equal(true);
      expect(new Set(Object.values(await candidateOn()))).to.deep.equal(new Set([undefined]));
    });
  }

  /** Shadow of a rollout or of a step. */
  interface Shadow {
    readonly requests: number;
    readonly lost: number;
    readonly examples: { readonly lost: readonly { readonly path: string; readonly from: object | null }[] };
  }
  const shadowGuard = 'shadow.lost == 0.0 && shadow.rejectedLess == 0.0';
  const shadowOf = ({ shadow }: Rollout): Shadow => shadow as Shadow;

  it('whose shadow step loses 1 % of the requests of a route goes back with the guard named, and serves no client', async () => {
    await visitors.stop();
    visitors = new Visitors(urls, 100);
    const id = await snapshotTo(1, { match: { cel: 'request.headers["x-user"] != "visitor-99"' } });
    const begun = performance.now();
    const steps = [
      { shadow: true, hold: '60s' },
      { share: 50, hold: '60s' },
    ];
    const { id: rollout } = await start(id, { steps, minRequests: 200, checkInterval: '500ms' });
    const over = await until(rollout, ({ state }) => state !== 'running');
    expect([over.state, over.activated, kinds(over)]).to.deep.equal([
      ...['rolledBack', false],
      ['started', 'guard failed', 'rolledBack'],
    ]);
    expect(over.events[1]).to.include({ guard: shadowGuard });
    const { requests, lost } = shadowOf(over);
    expect(requests).to.be.at.least(200);
    expect(lost / requests).to.be.within(0.001, 0.1);
    // Any node tells the same of a rollout that is over, once it has heard of its end and the others answer it.
    for (const { api } of nodes) {
      await eventually(async () => {
        const { body } = await api.get<Rollout>(`/rollouts/${rollout}`);
        expect(shadowOf(body)).to.include({ requests, lost });
        const { examples } = shadowOf(body);
        expect(examples.lost.length).to.be.within(1, 100);
        const asked = examples.lost.map(({ path, from }) => ({ path, from }));
        expect(asked).to.deep.equal(asked.map(() => ({ path: '/', from: { id: 'r', name: 'r' } })));
      });
    }
    await visits(100);
    expect(new Set(visitors.since(begun).map(({ said }) => said))).to.deep.equal(new Set(['stable']));
    expect(failures(visitors.visits)).to.deep.equal([]);
  });

  it('of a shadow step alone is a question to the whole fleet, which a leader that is killed does not end', async () => {
    const id = await snapshotTo(1);
    const begun = performance.now();
    const plan = { steps: [{ shadow: true, hold: '3s' }], minRequests: 50, checkInterval: '500ms' };
    const { id: rollout } = await start(id, plan);
    await eventually(async () => {
      const now = await look(rollout);
      expect(now.share).to.equal(0);
      expect(shadowOf(now).requests).to.be.at.least(1);
    });
    const leader = await cluster.leader();
    await leader.stop('SIGKILL');
    const over = await until(rollout, ({ state }) => state !== 'running');
    expect([over.state, over.activated, over.share]).to.deep.equal(['completed', false, 0]);
    expect(shadowOf(over)).to.include({ lost: 0 });
    expect(shadowOf(over).requests).to.be.at.least(50);
    await leader.start();
    const { body: history } = await first().get<Record<string, unknown>[] & Record<string, unknown>>(
      '/activations?limit=1',
    );
    expect(history[0]?.rollout).to.not.equal(rollout);
    const said = visitors.since(begun).filter(({ status }) => status === 200);
    expect(new Set(said.map((visit) => visit.said))).to.deep.equal(new Set(['stable']));
  });

  it('that one proxy refuses fails at once', async () => {
    const headers = { 'x-sluice-proxy': 'by-hand', 'x-sluice-boot': 'x' };
    const request = open(`${nodes[1]?.url}/sync/snapshot`, { agent: false, headers });
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    let heard = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk;
    });
    try {
      const id = await snapshotTo(1);
      const { id: rollout } = await start(id, { steps: [{ share: 1, hold: '60s' }] });
      const event = await eventually(() => {
        const found = /event: candidate\nid: (\d+)\ndata: (.*)\n/.exec(heard);
        if (found === null) throw new Error('no candidate');
        return found;
      });
      const data = JSON.parse(event[2] ?? '') as Record<string, unknown>;
      expect(data).to.deep.include({ rollout, share: 1, by: 'client', key: { header: 'x-user' }, deadmanMs: 60_000 });
      expect(data).to.include.keys('id', 'name', 'createdAt', 'sha256', 'snapshot', 'secrets');
      const word = {
        of: 'candidate',
        state: 'refused',
        tookMs: 1,
        listeners: [],
        problems: [{ pointer: '/x', message: 'no' }],
      };
      const body = {
        token: stream.headers['x-sluice-ack'],
        boot: 'x',
        index: Number(event[1]),
        sha256: data.sha256,
        ...word,
      };
      // At another node than the one that holds the stream.
      expect((await call(nodes[2]?.url ?? '', 'POST', '/api/v1/sync/ack', { body })).status).to.equal(204);
      const over = await until(rollout, ({ state }) => state !== 'running');
      expect([over.state, kinds(over)]).to.deep.equal(['rolledBack', ['started', 'refused', 'rolledBack']]);
      await eventually(() =>
        expect(heard).to.match(new RegExp(`event: withdraw\\nid: \\d+\\ndata: {"rollout":"${rollout}"}`)),
      );
    } finally {
      stream.destroy();
    }
    await eventually(async () => expect(Object.keys(await candidateOn())).to.have.length(5));
    expect(failures(visitors.visits)).to.deep.equal([]);
  });

  it('stays where it is while it is paused, goes on when it is resumed, moves when it is promoted, ends when it is aborted', async () => {
    const id = await snapshotTo(1);
    const steps = [
      { share: 10, hold: '30s' },
      { share: 50, hold: '30s' },
    ];
    const { id: rollout } = await start(id, { steps });
    await eventually(async () => {
      expect(Object.values(await candidateOn())).to.deep.equal(Array(5).fill(id));
    });
    const inForce = async (share: number): Promise<void> => {
      await eventually(async () => {
        for (const { visitor, said } of await visits(50)) {
          expect(said).to.equal(isInside({ id: rollout, share }, visitor) ? 'candidate' : 'stable');
        }
      });
    };
    await inForce(10);
    expect((await first().post(`/rollouts/${rollout}/pause`)).body).to.include({ state: 'paused', share: 10 });
    await inForce(10);
    expect((await first().post(`/rollouts/${rollout}/resume`)).body).to.include({ state: 'running' });
    expect((await first().post(`/rollouts/${rollout}/promote`)).body).to.include({ state: 'running', share: 50 });
    await inForce(50);
    expect((await first().post(`/rollouts/${rollout}/abort`)).body).to.include({ state: 'aborted', share: 0 });
    await inForce(0);
    expect(failures(visitors.visits)).to.deep.equal([]);
  });

  it('by proxy takes exactly so many of them, by labels those that have them, and none goes back', async () => {
    const id = await snapshotTo(1);
    const steps = [
      { labels: { site: 'fra' }, hold: '60s' },
      { share: 41, hold: '60s' },
    ];
    const { id: rollout } = await start(id, { steps, by: 'proxy' });
    const served = async (expected: readonly string[]): Promise<void> => {
      await eventually(async () => {
        const lately = await visits(50);
        for (const url of urls) {
          const said = new Set(lately.filter((visit) => visit.url === url).map((visit) => visit.said));
          expect([...said], url).to.deep.equal([expected.includes(url) ? 'candidate' : 'stable']);
        }
      });
    };
    await served([urls[3] ?? '']);
    await first().post(`/rollouts/${rollout}/promote`);
    const ids = ['a', 'b', 'c', 'p1', 'p2'];
    const chosen = ids.toSorted((one, other) => bucketOf(rollout, one) - bucketOf(rollout, other)).slice(0, 3);
    // Steps add up: the proxy of the first step keeps the candidate, chosen or not.
    await served([urls[3] ?? '', ...chosen.map((proxy) => urls[ids.indexOf(proxy)] ?? '')]);
    await first().post(`/rollouts/${rollout}/abort`);
    await served([]);
  });

  it('goes on when the leader is killed, with the step under way begun anew', async () => {
    const id = await snapshotTo(1);
    const { id: rollout } = await start(id, { steps: [{ share: 40, hold: '3s' }] });
    await eventually(async () => {
      expect(Object.values(await candidateOn())).to.deep.equal(Array(5).fill(id));
    });
    const leader = await cluster.leader();
    const killedAt = performance.now();
    await leader.stop('SIGKILL');
    const over = await until(rollout, ({ state }) => state !== 'running');
    expect(over.state).to.equal('completed');
    expect(performance.now() - killedAt).to.be.greaterThan(2_500);
    await allSaid(
      'candidate',
      urls.filter((url) => !url.includes(`${leader.proxyAddress}:`)),
    );
    await leader.start();
    const elsewhere = visitors.visits.filter(({ url }) => !url.includes(`${leader.proxyAddress}:`));
    expect(failures(elsewhere)).to.deep.equal([]);
    await backToStable();
  });

  it('keeps its clients at proxies that come to a node which has just started and knows no leader', async () => {
    const id = await snapshotTo(1);
    const share = 60;
    const { id: rollout } = await start(id, { steps: [{ share, hold: '30m' }] });
    const own = urls.slice(3);
    await visitors.stop();
    visitors = new Visitors(own, 30);
    const misplaced = (found: readonly Visit[]): Visit[] =>
      found.filter(
        ({ visitor, said }) => said !== (isInside({ id: rollout, share }, visitor) ? 'candidate' : 'stable'),
      );
    await eventually(async () => expect(misplaced(await visits(300, own))).to.deep.equal([]));
    const heard = async () =>
      await Promise.all(
        proxies.map(async (proxy) => {
          const { text } = await proxy.admin('/metrics');
          return Number(/^sluice_stream_events_total\{event="current"\} (\d+)/m.exec(text)?.[1]);
        }),
      );
    const before = await heard();
    const fromMs = performance.now();
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
    const [alone, ...others] = nodes;
    const started = alone?.start();
    await eventually(async () => {
      for (const [at, count] of (await heard()).entries()) expect(count).to.be.above(before[at] ?? 0);
    });
    await visits(300, own);
    await Promise.all([started, ...others.map((node) => node.start())]);
    expect(misplaced(visitors.since(fromMs))).to.deep.equal([]);
  });

  it("gives no client the candidate at a proxy that hears nothing for the dead man's time, until it hears again", async () => {
    const id = await snapshotTo(1);
    await start(id, { steps: [{ share: 100, hold: '60s' }], deadman: '5s' });
    const own = urls.slice(3);
    // Those who ask a node that is stopped would wait there.
    await visitors.stop();
    visitors = new Visitors(own, 30);
    await allSaid('candidate', own);
    for (const node of nodes) node.process?.child.kill('SIGSTOP');
    try {
      await allSaid('stable', own);
    } finally {
      for (const node of nodes) node.process?.child.kill('SIGCONT');
    }
    await allSaid('candidate', own);
    expect(failures(visitors.visits)).to.deep.equal([]);
  });
});
