// S13, S14, S15 and S32: whose word counts for what.
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, type RawUpstream, rawExchange } from '../../support/proxy-bed.ts';

describe('the fields that travel on', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: RawUpstream;
  let sent: string;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstream = await bed.rawUpstream((socket) => socket.write(`HTTP/1.1 200 OK\r\n${sent}Content-Length: 0\r\n\r\n`));
    sent = '';
  });
  afterEach(() => bed.end());

  const ask = async (fields: string, options = {}) => {
    await bed.install(forwarding(port, upstream.port, options));
    const answer = await rawExchange(port, `GET / HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`);
    return { answer, request: upstream.requests.at(-1) ?? '' };
  };
  const lines = (text: string): string[] =>
    text
      .split('\r\n')
      .slice(1)
      .filter((line) => line !== '');

  it('keep their order, spelling and duplicates', async () => {
    const { request } = await ask('b-B: 1\r\nAccept: x\r\nb-b: 2\r\nCookie: c=d\r\n');
    expect(lines(request).slice(0, 5)).to.deep.equal(['Host: x', 'b-B: 1', 'Accept: x', 'b-b: 2', 'Cookie: c=d']);
  });

  it('go with the target as it came: a `?` with nothing behind it stays', async () => {
    await bed.install(forwarding(port, upstream.port));
    for (const target of ['/a?', '/?', '/a?b', '/a??', '/a'])
      await rawExchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const targets = upstream.requests.map((request) => request.split(' ')[1]);
    expect(targets).to.deep.equal(['/a?', '/?', '/a?b', '/a??', '/a']);
  });

  it('go under the name of the destination where HTTP/1.0 names none, an IPv6 address in brackets', async () => {
    for (const host of ['shop.test', '::1']) {
      const endpoints = [{ host: '127.0.0.1', port: upstream.port }];
      await bed.install(forwarding(port, upstream.port, { destination: { host, endpoints } }));
      await rawExchange(port, 'GET / HTTP/1.0\r\n\r\n');
    }
    const hosts = upstream.requests.map((request) => lines(request)[0]);
    expect(hosts).to.deep.equal(['Host: shop.test', 'Host: [::1]']);
  });

  // A head without edits was copied as it came, blanks included (architecture.md §6.27).
  it('travel without the blanks around their values, in both directions', async () => {
    sent = 'X-A:  1 \r\nX-B:\t2\t \r\n';
    const { request, answer } = await ask('X-C:   3\r\nX-D:4\t\r\nX-E: \r\n');
    expect(lines(request).slice(1, 4)).to.deep.equal(['X-C: 3', 'X-D: 4', 'X-E: ']);
    expect(lines(answer).slice(0, 2)).to.deep.equal(['X-A: 1', 'X-B: 2']);
  });

  it('are without what Connection names, and Sluice’s own come after', async () => {
    const fields =
      'X-User: root\r\nAuthorization: a\r\nX-Forwarded-For: 6.6.6.6\r\nConnection: x-user, X-Forwarded-For, Authorization, host, content-length\r\n';
    const { request } = await ask(fields);
    expect(lines(request)).to.deep.equal([
      'Host: x',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: x',
    ]);
  });

  it('tell the client behind trusted proxies as X-Real-IP where the route says so, and what a client says of itself never', async () => {
    const headers = { requestHeadersToAdd: [{ key: 'X-Real-IP', value: '${request.clientIp}' }] };
    const forged = 'X-Real-IP: 6.6.6.6\r\nX-Forwarded-For: 1.2.3.4, 5.6.7.8\r\n';
    for (const [trustedProxies, client] of [
      [[], '127.0.0.1'],
      [['127.0.0.1'], '5.6.7.8'],
      [['127.0.0.1', '5.0.0.0/8'], '1.2.3.4'],
    ] as const) {
      const { request } = await ask(forged, { forward: { headers }, listener: { trustedProxies } });
      expect(lines(request).filter((line) => /^x-real-ip/i.test(line))).to.deep.equal([`X-Real-IP: ${client}`]);
    }
  });

  it('keep a framing that Connection names', async () => {
    await bed.install(forwarding(port, upstream.port));
    const request = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close, content-length\r\nContent-Length: 3\r\n\r\nabc';
    await rawExchange(port, request);
    expect(upstream.requests[0]).to.match(/\r\nContent-Length: 3\r\n[\s\S]*\r\n\r\nabc$/);
  });

  it('are without what concerns one hop, but with TE: trailers', async () => {
    const fields =
      'Keep-Alive: 5\r\nProxy-Connection: x\r\nProxy-Authorization: y\r\nTrailer: z\r\nTE: gzip, trailers;q=0.5\r\nUpgrade: w\r\n';
    const { request } = await ask(fields);
    expect(lines(request)).to.deep.equal([
      ...['Host: x', 'TE: trailers', 'X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Proto: http', 'X-Forwarded-Host: x'],
    ]);
  });

  for (const name of [
    ...['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Port', 'X-Forwarded-Prefix'],
    ...['X-Forwarded-Anything', 'Forwarded', 'X-Real-IP', 'X-Forwarded-Client-Cert'],
    ...[
      'X_Forwarded_For',
      'x_forwarded-proto',
      'X-Forwarded_Client_Cert',
      'X_Real_IP',
      'Content_Length',
      'Transfer_Encoding',
    ],
  ]) {
    it(`are without a forged ${name}`, async () => {
      const { request } = await ask(`${name}: forged\r\n${name.toUpperCase()}: forged\r\n`);
      expect(request).not.to.contain('forged');
    });
  }

  it('believe a trusted peer: its chain grows, what it says of scheme and host stays, its certificate does not', async () => {
    const fields =
      'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Real-IP: r\r\nX-Forwarded-Client-Cert: forged\r\n';
    const { request } = await ask(fields, { listener: { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] } });
    expect(lines(request).slice(1)).to.deep.equal([
      'X-Forwarded-Proto: https',
      'X-Real-IP: r',
      'X-Forwarded-For: 6.6.6.6, 10.0.0.1, 127.0.0.1',
      'X-Forwarded-Host: x',
    ]);
  });

  it('come back without what concerns one hop, Server replaced where the listener has a name', async () => {
    sent =
      'Server: up\r\nDate: then\r\nSet-Cookie: a=1\r\nConnection: X-Secret\r\nX-Secret: s\r\nKeep-Alive: 9\r\nset-cookie: b=2\r\n';
    const plain = await ask('');
    expect(lines(plain.answer)).to.deep.equal([
      ...['Server: up', 'Date: then', 'Set-Cookie: a=1', 'set-cookie: b=2', 'Content-Length: 0', 'Connection: close'],
    ]);
    const named = await ask('', { listener: { serverName: 'edge' } });
    expect(lines(named.answer).filter((line) => line.startsWith('Server'))).to.deep.equal(['Server: edge']);
  });

  it('of a redirect lead to where its path says and nowhere else', async () => {
    const redirect = { stripQuery: true };
    await bed.install({ listeners: [{ id: 'l', name: 'l', port }], routes: [{ id: 'r', name: 'r', redirect }] });
    for (const target of [
      '//evil.test/',
      '/\\evil.test',
      '/%0d%0aSet-Cookie:%20a=b',
      '/%5cevil.test',
      '///evil.test',
    ]) {
      const answer = await rawExchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const location = /\r\nLocation: (.*)\r\n/.exec(answer)?.[1] ?? '/';
      expect(new URL(location, 'http://x/').host, target).to.equal('x');
      expect(answer, target).not.to.contain('\r\nSet-Cookie');
    }
  });
});
