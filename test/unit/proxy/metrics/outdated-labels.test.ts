import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { ExchangeEntry } from '../../../../src/proxy/exchange/entry.ts';
import { Exposition } from '../../../../src/proxy/metrics/exposition.ts';
import type { Collected } from '../../../../src/proxy/metrics/families.ts';
import { ListenerCounters } from '../../../../src/proxy/metrics/listener-counters.ts';
import { MetricBlock, newMetricBytes } from '../../../../src/proxy/metrics/metric-block.ts';
import { OutdatedLabels } from '../../../../src/proxy/metrics/outdated-labels.ts';
import { drain } from '../../../../src/util/time-slice.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

const collected: Collected = {
  path: '/metrics',
  ...{ route: true, destination: true, endpoint: true, middleware: true, listener: true, consumer: true },
  protocol: 'http',
  buckets: [0.1, 1],
};

const noStates = { breakers: () => [], endpoints: () => [] };

const entryOf = (name: string): ExchangeEntry =>
  ({ route: { id: name, name }, group: undefined, links: [] }) as unknown as ExchangeEntry;

const configurationOf = (routes: readonly string[], destinations: readonly string[] = []): Configuration =>
  ({
    ...{ listeners: [], groups: [], middlewares: [] },
    routes: routes.map((name) => ({ id: name, name })),
    destinations: destinations.map((id) => ({ id, name: id, host: 'h', port: 1 })),
  }) as unknown as Configuration;

/** Two workers, main, and a listener in each. */
class Bed {
  readonly clock = new ManualClock();
  readonly exposition = new Exposition();
  readonly blocks: MetricBlock[] = [];
  readonly counters: ListenerCounters[] = [];
  readonly outdated: OutdatedLabels;
  looks = 0;
  endpoints: { destination: string; endpoint: string; available: boolean; consecutive5xx: number }[] = [];

  constructor(places?: number) {
    for (const worker of [0, 1]) {
      const bytes = newMetricBytes(places);
      this.exposition.block(worker, bytes);
      const block = new MetricBlock(bytes, {
        define: (series) => this.exposition.define(worker, series),
        forget: (listener) => this.exposition.forget(worker, listener),
      });
      this.blocks.push(block);
      this.counters.push(new ListenerCounters({ id: 'l', name: 'web', address: '0.0.0.0:80' }, collected, block));
    }
    this.outdated = new OutdatedLabels({
      exposition: this.exposition,
      states: { endpoints: () => this.endpoints },
      clock: this.clock,
      post: (listener, subjects) => {
        for (const block of this.blocks) block.drop(listener, subjects);
      },
      run: async (steps) => {
        this.looks += 1;
        drain(steps);
      },
    });
  }

  begin(worker: number, entry: ExchangeEntry): void {
    this.counters[worker]?.onMatch(entry);
  }

  end(worker: number, entry: ExchangeEntry, destinationId = '', endpoint = ''): void {
    const exchange = new StubExchange({ clock: this.clock });
    exchange.response.status = 200;
    Object.assign(exchange, { destinationId, endpoint });
    if (endpoint !== '') this.counters[worker]?.onEndpoint(destinationId);
    this.counters[worker]?.onFinish(exchange as never, entry);
  }

  request(worker: number, route: string, destination = '', endpoint = ''): void {
    const entry = entryOf(route);
    this.begin(worker, entry);
    this.end(worker, entry, destination, endpoint);
  }

  async pass(minutes: number): Promise<void> {
    // What places mean is told a microtask later.
    await Promise.resolve();
    for (let i = 0; i < minutes * 4; i++) this.clock.advance(15_000);
  }

  async text(): Promise<string> {
    await Promise.resolve();
    return [...this.exposition.render('l', collected, noStates)].join('');
  }

  async shows(text: string): Promise<boolean> {
    return (await this.text()).includes(text);
  }
}

const requestsOf = (route: string, count: number): string =>
  `sluice_route_requests_total{route="${route}",group="",method="GET",status_code="200",status_class="2xx"} ${count}`;

describe('label sets of what is not configured any more', () => {
  it('go with the consumer that they are about, and stay while it is there', async () => {
    const bed = new Bed();
    const consumers = (...names: readonly string[]) =>
      ({ ...configurationOf(['r']), consumers: names.map((name) => ({ id: name, name })) }) as Configuration;
    bed.outdated.follow([consumers('old', 'kept')]);
    for (const name of ['old', 'kept']) {
      const exchange = new StubExchange({ clock: bed.clock });
      exchange.response.status = 200;
      exchange.request.consumer = { id: name, name, labels: new Map() };
      bed.counters[0]?.onFinish(exchange as never, entryOf('r'));
    }
    bed.outdated.follow([consumers('kept')]);
    await bed.pass(4);
    expect(await bed.shows('consumer="old"')).to.equal(true);
    await bed.pass(3);
    expect([await bed.shows('consumer="old"'), await bed.shows('consumer="kept"')]).to.deep.equal([false, true]);
  });

  it('go five minutes after their last change, those of all workers at once', async () => {
    const bed = new Bed();
    bed.outdated.follow([configurationOf(['old', 'new'])]);
    bed.request(0, 'old');
    bed.request(1, 'old');
    bed.request(0, 'new');
    expect(await bed.shows(requestsOf('old', 2))).to.equal(true);
    await bed.pass(60);
    expect(await bed.shows(requestsOf('old', 2)), 'while it is configured').to.equal(true);
    bed.outdated.follow([configurationOf(['new'])]);
    await bed.pass(3);
    // What was under way when it went is counted to its end.
    bed.request(1, 'old');
    await bed.pass(4.5);
    expect(await bed.shows(requestsOf('old', 3))).to.equal(true);
    await bed.pass(1);
    expect(await bed.shows('"old"')).to.equal(false);
    expect(await bed.shows(requestsOf('new', 1))).to.equal(true);
    expect(await bed.shows('sluice_listener_connections_total{listener="web",address="0.0.0.0:80"} 0')).to.equal(true);
  });

  it('are looked for once, a second after the first of many activations', () => {
    const bed = new Bed();
    for (let at = 0; at < 45; at++) {
      bed.outdated.follow([configurationOf([`r${at}`])]);
      bed.clock.advance(20);
    }
    expect(bed.looks).to.equal(0);
    bed.clock.advance(100);
    expect(bed.looks).to.equal(1);
    bed.clock.advance(10_000);
    expect(bed.looks).to.equal(1);
    bed.outdated.close();
  });

  it('stay while something of them is under way, or a candidate has them', async () => {
    const bed = new Bed();
    const entry = entryOf('long');
    bed.begin(0, entry);
    bed.request(0, 'tried');
    bed.outdated.follow([configurationOf([]), configurationOf(['tried'])]);
    await bed.pass(60);
    expect(await bed.shows('sluice_route_inflight_requests{route="long",group=""} 1')).to.equal(true);
    expect(await bed.shows(requestsOf('tried', 1))).to.equal(true);
    bed.end(0, entry);
    await bed.pass(6);
    expect(await bed.shows('"long"')).to.equal(false);
  });

  it('of endpoints stay as long as a destination has the endpoint', async () => {
    const bed = new Bed();
    const both = ['10.0.0.1:80', '10.0.0.2:80'];
    bed.endpoints = both.map((endpoint) => ({ destination: 'd', endpoint, available: true, consecutive5xx: 0 }));
    bed.outdated.follow([configurationOf(['r'], ['d'])]);
    for (const endpoint of both) bed.request(0, 'r', 'd', endpoint);
    bed.endpoints.pop();
    await bed.pass(6);
    expect(await bed.shows('endpoint="10.0.0.1:80",status_code="200",status_class="2xx"} 1')).to.equal(true);
    expect(await bed.shows('10.0.0.2:80')).to.equal(false);
    expect(await bed.shows('sluice_destination_requests_total{destination="d",status_code="200"')).to.equal(true);
  });

  it('begin at nothing when they come back, and what was remembered of them counts nowhere else', async () => {
    const bed = new Bed();
    const entry = entryOf('back');
    for (let i = 0; i < 3; i++) {
      bed.begin(0, entry);
      bed.end(0, entry);
    }
    bed.outdated.follow([]);
    await bed.pass(6);
    expect(await bed.shows('"back"')).to.equal(false);
    bed.outdated.follow([configurationOf(['back', 'other'])]);
    bed.request(0, 'other');
    bed.begin(0, entry);
    bed.end(0, entry);
    expect(await bed.shows(requestsOf('back', 1))).to.equal(true);
    expect(await bed.shows(requestsOf('other', 1))).to.equal(true);
  });

  it('make room: a thousand configurations, each of other routes, fit where a few do', async () => {
    const bed = new Bed(400);
    for (let round = 0; round < 1_000; round++) {
      bed.outdated.follow([configurationOf([`r${round}`], [`d${round}`])]);
      bed.request(round % 2, `r${round}`, `d${round}`, '10.0.0.1:80');
      expect(await bed.shows(requestsOf(`r${round}`, 1)), `round ${round}`).to.equal(true);
      await bed.pass(3);
    }
  });

  it('that a worker leaves behind are not what the next one counts on', async () => {
    const bed = new Bed();
    bed.request(0, 'gone');
    bed.request(0, 'kept');
    await bed.text();
    bed.outdated.follow([configurationOf(['kept', 'new'])]);
    await bed.pass(6);
    const [block] = bed.blocks;
    const reader = {
      define: (series: Parameters<Exposition['define']>[1]) => bed.exposition.define(0, series),
      forget: (listener: string) => bed.exposition.forget(0, listener),
    };
    const next = new MetricBlock(block?.values.buffer as SharedArrayBuffer, reader, bed.exposition.inherited(0));
    bed.blocks[0] = next;
    bed.counters[0] = new ListenerCounters({ id: 'l', name: 'web', address: '0.0.0.0:80' }, collected, next);
    bed.request(0, 'kept');
    bed.request(0, 'new');
    expect(await bed.shows(requestsOf('kept', 2))).to.equal(true);
    expect(await bed.shows(requestsOf('new', 1))).to.equal(true);
    expect(await bed.shows('"gone"')).to.equal(false);
  });
});
