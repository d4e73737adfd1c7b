// The metrics of a listener against a ledger kept by hand: two thousand requests of every action, fate and protocol, over
// twenty activations, and a worker that falls in the middle. Every sample has to be as the ledger says.

import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { Workers } from '../../src/proxy/worker/workers.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/util/clock.ts';
import { ca, server as certificate } from '../support/certificates.ts';
import { loopbackDataPlane } from '../support/data-plane-settings.ts';
import { eventually } from '../support/eventually.ts';
import { fallingThreads } from '../support/falling-threads.ts';
import { freePort } from '../support/free-port.ts';
import { Http2Client } from '../support/http2-client.ts';
import { MetricLedger, samplesOf } from '../support/metric-ledger.ts';
import { familiesOf } from '../support/metric-lines.ts';
import { listening, ProxyBed, rawExchange } from '../support/proxy-bed.ts';
import { ask } from '../support/secure-client.ts';

const collect = { route: true, destination: true, endpoint: true, middleware: true, listener: true };
const metrics = { collect, histograms: { durationBuckets: [1000] } };

const key = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'k' };

/** Rounds over all kinds of exchanges; each has one activation before it. */
const rounds = 20;

for (const workers of [1, 4]) {
  describe(`a ledger of everything, ${workers} workers`, () => {
    const bed = new ProxyBed();
    let proxy: Workers;
    let plain: MetricLedger;
    let secure: MetricLedger;
    let port: number;
    let securePort: number;
    let ports: Record<'echo' | 'garbage' | 'down', number>;
    let activation = 0;
    /** Held answers by path and query. */
    const held = new Map<string, () => void>();
    let heldId = 0;
    const seen = new Set<string>();

    /** Answers of the upstreams, by path. */
    function answer(request: IncomingMessage, response: ServerResponse): void {
      const { url = '', headers } = request;
      response.on('error', () => {});
      if (url.startsWith('/reset')) request.socket.destroy();
      else if (url.startsWith('/hang')) request.resume();
      else if (url.startsWith('/held')) held.set(url, () => response.end('held'));
      else if (url.startsWith('/bad')) response.writeHead(503, { 'content-length': 2 }).end('no');
      else if (url.startsWith('/flaky')) {
        const id = String(headers['x-id']);
        response.writeHead(seen.has(id) ? 200 : 503).end('again');
        seen.add(id);
      } else if (url.startsWith('/half')) {
        response.writeHead(200, { 'content-length': 100 }).write('half');
        setTimeout(() => request.socket.destroy(), 5);
      } else {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => response.end(`<${Buffer.concat(chunks)}>`));
      }
    }

    before(async () => {
      const echo = createServer({ keepAliveTimeout: 0 }, answer).on('upgrade', (_request, socket) => {
        socket.on('error', () => {});
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nbye');
      });
      bed.atEnd(async () => {
        echo.close();
        echo.closeAllConnections();
      });
      const garbage = await bed.rawUpstream((socket) => socket.end('this is no HTTP\r\n\r\n'));
      ports = { echo: await listening(echo), garbage: garbage.port, down: await freePort() };
      [port, securePort] = [await freePort(), await freePort()];
      plain = new MetricLedger('web', port);
      secure = new MetricLedger('tls', securePort);
      proxy = new Workers({
        clock: systemClock,
        telemetry: { logger: silentLogger },
        settings: loopbackDataPlane({ workers }),
        ownPlaces: [],
        threads: fallingThreads,
      });
      bed.atEnd(() => proxy.close(0));
      await activate();
      for (const ledger of [plain, secure]) expectStates(ledger);
    });
    after(() => bed.end());

    /** The same, with something else beside it. */
    async function activate(): Promise<void> {
      const index = ++activation;
      const others = [{ id: `other${index}`, name: `other${index}`, match: { path: `/other${index}` } }];
      const snapshot = { ...configuration(), routes: [...configuration().routes, ...others] } as Configuration;
      const config = { index, id: `s${index}`, name: `s${index}`, createdAt: '2026-01-01T00:00:00Z', snapshot };
      await proxy.install(config, () => {});
    }

    function configuration(): Configuration {
      const at = (id: string, upstream: number, options: object = {}, host = '127.0.0.1') => ({
        ...{ id, name: id, host, port: upstream, options },
      });
      const to = (id: string, path: string, destinationId: string, forward: object = {}, more: object = {}) => ({
        ...{ id, name: id, match: { pathPrefix: path }, forward: { destinations: [{ destinationId }], ...forward } },
        ...more,
      });
      const retry = { attempts: 2, on: ['server-error'], backoff: { base: '1ms' }, budgetPercent: 100 };
      const guarded = (id: string, path: string, ...middlewareIds: string[]) =>
        to(id, path, 'd', {}, { middlewareIds });
      return {
        listeners: [
          { id: 'l', name: 'web', port, http2: true, maxRequestHeadersKB: 4, metrics },
          { id: 't', name: 'tls', port: securePort, metrics, tls: { cert: certificate.cert, key: certificate.key } },
        ],
        destinations: [
          at('d', ports.echo),
          at('e', ports.echo),
          at('m', ports.echo),
          at('flaky', ports.echo),
          at('garbage', ports.garbage),
          at('down', ports.down),
          at('untls', ports.echo, { tls: { mode: 'tls' } }),
          at('nowhere', 80, {}, `${'x'.repeat(70)}.invalid`),
          at('open', ports.echo, { circuitBreaker: { failureThreshold: 1, openDuration: '1h' } }),
          at('sick', ports.down, { healthCheck: { path: '/', interval: '100ms', unhealthyThreshold: 1 } }),
        ],
        routes: [
          to('ok', '/ok', 'd'),
          to('grouped', '/in', 'd'),
          to('bad', '/bad', 'e'),
          to('flaky', '/flaky', 'flaky', { retry }),
          to('worse', '/bad/always', 'e', { retry }),
          to('down', '/down', 'down'),
          to('fine', '/fine', 'e'),
          to('reset', '/reset', 'e'),
          to('hang', '/hang', 'e', { timeouts: { request: '40ms' } }),
          to('held', '/held', 'd'),
          to('half', '/half', 'e'),
          to('garbage', '/garbage', 'garbage'),
          to('untls', '/untls', 'untls'),
          to('nowhere', '/nowhere', 'nowhere'),
          to('missing', '/missing', 'gone'),
          to('sick', '/sick', 'sick'),
          to('open', '/bad/open', 'open'),
          to('mirrored', '/mirrored', 'd', { mirror: { destinationId: 'm' } }),
          { id: 'redirect', name: 'redirect', match: { path: '/redirect' }, redirect: { url: 'http://a/', code: 301 } },
          {
            id: 'direct',
            name: 'direct "q"',
            match: { path: '/direct' },
            directResponse: { status: 418, body: 'tea' },
          },
          guarded('allowed', '/allowed', 'cors', 'headers', 'rule'),
          guarded('denied', '/denied', 'cors', 'headers', 'deny'),
          guarded('token', '/token', 'jwt'),
          guarded('limited', '/limited', 'limit'),
          to(
            'skipped',
            '/skipped',
            'd',
            {},
            {
              middlewareIds: ['skipped', 'headers'],
              middlewareOverrides: { skipped: { skipWhen: ['true'] }, headers: { disabled: true } },
            },
          ),
          guarded('closed', '/closed', 'unknown'),
        ],
        groups: [{ id: 'g', name: 'all', pathPrefix: '/group', routeIds: ['grouped'] }],
        middlewares: [
          { id: 'cors', name: 'cors', type: 'cors', cors: { allowOrigins: [{ value: '*' }], allowMethods: ['GET'] } },
          { id: 'headers', name: 'headers', type: 'headers', headers: {} },
          { id: 'rule', name: 'rule', type: 'inlineAuthz', inlineAuthz: { rules: [], defaultAction: 'allow' } },
          { id: 'deny', name: 'deny', type: 'inlineAuthz', inlineAuthz: { rules: [], defaultAction: 'deny' } },
          {
            ...{ id: 'jwt', name: 'jwt', type: 'jwt' },
            jwt: { issuer: 'i', jwksInline: JSON.stringify({ keys: [key] }) },
          },
          {
            ...{ id: 'limit', name: 'limit', type: 'rateLimit' },
            rateLimit: { requestsPerSecond: 0.0001, burst: 1 },
          },
          { id: 'skipped', name: 'skipped', type: 'headers', headers: {} },
        ],
      } as unknown as Configuration;
    }

    /** Expects the gauges of every endpoint and breaker, from the first activation on; streaks are recorded as they come. */
    function expectStates(ledger: MetricLedger): void {
      for (const { id, host, port: upstream } of configuration().destinations) {
        const own = `destination="${id}",endpoint="${host}:${upstream}"`;
        ledger.state(`sluice_endpoint_healthy{${own}}`, id === 'sick' ? 0 : 1);
        ledger.state(`sluice_endpoint_consecutive_5xx{${own}}`, 0);
      }
      ledger.state('sluice_destination_circuit_breaker_state{destination="open"}', 0);
    }

    /** An exchange on a connection of its own; gives the status. */
    async function send(head: string, more = '', body = ''): Promise<number> {
      plain.connections(1);
      const text = await rawExchange(port, `${head} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n${body}`);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
    }

    async function expectStatus(answered: Promise<number>, status: number): Promise<void> {
      expect(await answered).to.equal(status);
    }

    const local = (name: keyof typeof ports): string => `127.0.0.1:${ports[name]}`;

    /** An upstream's fate: the route and its destination have one name unless said otherwise. */
    async function fate(
      path: string,
      status: number,
      route: string,
      destination: string,
      endpoint: string,
      error = '',
    ) {
      plain.route(route, '', 'GET', status, 0, await bytesOf(`GET ${path}`, status));
      if (endpoint !== '') plain.target(destination, endpoint, status);
      if (error !== '') plain.error(error, status);
    }

    const proxyError = (path: string, route: string, error: string, status: number, at = ''): Promise<void> =>
      fate(path, status, route, route, at, error);

    let limitedBefore = false;
    let flakyId = 0;

    /** By what they are; each does one exchange, or as many as it says. */
    const kinds: Readonly<Record<string, () => Promise<void>>> = {
      async forwarded() {
        const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'MKCOL'];
        for (const method of methods) {
          await expectStatus(send(`${method} /ok/x?q=${method}`), 200);
          const shown = method === 'PROPFIND' || method === 'MKCOL' ? 'OTHER' : method;
          plain.route('ok', '', shown, 200, 0, method === 'HEAD' ? 0 : 2);
          plain.target('d', local('echo'), 200);
        }
      },
      async 'with bodies'() {
        await expectStatus(send('POST /ok', 'Content-Length: 10\r\n', '0123456789'), 200);
        plain.route('ok', '', 'POST', 200, 10, 12);
        await expectStatus(
          send('POST /ok', 'Transfer-Encoding: chunked\r\n', '5\r\n01234\r\n3\r\n567\r\n0\r\n\r\n'),
          200,
        );
        plain.route('ok', '', 'POST', 200, 8, 10);
        for (let i = 0; i < 2; i++) plain.target('d', local('echo'), 200);
      },
      async 'on one connection, one after the other and at once'() {
        plain.connections(1);
        const get = (close: string): string => `GET /ok HTTP/1.1\r\nHost: a\r\n${close}\r\n`;
        const text = await rawExchange(port, get('') + get('') + get('') + get('Connection: close\r\n'));
        expect(text.split('HTTP/1.1 200').length).to.equal(5);
        for (let i = 0; i < 4; i++) {
          plain.route('ok', '', 'GET', 200, 0, 2);
          plain.target('d', local('echo'), 200);
        }
      },
      async 'as HTTP/1.0'() {
        plain.connections(1);
        expect(await rawExchange(port, 'GET /ok HTTP/1.0\r\nHost: a\r\n\r\n')).to.match(/^HTTP\/1\.1 200/);
        plain.route('ok', '', 'GET', 200, 0, 2);
        plain.target('d', local('echo'), 200);
      },
      async 'as HTTP/2'() {
        plain.connections(1);
        const client = new Http2Client(`http://127.0.0.1:${port}`);
        const post = client.ask({ ':method': 'POST', ':path': '/ok' }, Buffer.from('0123'));
        const get = client.ask({ ':path': '/group/in/x' });
        const none = client.ask({ ':path': '/none' });
        expect([(await post).status, (await get).status, (await none).status]).to.deep.equal([200, 200, 404]);
        client.close();
        plain.route('ok', '', 'POST', 200, 4, 6);
        plain.route('grouped', 'all', 'GET', 200, 0, 2);
        for (let i = 0; i < 2; i++) plain.target('d', local('echo'), 200);
        plain.error('no_route', 404);
      },
      async 'over TLS, once with no handshake'() {
        const { text } = await ask(securePort, { ca }, 'GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        expect(text).to.match(/^HTTP\/1\.1 200/);
        secure.route('ok', '', 'GET', 200, 0, 2);
        secure.target('d', local('echo'), 200);
        await rawExchange(securePort, 'GET / HTTP/1.1\r\n\r\n');
        secure.connections(2);
        secure.handshakeErrors(1);
      },
      async 'in a group'() {
        await expectStatus(send('GET /group/in'), 200);
        plain.route('grouped', 'all', 'GET', 200, 0, 2);
        plain.target('d', local('echo'), 200);
      },
      async 'with an error of the upstream'() {
        await fate('/bad', 503, 'bad', 'e', local('echo'));
      },
      async 'tried again'() {
        await expectStatus(send('GET /flaky', `X-Id: ${flakyId++}\r\n`), 200);
        plain.retry('flaky', '', 1);
        plain.route('flaky', '', 'GET', 200, 0, 5);
        plain.target('flaky', local('echo'), 200);
      },
      async 'tried again in vain'() {
        await fate('/bad/always', 503, 'worse', 'e', local('echo'));
        plain.retry('worse', '', 1);
        plain.retry('worse', '', 2);
      },
      'refused by the upstream': () => proxyError('/down', 'down', 'connection_refused', 502, local('down')),
      async 'cut by the upstream'() {
        await fate('/reset', 502, 'reset', 'e', local('echo'), 'connection_reset');
      },
      async 'cut in the body'() {
        await fate('/half', 200, 'half', 'e', local('echo'));
      },
      async 'out of time'() {
        await fate('/hang', 504, 'hang', 'e', local('echo'), 'timeout');
      },
      'that get no HTTP': () => proxyError('/garbage', 'garbage', 'bad_response', 502, local('garbage')),
      'that get no TLS': () => proxyError('/untls', 'untls', 'tls_handshake_failure', 502, local('echo')),
      'to a name that nobody has': () =>
        proxyError('/nowhere', 'nowhere', 'dns_failure', 502, `${'x'.repeat(70)}.invalid:80`),
      'to a destination that is not there': () => proxyError('/missing', 'missing', 'no_destination', 502),
      'to an endpoint that is sick': () => proxyError('/sick', 'sick', 'no_endpoint', 502),
      async 'to a broken circuit'() {
        if (plain.expected.get(breaker) === 0) {
          await fate('/bad/open', 503, 'open', 'open', local('echo'));
          for (const ledger of [plain, secure]) ledger.state(breaker, 1);
        } else await proxyError('/bad/open', 'open', 'circuit_open', 503);
      },
      async mirrored() {
        await expectStatus(send('GET /mirrored'), 200);
        plain.route('mirrored', '', 'GET', 200, 0, 2);
        plain.target('d', local('echo'), 200);
        plain.mirror('mirrored', 'm');
      },
      async 'answered by the route'() {
        await expectStatus(send('GET /redirect'), 301);
        plain.route('redirect', '', 'GET', 301);
        await expectStatus(send('POST /direct', 'Content-Length: 3\r\n', 'abc'), 418);
        plain.route('direct \\"q\\"', '', 'POST', 418, 3, 3);
      },
      async 'let pass by middlewares'() {
        await expectStatus(send('GET /allowed'), 200);
        plain.route('allowed', '', 'GET', 200, 0, 2);
        plain.target('d', local('echo'), 200);
        plain.middleware('cors', 'cors');
        plain.middleware('headers', 'headers');
        plain.middleware('rule', 'inlineAuthz');
      },
      async 'answered by a middleware that does not refuse'() {
        const preflight = 'Origin: http://b\r\nAccess-Control-Request-Method: GET\r\n';
        await expectStatus(send('OPTIONS /allowed', preflight), 204);
        plain.route('allowed', '', 'OPTIONS', 204);
        plain.middleware('cors', 'cors');
      },
      async 'refused by middlewares'() {
        const denied = await bytesOf('GET /denied', 403);
        plain.route('denied', '', 'GET', 403, 0, denied);
        plain.middleware('cors', 'cors');
        plain.middleware('headers', 'headers');
        plain.middleware('deny', 'inlineAuthz', 403);
        plain.route('token', '', 'GET', 401, 0, await bytesOf('GET /token', 401));
        plain.middleware('jwt', 'jwt', 401);
        const status = limitedBefore ? 429 : 200;
        plain.route('limited', '', 'GET', status, 0, await bytesOf('GET /limited', status));
        plain.middleware('limit', 'rateLimit', limitedBefore ? 429 : 0);
        if (!limitedBefore) plain.target('d', local('echo'), 200);
        limitedBefore = true;
      },
      async 'past a middleware'() {
        await expectStatus(send('GET /skipped'), 200);
        plain.route('skipped', '', 'GET', 200, 0, 2);
        plain.target('d', local('echo'), 200);
      },
      'to a route that could not be built': async () => {
        await proxyError('/closed', 'closed', 'middleware_unavailable', 500);
      },
      async 'that no route wins, or nobody can read'() {
        await expectStatus(send('GET /none'), 404);
        plain.error('no_route', 404);
        await expectStatus(send('GET /ok', `X-Long: ${'x'.repeat(5_000)}\r\n`), 431);
        plain.error('request_headers_too_large', 431);
        await expectStatus(send('GET /ok', 'Broken\r\n'), 400);
        plain.error('bad_request', 400);
        await expectStatus(send('GET /ok', 'Expect: miracles\r\n'), 417);
        plain.error('expectation_failed', 417);
        await expectStatus(send('CONNECT a:80'), 405);
        plain.error('method_not_allowed', 405);
        plain.connections(1);
        expect(await rawExchange(port, 'GET / HTTP/3.0\r\nHost: a\r\n\r\n')).to.match(/ 505 /);
        plain.error('version_not_supported', 505);
      },
      async upgraded() {
        plain.connections(1);
        const text = await rawExchange(
          port,
          'GET /ok HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
        );
        expect(text).to.match(/^HTTP\/1\.1 101 /);
        plain.route('ok', '', 'GET', 101);
        plain.target('d', local('echo'), 101);
      },
      async 'that the client gives up'() {
        plain.connections(1);
        const target = `/held?${heldId++}`;
        const wire = bed.wire(port);
        wire.send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
        await eventually(() => expect(held.has(target)).to.equal(true));
        wire.destroy();
        plain.route('held', '', 'GET', 499);
        plain.target('d', local('echo'), 499);
      },
    };

    const breaker = 'sluice_destination_circuit_breaker_state{destination="open"}';

    async function bytesOf(head: string, status: number): Promise<number> {
      plain.connections(1);
      const text = await rawExchange(port, `${head} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), head).to.equal(status);
      const [, body = ''] = text.split('\r\n\r\n', 2);
      return body.length;
    }

    async function scrape(of: MetricLedger): Promise<string> {
      of.connections(1);
      const request = 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
      const text = of === plain ? await rawExchange(port, request) : (await ask(securePort, { ca }, request)).text;
      return text.slice(text.indexOf('\r\n\r\n') + 4);
    }

    /** Waits until metrics and ledger agree: an exchange is counted a moment after its end. */
    async function expectAgreement(open = 0): Promise<void> {
      for (const ledger of [plain, secure]) {
        // The scrape's own.
        ledger.open(ledger === plain ? open + 1 : 1);
        await eventually(async () => {
          const shown = samplesOf(await scrape(ledger));
          for (const name of shown.keys()) if (name.includes('consecutive_5xx')) shown.set(name, 0);
          expect(ledger.differences(shown)).to.deep.equal([]);
        });
      }
    }

    it('agrees with every sample, through activations and the fall of a worker', async () => {
      await eventually(async () => {
        expect(
          samplesOf(await scrape(plain)).get(`sluice_endpoint_healthy{destination="sick",endpoint="${local('down')}"}`),
        ).to.equal(0);
      });
      for (let round = 0; round < rounds; round++) {
        await activate();
        // The circuit breaks, and the limit is reached, before other clients ask.
        if (round === 0) for (const run of Object.values(kinds)) await run();
        else
          await Promise.all(
            Array.from({ length: 2 + (round % 2) }).flatMap(() => Object.values(kinds).map((run) => run())),
          );
        if (round === rounds / 2) {
          await expectAgreement();
          await fall();
        }
      }
      await expectAgreement();
      // 22 of every listener, and the tokens of its rate limit.
      expect(familiesOf(await scrape(plain))).to.have.length(23);
      const exchanges = [...plain.expected].filter(([name]) =>
        /^sluice_(route_requests|proxy_errors)_total/.test(name),
      );
      expect(exchanges.reduce((sum, [, count]) => sum + count, 0)).to.be.above(2_000);
    });

    it('agrees while requests are under way', async () => {
      held.clear();
      const wires = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const wire = bed.wire(port);
          wire.send(`GET /held?${heldId++} HTTP/1.1\r\nHost: a\r\n\r\n`);
          return wire;
        }),
      );
      await eventually(() => expect(held.size).to.equal(5));
      plain.connections(5);
      plain.state('sluice_route_inflight_requests{route="held",group=""}', 5);
      plain.state('sluice_destination_inflight_requests{destination="d"}', 5);
      await expectAgreement(5);
      for (const end of held.values()) end();
      await Promise.all(wires.map((wire) => wire.until(/held$/)));
      for (const wire of wires) wire.destroy();
      for (let i = 0; i < 5; i++) {
        plain.route('held', '', 'GET', 200, 0, 4);
        plain.target('d', local('echo'), 200);
      }
      plain.state('sluice_route_inflight_requests{route="held",group=""}', 0);
      plain.state('sluice_destination_inflight_requests{destination="d"}', 0);
      await expectAgreement();
    });

    it('agrees about errors in a row', async () => {
      await expectStatus(send('GET /fine'), 200);
      plain.route('fine', '', 'GET', 200, 0, 2);
      plain.target('e', local('echo'), 200);
      for (let i = 0; i < 3; i++) await fate('/bad', 503, 'bad', 'e', local('echo'));
      const failed = (id: string, endpoint: string): number =>
        plain.expected.get(
          `sluice_endpoint_requests_total{destination="${id}",endpoint="${endpoint}",status_code="502",status_class="5xx"}`,
        ) ?? 0;
      const inARow = { d: 0, e: 3, m: 0, flaky: 0, open: 1, down: failed('down', local('down')) };
      const shown = samplesOf(await scrape(plain));
      for (const [id, count] of Object.entries(inARow)) {
        const endpoint = local(id === 'down' ? 'down' : 'echo');
        const name = `sluice_endpoint_consecutive_5xx{destination="${id}",endpoint="${endpoint}"}`;
        expect(shown.get(name), name).to.equal(count);
      }
    });

    /** Crashes one worker; the others go on, and another takes its place. */
    async function fall(): Promise<void> {
      const channel = new BroadcastChannel('fall');
      channel.postMessage({ place: workers - 1 });
      await eventually(() => expect(proxy.serving).to.equal(workers - 1));
      await eventually(() => expect(proxy.serving).to.equal(workers));
      channel.close();
    }
  });
}
