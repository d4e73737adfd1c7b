// Traffic by route and destination: sampled, summed over windows, merged over nodes.

import { expect } from 'chai';
import { latencyBuckets } from '../../../src/model/message-limits.ts';
import { type ProxyTraffic, proxyTrafficOf, trafficLimits } from '../../../src/model/traffic-report.ts';
import type { TrafficCounts } from '../../../src/model/traffic-windows.ts';
import { noTraffic } from '../../../src/model/traffic-windows.ts';
import { ChainCounts } from '../../../src/proxy/requests/chain-counts.ts';
import { LastHits, newHitBytes } from '../../../src/proxy/requests/last-hits.ts';
import { RequestHistory } from '../../../src/proxy/requests/request-history.ts';
import { newRing, RequestRing } from '../../../src/proxy/requests/request-ring.ts';
import { keyText } from '../../../src/proxy/requests/shared-keys.ts';
import { FleetTraffic, type FleetTrafficOptions } from '../../../src/traffic/fleet-traffic.ts';
import { NodeTraffic } from '../../../src/traffic/node-traffic.ts';
import { TrafficSampler } from '../../../src/traffic/traffic-sampler.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface Sent {
  readonly route?: string;
  readonly destination?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly oneIn?: number;
}

/** A node whose proxy answers what a test says. */
class Bed {
  readonly clock = new ManualClock();
  readonly shape = newRing(2_000, 1, []);
  readonly ring = new RequestRing(this.shape);
  readonly hits = new LastHits(this.shape.hits);
  readonly chains = new ChainCounts(this.shape.chains);
  readonly history = new RequestHistory(this.shape);
  counts: TrafficCounts = { ...noTraffic, latency: new Array<number>(latencyBuckets).fill(0) };
  readonly node = new NodeTraffic({
    recent: this.history,
    counts: () => ({ stable: this.counts, candidate: noTraffic }),
    clock: this.clock,
  });

  constructor() {
    this.node.start();
  }

  /** Returns the sampler of a proxy apart, which counts no requests. */
  reporter(): TrafficSampler {
    return new TrafficSampler({
      recent: this.history,
      counts: () => ({ stable: noTraffic, candidate: noTraffic }),
      clock: this.clock,
      isReported: true,
    });
  }

  send({ route = 'r', destination = 'd', status = 200, ms = 1, oneIn = 1 }: Sent = {}): void {
    const numbers = {
      timeMs: this.clock.nowMs(),
      durationMs: ms,
      proxyMs: ms,
      connectMs: 0,
      firstByteMs: 0,
      index: 1,
      oneIn,
      status,
      attempts: 1,
    };
    const rest = { protocol: 'HTTP/1.1', secure: false, candidate: false, error: '' };
    const text = ['GET', 'h', route, `name-${route}`, '', destination, '10.0.0.1:80', '', '/'].join('\0');
    this.ring.write(0, { ...numbers, ...rest }, text);
    this.hits.hit(this.hits.claim(route), this.clock.nowMs());
    const failed = status >= 500 ? 1 : 0;
    this.counts = {
      ...this.counts,
      requests: this.counts.requests + oneIn,
      serverErrors: this.counts.serverErrors + failed * oneIn,
    };
  }

  seconds(count: number): void {
    for (let i = 0; i < count * 4; i++) this.clock.advance(250);
  }

  stats(
    more: Partial<Parameters<FleetTraffic['stats']>[0]> = {},
    peers: readonly Bed[] = [],
    chainOf?: FleetTrafficOptions['chainOf'],
  ) {
    const fleet = new FleetTraffic({
      own: this.node,
      peers: async () =>
        peers.map((peer, at) => ({
          nodeId: `n${at}`,
          ask: async (question) => JSON.parse(JSON.stringify(peer.node.answer(question))),
        })),
      clock: this.clock,
      nameOf: (_kind, id) => `name-${id}`,
      ...(chainOf && { chainOf }),
    });
    return fleet.stats({ sort: 'requests', routes: undefined, history: false, chain: false, ...more });
  }
}

describe('traffic of the fleet', () => {
  it('gives rates, errors and percentiles of a route over 1, 10 and 60 seconds, and forgets them after a minute', async () => {
    const bed = new Bed();
    for (let i = 0; i < 20; i++) bed.send({ status: i < 5 ? 503 : i < 7 ? 404 : 200, ms: i === 19 ? 500 : 2 });
    bed.seconds(1);
    const { routes, destinations, total } = await bed.stats();
    const [route] = routes;
    expect(route).to.include({ id: 'r', name: 'name-r' });
    expect(route?.windows['1s']?.requestsPerSecond).to.equal(20);
    expect(route?.windows['10s']?.requestsPerSecond).to.equal(2);
    expect(route?.windows['60s']).to.deep.include({ errorRate: 0.25, clientErrorRate: 0.1 });
    expect(route?.windows['60s']?.p50Ms).to.be.within(2, 2.4);
    expect(route?.windows['60s']?.p99Ms).to.be.within(500, 600);
    expect(destinations[0]).to.include({ id: 'd' });
    expect(total['1s']?.requestsPerSecond).to.equal(20);
    bed.seconds(1);
    expect((await bed.stats()).routes[0]?.windows['1s']?.requestsPerSecond).to.equal(0);
    bed.seconds(60);
    const later = await bed.stats();
    expect(later.routes).to.deep.equal([]);
    expect(later.total['60s']?.requestsPerSecond).to.equal(0);
  });

  it('weighs a kept request by the number that it stands for, and stays right where it reads a share of those kept', async () => {
    const bed = new Bed();
    for (let i = 0; i < 1_000; i++) bed.send({ oneIn: 4, route: i % 2 === 0 ? 'a' : 'b' });
    bed.seconds(1);
    const { routes } = await bed.stats();
    const rates = routes.map(({ windows }) => windows['1s']?.requestsPerSecond ?? 0);
    expect(rates.reduce((sum, rate) => sum + rate, 0)).to.be.closeTo(4_000, 1);
  });

  it('orders the first fifty by requests, errors or latency', async () => {
    const bed = new Bed();
    for (let i = 0; i < 60; i++) bed.send({ route: `few-${i}` });
    bed.seconds(1);
    for (let i = 0; i < 3; i++) bed.send({ route: 'many' });
    bed.seconds(1);
    for (let i = 0; i < 2; i++) bed.send({ route: 'broken', status: 500 });
    bed.send({ route: 'slow', ms: 4_000 });
    bed.seconds(1);
    const first = async (sort: 'requests' | 'errors' | 'latency') => (await bed.stats({ sort })).routes;
    expect(await first('requests')).to.have.length(50);
    expect((await first('requests'))[0]?.id).to.equal('many');
    expect((await first('errors'))[0]?.id).to.equal('broken');
    expect((await first('latency'))[0]?.id).to.equal('slow');
  });

  it('answers for the routes that are asked about, with the exact time of the last request', async () => {
    const bed = new Bed();
    bed.send({ route: 'used' });
    const at = new Date(bed.clock.nowMs()).toISOString();
    bed.seconds(120);
    const { routes } = await bed.stats({ routes: ['unused', 'used'] });
    expect(routes.map(({ id, lastHit }) => [id, lastHit])).to.deep.equal([
      ['unused', null],
      ['used', at],
    ]);
  });

  it('adds up nodes and proxies apart, and names nodes that do not answer', async () => {
    const [one, other] = [new Bed(), new Bed()];
    one.send();
    other.send();
    const cell = [10, 0, 5, [16, 10]] as const;
    const hit = one.clock.nowMs() + 60_000;
    other.node.take([{ ...noTraffic, requests: 10, proxyErrors: 5 }], {
      routes: [['r', cell]],
      destinations: [],
      hits: [[keyText('r'), hit]],
      chains: [],
    });
    for (const bed of [one, other]) bed.seconds(1);
    const { routes, total } = await one.stats({}, [other]);
    expect(routes[0]?.windows['10s']?.requestsPerSecond).to.be.closeTo(1.2, 0.001);
    expect(total['10s']?.requestsPerSecond).to.be.closeTo(1.2, 0.001);
    expect(routes[0]?.lastHit).to.equal(new Date(hit).toISOString());
    const deaf = new FleetTraffic({
      own: one.node,
      peers: async () => [{ nodeId: 'deaf', ask: async () => undefined }],
      clock: one.clock,
      nameOf: () => undefined,
    });
    const answer = await deaf.stats({ sort: 'requests', routes: undefined, history: false, chain: false });
    expect(answer.unreachableNodes).to.deep.equal(['deaf']);
  });

  it('adds up the runs of the middlewares of a route over nodes and the reports of proxies apart', async () => {
    const beds = [new Bed(), new Bed()] as const;
    const [one, other] = beds;
    for (const { chains } of beds) {
      for (let i = 0; i < 3; i++) chains.count(0, chains.claim('shop', 'auth'), false);
      chains.count(0, chains.claim('shop', 'auth'), true);
    }
    const apart = other.reporter();
    const reported = (): ProxyTraffic => {
      const { traffic, delivered } = apart.report();
      delivered();
      return proxyTrafficOf(JSON.parse(JSON.stringify(traffic)));
    };
    one.node.take([], reported());
    one.node.take([], reported());
    other.chains.count(0, other.chains.claim('shop', 'limit'), true);
    one.node.take([], reported());
    const chainOf = (id: string) => (id === 'shop' ? ['auth', 'limit'].map((each) => ({ id: each, type: 't' })) : []);
    const { routes } = await one.stats({ routes: ['none', 'shop'], chain: true }, [other], chainOf);
    expect(routes.map(({ id, chain }) => [id, chain])).to.deep.equal([
      ['none', []],
      [
        'shop',
        [
          { middlewareId: 'auth', name: 'name-auth', type: 't', passed: 9, rejected: 3 },
          { middlewareId: 'limit', name: 'name-limit', type: 't', passed: 0, rejected: 2 },
        ],
      ],
    ]);
    expect((await one.stats({ routes: ['shop'] })).routes[0]).to.not.have.property('chain');
  });

  it('reports each of many chains that are always busy, and each run once', () => {
    const bed = new Bed();
    const sampler = bed.reporter();
    const count = Math.ceil(trafficLimits.chains * 2.5);
    const places = Array.from({ length: count }, (_, at) => bed.chains.claim(`route ${at}`, 'auth'));
    const told = new Map<string, number>();
    const runs = 6;
    const report = (): number => {
      const { traffic, delivered } = sampler.report();
      const { chains } = traffic;
      delivered();
      for (const [key, passed] of chains) told.set(key, (told.get(key) ?? 0) + passed);
      return chains.length;
    };
    for (let run = 0; run < runs; run++) {
      for (const place of places) bed.chains.count(0, place, false);
      expect(report()).to.equal(trafficLimits.chains);
    }
    expect(told.size).to.equal(count);
    while (report() > 0);
    expect(new Set(told.values())).to.deep.equal(new Set([runs]));
  });

  it('tells hits and runs of a report that was not delivered with the next one', () => {
    const bed = new Bed();
    const sampler = bed.reporter();
    const run = (): boolean => bed.chains.count(0, bed.chains.claim('shop', 'auth'), true);
    bed.send({ route: 'shop' });
    run();
    const lost = sampler.report();
    run();
    const { traffic, delivered } = sampler.report();
    expect(traffic.hits).to.deep.equal(lost.traffic.hits).and.to.have.length(1);
    expect(traffic.chains.map(([, ...counts]) => counts)).to.deep.equal([[0, 2]]);
    delivered();
    expect(sampler.report().traffic).to.deep.include({ hits: [], chains: [] });
  });

  it('reports the runs of a chain whose counts were given up in between from nothing on', () => {
    const bed = new Bed();
    const sampler = bed.reporter();
    const report = (): ProxyTraffic['chains'] => {
      const { traffic, delivered } = sampler.report();
      delivered();
      return traffic.chains;
    };
    const run = (times: number): void => {
      for (let n = 0; n < times; n++) bed.chains.count(0, bed.chains.claim('shop', 'auth'), false);
    };
    const key = bed.history.chainKey('shop', 'auth');
    run(3);
    expect(report()).to.deep.equal([[key, 3, 0]]);
    const giveUp = (): void => {
      for (const _ of bed.chains.keys.retire(() => false));
      for (const _ of bed.chains.keys.release((place) => bed.chains.clear(place)));
    };
    giveUp();
    run(2);
    expect(report()).to.deep.equal([[key, 2, 0]]);
    giveUp();
    expect(report()).to.deep.equal([]);
    run(4);
    expect(report()).to.deep.equal([[key, 4, 0]]);
  });

  it('adds up both variants of a rollout over all nodes', async () => {
    const bed = new Bed();
    const counts = { ...noTraffic, requests: 10, serverErrors: 1, proxyErrors: 1, clientErrors: 3 };
    const fleet = new FleetTraffic({
      own: bed.node,
      peers: async () => [],
      clock: bed.clock,
      nameOf: () => undefined,
      rollout: () => ({ id: 'x', candidate: [counts, counts], stable: [noTraffic] }),
    });
    const { rollout } = await fleet.stats({ sort: 'requests', routes: undefined, history: false, chain: false });
    expect(rollout?.candidate).to.deep.include({ requests: 20, errorRate: 0.2, clientErrorRate: 0.3 });
    expect(rollout?.stable).to.deep.include({ requests: 0, errorRate: 0, p99Ms: null });
  });

  it('has fifteen minutes of history in steps of five seconds', async () => {
    const bed = new Bed();
    for (let second = 0; second < 1_000; second++) {
      bed.send();
      bed.seconds(1);
    }
    const { history = [] } = await bed.stats({ history: true });
    expect(history).to.have.length.within(179, 180);
    expect(history.at(-2)?.requestsPerSecond).to.be.closeTo(1, 0.01);
  });

  it('costs under a thousandth of a core at 100,000 routes and more traffic than it keeps', () => {
    const bed = new Bed();
    const seconds = 60;
    let spentMs = 0;
    for (let second = 0; second < seconds; second++) {
      for (let look = 0; look < 4; look++) {
        for (let i = 0; i < 300; i++)
          bed.send({ route: `route-${((second * 1_200 + look * 300 + i) * 7919) % 100_000}` });
        const before = process.cpuUsage();
        bed.clock.advance(250);
        const { user, system } = process.cpuUsage(before);
        spentMs += (user + system) / 1_000;
      }
    }
    // Three times that: other work of the machine takes its caches.
    expect(spentMs / seconds).to.be.below(3);
  });

  it('takes from a report what is well formed, within limits', () => {
    const cell = [1, 0, 0, [3, 1]];
    const routes = Array.from({ length: trafficLimits.routes + 5 }, (_, i) => [`r${i}`, cell]);
    const traffic = proxyTrafficOf({
      routes: [['bad', [1, 2]], ['x'.repeat(200), cell], ['ok', cell], ...routes],
      hits: [['k', -1], ['k', 5], 7],
    });
    expect(traffic.routes).to.have.length(trafficLimits.routes - 2);
    expect(traffic.routes[0]).to.deep.equal(['ok', cell]);
    expect(traffic.destinations).to.deep.equal([]);
    expect(traffic.hits).to.deep.equal([['k', 5]]);
  });
});

describe('last hits', () => {
  it('are known of 100,000 routes, and found by their keys since a time', () => {
    const hits = new LastHits(newHitBytes());
    for (let i = 0; i < 100_000; i++) hits.hit(hits.claim(`route-${i}`), 1_000 + i);
    for (let i = 0; i < 100_000; i += 997) expect(hits.read(`route-${i}`)).to.equal(1_000 + i);
    expect(hits.read('other')).to.equal(undefined);
    expect(hits.since(100_997, 10)).to.deep.equal([
      [keyText('route-99998'), 100_998],
      [keyText('route-99999'), 100_999],
    ]);
  });
});
