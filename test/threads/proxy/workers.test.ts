import { createServer } from 'node:http';
import { expect } from 'chai';
import { Agent, request as send } from 'undici';
import { createProxy, type Proxy as DataPlane } from '../../../src/proxy/proxy.ts';
import { UpstreamBook } from '../../../src/proxy/shared/upstream-states.ts';
import { ConfigReader } from '../../../src/proxy/worker/packed-config.ts';
import { emptyConfiguration, packEdits } from '../../../src/proxy/worker/packed-edits.ts';
import { ReadyThreads } from '../../../src/proxy/worker/ready-threads.ts';
import { Workers } from '../../../src/proxy/worker/workers.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { systemClock } from '../../../src/util/clock.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { loopbackDataPlane } from '../../support/data-plane-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { fallingThreads } from '../../support/falling-threads.ts';
import { freePort } from '../../support/free-port.ts';
import { configOf, forwarding, HandSource, listening, ProxyBed } from '../../support/proxy-bed.ts';

describe('proxy workers', () => {
  let bed: ProxyBed;
  let source: HandSource;
  let proxy: DataPlane;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    source = new HandSource();
    port = await freePort();
    proxy = createProxy({
      source,
      clock: systemClock,
      telemetry: { logger: silentLogger },
      settings: loopbackDataPlane({ workers: 2 }),
    });
    bed.atEnd(() => proxy.close({ withinMs: 0 }));
  });
  afterEach(() => bed.end());

  const listeners = () => [{ id: 'l', name: 'l', port }];
  const answering = (body: string) => ({
    listeners: listeners(),
    routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body } }],
  });
  const fresh = async () => {
    const agent = new Agent();
    const response = await send(`http://127.0.0.1:${port}/`, { dispatcher: agent });
    const text = await response.body.text();
    await agent.destroy();
    return text;
  };

  it('all serve a configuration once it counts as installed, and none the one before', async () => {
    source.publish(1, answering('one'));
    await proxy.start();
    expect(await proxy.installed(1, 5_000)).to.deep.equal({ done: 2, of: 2 });
    expect(new Set(await Promise.all(Array.from({ length: 20 }, fresh)))).to.deep.equal(new Set(['one']));
    for (let index = 2; index < 8; index++) {
      source.publish(index, answering(`body ${index}`));
      expect(await proxy.installed(index, 5_000)).to.deep.equal({ done: 2, of: 2 });
      expect(new Set(await Promise.all(Array.from({ length: 10 }, fresh)))).to.deep.equal(new Set([`body ${index}`]));
    }
  });

  it('fail no request and close no connection while configurations change', async () => {
    const upstream = await bed.upstream((_request, response) => void response.end('ok'));
    source.publish(1, forwarding(port, upstream));
    await proxy.start();
    const agent = new Agent({ connections: 8, pipelining: 1 });
    bed.atEnd(() => agent.destroy());
    let served = 0;
    let active = true;
    const client = async (): Promise<void> => {
      while (active) {
        const response = await send(`http://127.0.0.1:${port}/`, { dispatcher: agent });
        expect(await response.body.text()).to.equal('ok');
        served++;
      }
    };
    const clients = Array.from({ length: 8 }, client);
    for (let index = 2; index <= 60; index++) {
      const route = { name: `r${index}` };
      source.publish(index, forwarding(port, upstream, { route }));
      await proxy.installed(index, 5_000);
    }
    active = false;
    await Promise.all(clients);
    expect(served).to.be.greaterThan(60);
  });

  it('keep maxConnsPerHost together, and those who wait get their turn', async () => {
    let open = 0;
    let most = 0;
    const upstream = await bed.upstream((_request, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.end('ok');
      }, 10);
    });
    source.publish(1, forwarding(port, upstream, { destination: { options: { maxConnsPerHost: 3 } } }));
    await proxy.start();
    const answers = await Promise.all(Array.from({ length: 30 }, fresh));
    expect(new Set(answers)).to.deep.equal(new Set(['ok']));
    expect(most).to.be.within(1, 3);
  });

  it('let go of an idle connection that another one waits for', async () => {
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => void response.end('ok'));
    bed.atEnd(async () => server.closeAllConnections());
    bed.atEnd(async () => void server.close());
    const options = { maxConnsPerHost: 1 };
    source.publish(1, forwarding(port, await listening(server), { destination: { options } }));
    await proxy.start();
    // One after the other: the connection is idle each time, and half of the time in the other worker.
    for (let i = 0; i < 12; i++) expect(await fresh()).to.equal('ok');
  });

  it('open the first by id of listeners whose places overlap, which could share the port, also when it comes later', async () => {
    const free = await freePort();
    const own = createProxy({
      source,
      clock: systemClock,
      telemetry: { logger: silentLogger },
      settings: loopbackDataPlane({ workers: 2, bindAddress: undefined }),
    });
    bed.atEnd(() => own.close({ withinMs: 0 }));
    const on = (id: string, address: string) => ({ id, name: id, address, port: free });
    const states = () => own.listeners().map(({ id, state, reason }) => `${id} ${state} ${reason ?? ''}`.trim());
    const config = answering('x');
    source.publish(1, { ...config, listeners: [on('b', '127.0.0.1'), on('c', '0.0.0.0'), on('d', 'localhost')] });
    await own.start();
    expect(states().sort()).to.deep.equal([
      'b open',
      'c closed listener "b" has this port',
      'd closed listener "b" has this port',
    ]);
    source.publish(2, { ...config, listeners: [on('a', '0.0.0.0'), on('b', '127.0.0.1')] });
    await own.installed(2, 5_000);
    expect(states().sort()).to.deep.equal(['a open', 'b closed listener "a" has this port']);
    expect((await send(`http://127.0.0.1:${free}/`)).statusCode).to.equal(200);
  });

  it('leave a port alone that another process has, and open the others', async () => {
    const busy = await bed.upstream((_request, response) => void response.end());
    const config = answering('x');
    source.publish(1, { ...config, listeners: [{ id: 'a', name: 'a', port: busy }, ...config.listeners] });
    await proxy.start();
    expect(proxy.listeners().map(({ id, state }) => `${id} ${state}`)).to.deep.equal(['a waiting', 'l open']);
    expect(await fresh()).to.equal('x');
  });

  it('may be threads that began before their settings were known, and others when these are used up', async () => {
    await proxy.close({ withinMs: 0 });
    const ready = new ReadyThreads(1);
    const workers = new Workers({
      clock: systemClock,
      telemetry: { logger: silentLogger },
      settings: loopbackDataPlane({ workers: 2 }),
      ownPlaces: [],
      threads: ready,
    });
    bed.atEnd(() => workers.close(0));
    const snapshot = { destinations: [], groups: [], middlewares: [], ...answering('ready') };
    await workers.install({ index: 1, id: 's', name: 's', createdAt: '', snapshot }, () => {});
    expect(workers.serving).to.equal(2);
    expect(new Set(await Promise.all(Array.from({ length: 10 }, fresh)))).to.deep.equal(new Set(['ready']));
  });

  describe('of which one crashes', () => {
    let lines: string[];
    let workers: Workers;
    let crash: (place: 0 | 1) => void;
    let lost: string[];
    beforeEach(async () => {
      await proxy.close({ withinMs: 0 });
      lines = [];
      lost = [];
      const note = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
      const logger = { ...silentLogger, error: note, debug: note, info: note, warn: note, child: () => silentLogger };
      workers = new Workers({
        clock: systemClock,
        telemetry: { logger },
        settings: loopbackDataPlane({ workers: 2 }),
        ownPlaces: [],
        onCandidateLost: (reason) => lost.push(reason),
        threads: fallingThreads,
      });
      bed.atEnd(() => workers.close(0));
      const channel = new BroadcastChannel('fall');
      bed.atEnd(async () => channel.close());
      crash = (place) => channel.postMessage({ place });
    });

    const install = (index: number, bodyText: string) => {
      const snapshot = { destinations: [], groups: [], middlewares: [], ...answering(bodyText) };
      return workers.install({ index, id: 's', name: 's', createdAt: '', snapshot }, () => {});
    };
    const says = (line: string) => eventually(() => expect(lines.join('\n')).to.contain(line));

    it('replace it, and the others go on', async () => {
      await install(1, 'x');
      crash(0);
      await says('a proxy worker has ended and is replaced');
      expect(workers.serving).to.equal(1);
      expect(new Set(await Promise.all(Array.from({ length: 10 }, fresh)))).to.deep.equal(new Set(['x']));
      await says('a new proxy worker serves');
      expect(workers.serving).to.equal(2);
      expect(lines.join()).to.match(/crashes over a request \{"request":"(GET \/|none)".*told to fall/);
      expect(await fresh()).to.equal('x');
    });

    it('give up a candidate over which one crashes, and report it', async () => {
      await install(1, 'stable');
      const config = configOf(2, answering('candidate'));
      const offer = () => workers.offer({ rollout: 'r', key: { clientIp: true }, config });
      await offer();
      crash(0);
      await says('a new proxy worker serves');
      expect(lost, 'it served nobody').to.deep.equal([]);
      workers.share(100, 0);
      expect(await fresh()).to.equal('candidate');
      crash(1);
      await eventually(() => expect(lost).to.deep.equal(['a worker has crashed while it served the candidate']));
      expect(new Set(await Promise.all(Array.from({ length: 10 }, fresh)))).to.deep.equal(new Set(['stable']));
      await eventually(() => expect(workers.serving).to.equal(2));
      expect(await fresh()).to.equal('stable');
      await offer();
      workers.share(100, 0);
      expect(await fresh()).to.equal('candidate');
    });

    it('give a candidate to the one that takes its place', async () => {
      await install(1, 'stable');
      await workers.offer({ rollout: 'r', key: { clientIp: true }, config: configOf(2, answering('candidate')) });
      crash(0);
      await says('a new proxy worker serves');
      workers.share(100, 0);
      expect(new Set(await Promise.all(Array.from({ length: 20 }, fresh)))).to.deep.equal(new Set(['candidate']));
      await workers.promote(configOf(3, answering('candidate')), () => {});
      expect(new Set(await Promise.all(Array.from({ length: 20 }, fresh)))).to.deep.equal(new Set(['candidate']));
    });

    for (const worker of [0, 1] as const) {
      it(`keep every port open through activations meanwhile, and all serve the last one (worker ${worker})`, async () => {
        let index = 1;
        await install(index, 'body 1');
        crash(worker);
        await says('a proxy worker has ended and is replaced');
        while (!lines.join().includes('a new proxy worker serves')) {
          await install(++index, `body ${index}`);
          expect(await fresh()).to.equal(`body ${index}`);
          expect(workers.listeners().map(({ state }) => state)).to.deep.equal(['open']);
        }
        const answers = await Promise.all(Array.from({ length: 40 }, fresh));
        expect(new Set(answers)).to.deep.equal(new Set([`body ${index}`]));
      });
    }
  });

  it('stop accepting and end when the proxy closes', async () => {
    source.publish(1, answering('x'));
    await proxy.start();
    expect(await fresh()).to.equal('x');
    await proxy.close({ withinMs: 1_000 });
    expect(await fresh().catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ECONNREFUSED');
  });
});

describe('a packed configuration', () => {
  const config = {
    index: 7,
    id: 's',
    name: 's',
    createdAt: '2026-01-01T00:00:00Z',
    snapshot: {
      listeners: [{ id: 'l', name: 'Grüße', port: 1 }],
      destinations: [],
      routes: Array.from({ length: 50 }, (_, i) => ({ id: `r${i}`, name: `r${i}` })),
      groups: [],
      middlewares: [],
      streamRoutes: [],
      consumers: [],
    },
  };

  const packed = ({ snapshot, ...head }: typeof config, number: number, former?: typeof config) => ({
    ...head,
    rows: new UpstreamBook(1).assign([]),
    discovered: new Map(),
    blocks: new Map(),
    number,
    base: former && number - 1,
    edits: drain(packEdits(former?.snapshot ?? emptyConfiguration, snapshot)),
  });

  it('is read as it was', async () => {
    expect(await new ConfigReader().read(packed(config, 1))).to.deep.equal(config);
  });

  it('gives the same object again for an entity that has not changed', async () => {
    const reader = new ConfigReader();
    const first = await reader.read(packed(config, 1));
    const routes = [...config.snapshot.routes.slice(1), { id: 'new', name: 'new' }];
    const changed = { ...config, index: 8, snapshot: { ...config.snapshot, routes } };
    const second = await reader.read(packed(changed, 2, config));
    expect(second.snapshot.routes[0]).to.equal(first.snapshot.routes[1]);
    expect(second.snapshot.routes.at(-1)).to.deep.equal({ id: 'new', name: 'new' });
  });

  it('cannot be read by who does not have what it changes', async () => {
    const reader = new ConfigReader();
    await reader.read(packed(config, 1));
    reader.retain([7]);
    const failure = await reader.read(packed(config, 2, config)).catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'configuration 1, which 2 changes, is not here');
  });
});
