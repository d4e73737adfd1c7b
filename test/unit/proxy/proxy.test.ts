import { expect } from 'chai';
import { request as send } from 'undici';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

describe('a proxy', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const listener = (extra: object = {}) => ({ id: 'l', name: 'l', port, ...extra });
  const forwardTo = (upstreamPort: number, forward: object = {}, match: object = {}): Partial<Configuration> => ({
    listeners: [listener()],
    destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort }],
    routes: [{ id: 'r', name: 'r', match, forward: { destinations: [{ destinationId: 'd' }], ...forward } }],
  });
  const url = (path: string) => `http://127.0.0.1:${port}${path}`;

  it('forwards a request with its body and returns status, fields and body', async () => {
    const upstreamPort = await bed.upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(201, { 'X-Seen': `${request.method} ${request.url}`, 'Set-Cookie': ['a=1', 'b=2'] });
        response.end(Buffer.concat(chunks));
      });
    });
    await bed.install(forwardTo(upstreamPort));
    const response = await send(url('/things?x=1'), { method: 'POST', body: 'hello' });
    expect(response.statusCode).to.equal(201);
    expect(response.headers['x-seen']).to.equal('POST /things?x=1');
    expect(response.headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
    expect(await response.body.text()).to.equal('hello');
  });

  it('removes what a client forged and what its Connection field names, and says who asked', async () => {
    let seen: NodeJS.Dict<string | string[]> = {};
    const upstreamPort = await bed.upstream((request, response) => {
      seen = request.headers;
      response.end();
    });
    await bed.install(forwardTo(upstreamPort));
    await rawExchange(
      port,
      'GET / HTTP/1.1\r\nHost: example.test:81\r\nConnection: close, X-User\r\nX-User: root\r\n' +
        'X-Forwarded-For: 6.6.6.6\r\nX_Forwarded_For: 6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n\r\n',
    );
    expect(seen).to.include({
      host: 'example.test:81',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'example.test:81',
    });
    expect(seen).not.to.have.any.keys('x-user', 'x-real-ip', 'forwarded', 'x_forwarded_for');
  });

  it('answers no_route at the detail level of its listener', async () => {
    await bed.install({ listeners: [listener({ proxyErrors: { detail: 'minimal' } })] });
    const response = await send(url('/'));
    expect(response.statusCode).to.equal(404);
    expect(response.headers['content-type']).to.equal('application/json');
    expect(await response.body.text()).to.equal('{"error":"no_route","status":404}');
  });

  it('answers connection_refused when no server listens', async () => {
    await bed.install(forwardTo(await freePort()));
    const response = await send(url('/'));
    expect(response.statusCode).to.equal(502);
    expect(await response.body.json()).to.include({ error: 'connection_refused' });
  });

  it('answers timeout when the route budget is spent', async () => {
    const upstreamPort = await bed.upstream(() => {});
    await bed.install(forwardTo(upstreamPort, { timeouts: { request: '50ms' } }));
    const response = await send(url('/'));
    expect(response.statusCode).to.equal(504);
    expect(await response.body.json()).to.include({ error: 'timeout' });
  });

  it('aborts the upstream when the client goes away', async () => {
    let aborted = false;
    const abort = new AbortController();
    const upstreamPort = await bed.upstream((request) => {
      request.on('close', () => {
        aborted = true;
      });
      abort.abort();
    });
    await bed.install(forwardTo(upstreamPort));
    await send(url('/'), { signal: abort.signal }).catch(() => {});
    await eventually(() => expect(aborted).to.equal(true));
  });

  it('tries exact paths, then the longest prefix by whole segments, then regexes', async () => {
    const direct = (id: string, match: object) => ({ id, name: id, match, directResponse: { status: 200, body: id } });
    await bed.install({
      listeners: [listener()],
      routes: [
        direct('regex', { pathRegex: '/.*' }),
        direct('short', { pathPrefix: '/api' }),
        direct('long', { pathPrefix: '/api/v1/' }),
        direct('exact', { path: '/api/v1' }),
      ],
    });
    const answers = ['/api/v1', '/api/v1/x', '/api/x', '/apix', '/api/../api/v1'];
    const bodies = [];
    for (const path of answers) bodies.push((await rawExchange(port, get(path))).split('\r\n\r\n')[1]);
    expect(bodies).to.deep.equal(['exact', 'long', 'short', 'regex', 'exact']);
  });

  it('sends a prefix rewrite with its remainder', async () => {
    const upstreamPort = await bed.upstream((request, response) => void response.end(request.url));
    await bed.install(forwardTo(upstreamPort, { rewrite: { path: '/internal' } }, { pathPrefix: '/api/v1' }));
    expect(await (await send(url('/api/v1/users?x=1'))).body.text()).to.equal('/internal/users?x=1');
  });

  it('redirects', async () => {
    const redirect = { scheme: 'https' as const, host: 'example.test', code: 308 as const };
    await bed.install({ listeners: [listener()], routes: [{ id: 'r', name: 'r', redirect }] });
    const response = await send(url('/a?b=c'));
    expect(response.statusCode).to.equal(308);
    expect(response.headers.location).to.equal('https://example.test/a?b=c');
  });

  it('answers middleware_unavailable where a middleware is not built', async () => {
    await bed.install({
      listeners: [listener()],
      middlewares: [{ id: 'm', name: 'm', type: 'foreign' as never }],
      routes: [{ id: 'r', name: 'r', middlewareIds: ['m'], directResponse: { status: 200 } }],
    });
    expect(await (await send(url('/'))).body.json()).to.include({ error: 'middleware_unavailable', status: 500 });
  });

  it('never sends plaintext to a destination that asks for TLS', async () => {
    let requests = 0;
    const upstreamPort = await bed.upstream((_request, response) => {
      requests++;
      response.end();
    });
    const config = forwardTo(upstreamPort);
    const destination = {
      id: 'd',
      name: 'd',
      host: '127.0.0.1',
      port: upstreamPort,
      options: { tls: { mode: 'tls' as const } },
    };
    await bed.install({ ...config, destinations: [destination] });
    expect((await send(url('/'))).statusCode).to.equal(502);
    expect(requests).to.equal(0);
  });

  it('refuses CONNECT with 405 and malformed heads with 400, and closes', async () => {
    await bed.install({ listeners: [listener()] });
    expect(await rawExchange(port, 'CONNECT x:25 HTTP/1.1\r\nHost: x:25\r\n\r\n')).to.match(/^HTTP\/1.1 405 /);
    expect(await rawExchange(port, 'GET / HTTP/1.1\r\nHost : x\r\n\r\n')).to.match(/^HTTP\/1.1 400 /);
    expect(await rawExchange(port, 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n')).to.match(/^HTTP\/1.1 400 /);
    expect(await rawExchange(port, 'GET / HTTP/1.1\r\nHost: u@x\r\n\r\n')).to.match(/^HTTP\/1.1 400 /);
  });
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
