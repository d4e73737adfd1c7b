// Spans of a request on its way through the proxy (observability.md §3).
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { listening, ProxyBed, rawExchange } from '../../../support/proxy-bed.ts';
import { outline, type TraceBook, traceBook } from '../../../support/trace-book.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${parentId}-01`;

function createHttp2(answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void) {
  const server = createServer();
  server.on('stream', answer);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  return {
    listen: () => listening(server as never),
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

describe('spans of a request', () => {
  let book: TraceBook;
  let bed: MiddlewareBed;
  beforeEach(async () => {
    book = await traceBook(1);
    bed = new MiddlewareBed({ traces: book });
  });
  afterEach(async () => {
    await bed.end();
    await eventually(() => expect(book.open, 'spans that did not end').to.equal(0));
  });

  it('one for the request and one for its try, with what is known of both', async () => {
    await bed.serve([], { group: { name: 'shop' } });
    await bed.ask({
      path: '/a/b?token=CANARY',
      headers: { traceparent: sampled, tracestate: 'x=1', host: 'h.example:81' },
    });
    const spans = await book.served(1);
    expect(outline(spans)).to.deep.equal(['client GET < GET r: 200 well', 'server GET r < away: 200 well']);
    const [attempt, request] = spans;
    expect(request).to.deep.include({ traceId, parentId, remote: true });
    expect(request?.attributes).to.deep.equal({
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/a/b',
      'server.address': 'h.example',
      'server.port': 81,
      'client.address': '127.0.0.1',
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      'sluice.snapshot.id': 's1',
      'sluice.snapshot.index': 1,
      'sluice.route': 'r',
      'sluice.group': 'shop',
      'sluice.destination': 'd',
      'sluice.endpoint': `127.0.0.1:${bed.upstreamPort}`,
      'sluice.attempts': 1,
    });
    expect(attempt?.attributes).to.deep.equal({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': bed.upstreamPort,
      'url.full': `http://127.0.0.1:${bed.upstreamPort}/a/b`,
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      'sluice.attempt': 1,
      'sluice.destination': 'd',
      'sluice.endpoint': `127.0.0.1:${bed.upstreamPort}`,
    });
    expect(bed.lastSent('traceparent')).to.equal(`00-${traceId}-${attempt?.spanId}-01`);
    expect(bed.lastSent('tracestate')).to.equal('x=1');
  });

  it('lie within each other in time', async () => {
    await bed.serve([]);
    await bed.ask();
    const [attempt, request] = await book.served(1);
    const ns = ([seconds, nanos]: readonly [number, number]): bigint => BigInt(seconds) * 10n ** 9n + BigInt(nanos);
    if (attempt === undefined || request === undefined) return expect.fail('two spans');
    expect(ns(request.startTime) <= ns(attempt.startTime)).to.equal(true);
    expect(ns(attempt.startTime) < ns(attempt.endTime)).to.equal(true);
    expect(ns(attempt.endTime) <= ns(request.endTime)).to.equal(true);
    expect(Math.abs(Number(ns(request.startTime) / 10n ** 6n) - Date.now())).to.be.below(60_000);
  });

  it('one for each try: a retry names the try before it no more, and the upstream is told of its own', async () => {
    await bed.serve([], {
      route: {
        forward: {
          destinations: [{ destinationId: 'd' }],
          retry: { attempts: 1, on: ['server-error'], backoff: { base: '1ms', max: '2ms' } },
        },
      } as object,
    });
    bed.answer = { status: 503, headers: {}, body: 'no' };
    await bed.ask();
    const spans = await book.served(1);
    expect(outline(spans)).to.deep.equal([
      'client GET < GET r: 503 503 failed',
      'client GET < GET r: 503 503 failed',
      'server GET r < none: 503 503 failed',
    ]);
    const [first, second] = spans;
    expect([first, second].map((span) => span?.attributes['sluice.attempt'])).to.deep.equal([1, 2]);
    expect([first, second].map((span) => span?.attributes['http.request.resend_count'])).to.deep.equal([undefined, 1]);
    const told = bed.reached.map(({ headers }) => headers.traceparent);
    expect(told).to.deep.equal([first, second].map((span) => `00-${span?.traceId}-${span?.spanId}-01`));
  });

  it('a connection that is refused, a route that is not there, an answer of the route itself', async () => {
    const gone = await freePort();
    await bed.serve([], {
      more: {
        destinations: [{ id: 'gone', name: 'gone', host: '127.0.0.1', port: gone }],
        routes: [
          { id: 'g', name: 'gone', match: { path: '/gone' }, forward: { destinations: [{ destinationId: 'gone' }] } },
          { id: 's', name: 'said', match: { path: '/said' }, directResponse: { status: 418, body: 'x' } },
          { id: 't', name: 'to', match: { path: '/to' }, redirect: { path: '/else' } },
        ] as never,
      },
      route: { match: { path: '/r' } } as object,
    });
    for (const path of ['/gone', '/said', '/to', '/nowhere']) await bed.ask({ path });
    expect(outline(await book.served(4))).to.deep.equal([
      'client GET < GET gone: connection_refused failed',
      'server GET gone < none: 502 connection_refused failed',
      'server GET said < none: 418 well',
      'server GET to < none: 301 well',
      'server GET < none: 404 well',
    ]);
    expect(book.spans.at(-1)?.attributes).to.include({ 'sluice.error': 'no_route' });
  });

  it('methods that clients invent have one name', async () => {
    await bed.serve([]);
    await new Promise((resolve) => {
      const socket = connect(bed.port, '127.0.0.1', () =>
        socket.write('BREW-COFFEE-AND-NOTHING-BUT-COFFEE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'),
      );
      socket.resume().on('close', resolve);
    });
    const [attempt, request] = await book.served(1);
    expect(attempt?.name).to.equal('HTTP');
    expect(request).to.include({ name: 'HTTP r' });
    expect(request?.attributes).to.include({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'BREW-COFFEE-AND-NOTHING-BUT-COFF',
    });
  });

  it('a middleware that answers is told of, and no upstream is asked', async () => {
    await bed.serve([{ type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: 'false', action: 'allow' }] } } as never]);
    const { status } = await bed.ask();
    const [request, ...others] = await book.served(1);
    expect(others).to.deep.equal([]);
    expect(request?.events.map(({ name, attributes }) => ({ name, ...attributes }))).to.deep.equal([
      {
        name: 'sluice.middleware',
        'sluice.middleware': 'm0',
        'sluice.middleware.type': 'inlineAuthz',
        'sluice.middleware.outcome': 'answered',
        'http.response.status_code': status,
      },
    ]);
  });

  it('a middleware that has changed the request does not hide the trace, nor send it twice', async () => {
    await bed.serve([
      { type: 'headers', headers: { requestHeadersToAdd: [{ key: 'traceparent', value: 'own' }] } } as never,
    ]);
    await bed.ask({ headers: { traceparent: sampled } });
    const [attempt] = await book.served(1);
    expect(bed.lastSent('traceparent')).to.equal(`00-${traceId}-${attempt?.spanId}-01`);
  });

  it('a client that goes leaves spans that end', async () => {
    await bed.serve([]);
    const port = await freePort();
    const silent = new ProxyBed({ traces: book });
    const upstream = await silent.rawUpstream(() => {});
    await silent.install({
      listeners: [{ id: 'l', name: 'l', port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port }],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
    });
    const wire = silent.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
    await eventually(() => expect(upstream.requests.length).to.equal(1));
    wire.destroy();
    expect(outline(await book.served(1))).to.deep.equal([
      'client GET < GET r: aborted failed',
      'server GET r < none: aborted failed',
    ]);
    await silent.end();
  });

  it('an upgrade ends its spans when the two sides are joined', async () => {
    const port = await freePort();
    const own = new ProxyBed({ traces: book });
    const upstream = await own.rawUpstream((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n'),
    );
    await own.install({
      listeners: [{ id: 'l', name: 'l', port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port }],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
    });
    const wire = own.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
    await wire.until(/ 101 /);
    expect(outline(await book.served(1))).to.deep.equal([
      'client GET < GET r: 101 well',
      'server GET r < none: 101 well',
    ]);
    await own.end();
  });

  it('a copy has a span of its own, and is told of it', async () => {
    const copies: (string | undefined)[] = [];
    const mirror = await bed.bed.upstream((request, response) => {
      copies.push(request.headers.traceparent as string | undefined);
      response.end();
    });
    await bed.serve([], {
      more: { destinations: [{ id: 'm', name: 'm', host: '127.0.0.1', port: mirror }] },
      route: { forward: { destinations: [{ destinationId: 'd' }], mirror: { destinationId: 'm' } } } as object,
    });
    await bed.ask();
    await book.served(1);
    const copy = () => book.spans.find(({ attributes }) => attributes['sluice.mirror'] === true);
    await eventually(() => expect(copy()).not.to.equal(undefined));
    const request = book.spans.find(({ kind }) => kind === 1);
    expect(copy()).to.deep.include({ parentId: request?.spanId, name: 'GET' });
    expect(copies).to.deep.equal([`00-${request?.traceId}-${copy()?.spanId}-01`]);
    expect(bed.lastSent('traceparent')).not.to.equal(copies[0]);
  });

  it('HTTP/2 on both sides is traced alike', async () => {
    const port = await freePort();
    const own = new ProxyBed({ traces: book });
    let told: unknown;
    const server = createHttp2((stream, headers) => {
      told = headers.traceparent;
      stream.respond({ ':status': 200 });
      stream.end('x');
    });
    const upstreamPort = await server.listen();
    await own.install({
      listeners: [{ id: 'l', name: 'l', port, http2: true }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort, options: { http2: true } }],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
    });
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    const answer = await client.ask({ ':path': '/p?q=CANARY', traceparent: sampled });
    expect(answer.status).to.equal(200);
    const spans = await book.served(1);
    expect(outline(spans)).to.deep.equal(['client GET < GET r: 200 well', 'server GET r < away: 200 well']);
    expect(told).to.equal(`00-${traceId}-${spans[0]?.spanId}-01`);
    expect(spans.map(({ attributes }) => attributes['network.protocol.version'])).to.deep.equal(['2', '2']);
    client.close();
    await own.end();
    server.close();
  });

  it('says of a candidate that it was one', async () => {
    const port = await freePort();
    const own = new ProxyBed({ traces: book });
    await own.install({ listeners: [{ id: 'l', name: 'l', port }] });
    const routes = [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'x' } }];
    own.source.offer(2, { listeners: [{ id: 'l', name: 'l', port }], routes }, { share: 100, key: { clientIp: true } });
    await eventually(async () => {
      await rawExchange(port, 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
      expect(book.spans.at(-1)?.attributes).to.include({ 'sluice.snapshot.role': 'candidate', 'sluice.route': 'r' });
    });
    await own.end();
  });

  it('nothing that a client sends in a query, a field, a cookie or a body is in any span', async () => {
    const verdicts = await bed.bed.upstream((_request, response) =>
      response.writeHead(200, { 'x-verdict': canary }).end(canary),
    );
    await bed.serve(
      [
        { type: 'headers', headers: { requestHeadersToAdd: [{ key: 'x-own', value: canary }] } } as never,
        {
          type: 'extAuthz',
          extAuthz: {
            destinationId: 'v',
            decisionTimeout: '30s',
            includeBody: true,
            onCheck: { forwardHeaders: ['authorization', 'cookie'] },
          },
        } as never,
      ],
      { more: { destinations: [{ id: 'v', name: 'v', host: '127.0.0.1', port: verdicts }] } },
    );
    for (let i = 0; i < 25; i++) {
      bed.answer = { status: 200 + i * 12, headers: { 'x-said': canary, 'set-cookie': canary }, body: canary };
      const headers = {
        authorization: canary,
        cookie: `a=${canary}`,
        [`x-${canary.toLowerCase()}`]: canary,
        'user-agent': canary,
        referer: canary,
        tracestate: `a=${canary}`,
        traceparent: i % 2 === 0 ? sampled : canary,
      };
      await bed.ask({ method: 'POST', path: `/p?${canary}=${canary}`, headers, body: canary });
    }
    const spans = await book.served(25);
    expect(spans.length).to.equal(75);
    expect(JSON.stringify(spans).toLowerCase()).not.to.contain(canary.toLowerCase());
  });
});

const canary = 'CANARY7d1f';
