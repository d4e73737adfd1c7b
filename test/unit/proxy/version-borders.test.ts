// S10 towards an HTTP/1.1 upstream, and S32: nothing a client writes into a path becomes a line of its own.
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, type RawUpstream, rawExchange } from '../../support/proxy-bed.ts';

const hostile = [
  '/a%0d%0aX-Injected:%201',
  '/a%00b',
  '/a%20HTTP/1.1%0d%0aHost:%20evil',
  '/a%0aGET%20/admin',
  '/a%5c..%5cb',
];

const rewrites: Readonly<Record<string, object>> = {
  'as it is': {},
  'with its prefix replaced': { rewrite: { path: '/new' } },
  'rewritten by a regex': { rewrite: { pathRegex: { pattern: '^/(.*)$', substitution: '/v2/\\1' } } },
  'rewritten into a query': { rewrite: { pathRegex: { pattern: '^/(.*)$', substitution: '/v2?was=\\1' } } },
};

describe('a path with encoded line ends, NUL and blanks', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: RawUpstream;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  });
  afterEach(() => bed.end());

  for (const [how, forward] of Object.entries(rewrites)) {
    it(`stays one request line ${how}`, async () => {
      await bed.install(forwarding(port, upstream.port, { forward }));
      for (const target of hostile) {
        await rawExchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      }
      expect(upstream.requests.join('')).not.to.match(/^X-Injected|^Host: evil|^GET \/admin|\0/im);
      for (const request of upstream.requests) expect(request).to.match(/^GET [\x21-\x7e]+ HTTP\/1\.1\r\nHost: x\r\n/);
    });
  }

  it('becomes no line of a redirect that keeps it', async () => {
    const redirect = { host: 'y.example' };
    await bed.install({ listeners: [{ id: 'l', name: 'l', port }], routes: [{ id: 'r', name: 'r', redirect }] });
    for (const target of hostile) {
      const answer = await rawExchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer.split('\r\n\r\n')[0], target).not.to.match(/^X-Injected|^Host: evil|^GET |\0/im);
    }
  });
});
