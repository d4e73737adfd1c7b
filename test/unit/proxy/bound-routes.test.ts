// Routes bound to listeners and to sections of them, on real sockets; listeners that only redirect to https.
import { expect } from 'chai';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import type { Match, Route } from '../../../src/model/route.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed, type RawClient, rawExchange } from '../../support/proxy-bed.ts';

const answers = (
  id: string,
  listenerIds: readonly string[],
  match: Match = {},
  changes: Partial<Route> = {},
): Route => ({
  id,
  name: id,
  match,
  listenerIds,
  directResponse: { status: 200, body: `<${id}>` },
  ...changes,
});

const get = (host: string, path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const closing = 'Connection: close\r\n';

describe('routes bound to listeners', () => {
  let bed: ProxyBed;
  let port: number;
  let other: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    [port, other] = [await freePort(), await freePort()];
  });
  afterEach(() => bed.end());

  /** Returns the id of the route that answers, or the status when none does. */
  const asked = async (at: number, host = 'any.test', path = '/'): Promise<string | undefined> => {
    const text = await rawExchange(at, get(host, path, closing));
    return /<(.*)>$/.exec(text)?.[1] ?? /^HTTP\/1\.1 ([0-9]+)/.exec(text)?.[1];
  };

  const install = (changes: Partial<Configuration>): Promise<void> =>
    bed.install({
      listeners: [
        { id: 'admin', name: 'admin', port: other },
        { id: 'web', name: 'web', port },
      ],
      ...changes,
    });

  it('are served by those listeners alone', async () => {
    await install({ routes: [answers('inside', ['admin'], { path: '/' }), answers('outside', ['web'])] });
    expect([await asked(other), await asked(port)]).to.deep.equal(['inside', 'outside']);
    expect(await asked(other, 'any.test', '/x')).to.equal('404');
  });

  it('to a listener that is gone are served nowhere, and again when it is back', async () => {
    const routes = [answers('inside', ['admin'])];
    await install({ routes });
    expect([await asked(other), await asked(port)]).to.deep.equal(['inside', '404']);
    await bed.install({ routes, listeners: [{ id: 'other', name: 'admin', port: other }] });
    expect(await asked(other)).to.equal('404');
    await install({ routes });
    expect(await asked(other)).to.equal('inside');
  });

  it('see the port that accepted, not that of Host', async () => {
    await install({ routes: [answers('mine', [], { port: other }), answers('any', [])] });
    expect(await asked(other, `any.test:${port}`)).to.equal('mine');
    expect(await asked(port, `any.test:${other}`)).to.equal('any');
  });

  it('follow a changed section on a connection that stays, for the same head', async () => {
    const routes = [answers('first', ['web/one']), answers('second', ['web/two'])];
    const of = (one: string, two: string): Partial<Configuration> => ({
      routes,
      listeners: [
        {
          ...{ id: 'web', name: 'web', port },
          sections: [
            { name: 'one', hostnames: [one] },
            { name: 'two', hostnames: [two] },
          ],
        },
      ],
    });
    await bed.install(of('a.test', 'b.test'));
    const wire = bed.wire(port);
    wire.send(get('a.test'));
    await wire.until(/<first>$/);
    wire.send(get('a.test'));
    await wire.until(/<first>.*<first>$/s);
    await bed.install(of('b.test', 'a.test'));
    wire.send(get('a.test'));
    await wire.until(/<first>.*<first>.*<second>$/s);
  });

  it('have the section of each request of a connection', async () => {
    const sections = [
      { name: 'one', hostnames: ['a.test'] },
      { name: 'two', hostnames: ['*.a.test'] },
      { name: 'rest' },
    ];
    await bed.install({
      listeners: [{ id: 'web', name: 'web', port, sections }],
      routes: sections.map(({ name }) => answers(name, [`web/${name}`])),
    });
    const wire: RawClient = bed.wire(port);
    const seen: string[] = [];
    for (const host of ['a.test', 'x.a.test', 'b.test', 'A.TEST:1', 'x.y.a.test.']) {
      wire.send(get(host));
      const text = await wire.until(new RegExp(`(<[a-z]+>.*){${seen.length + 1}}$`, 's'));
      seen.push(/<([a-z]+)>$/.exec(text)?.[1] ?? '');
    }
    expect(seen).to.deep.equal(['one', 'two', 'rest', 'one', 'two']);
  });

  it('are bound in a candidate by the candidate’s own listeners', async () => {
    const listenersOf = (id: string) => [{ id, name: id, port }];
    await bed.install({ listeners: listenersOf('old'), routes: [answers('stable', ['old'])] });
    bed.source.offer(2, { listeners: listenersOf('new'), routes: [answers('candidate', ['new'])] }, { share: 100 });
    // Both configurations answer until the candidate has every client; neither leaves one without a route.
    await eventually(async () => {
      const answer = await asked(port);
      expect(answer).to.be.oneOf(['stable', 'candidate']);
      expect(answer).to.equal('candidate');
    });
  });
});

describe('a listener with redirectToHttps', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const serve = (redirectToHttps: object, more: object = {}): Promise<void> =>
    bed.install({
      listeners: [{ id: 'web', name: 'web', port, redirectToHttps, ...more } as Configuration['listeners'][0]],
      routes: [answers('exact', [], { path: '/exact' }, { priority: 9 })],
    });

  const location = async (bytes: string): Promise<string> => {
    const text = await rawExchange(port, bytes);
    const [, status = '', where = ''] = /^HTTP\/1\.1 ([0-9]+).*?\r\nLocation: ([^\r]*)/is.exec(text) ?? [text];
    return `${status} ${where}`;
  };

  it('answers with the same path and query under https, before any route', async () => {
    await serve({});
    expect(await location(get('shop.test', '/exact?a=b%20c', closing))).to.equal('308 https://shop.test/exact?a=b%20c');
    expect(await location(get('Shop.test:8080', '/', closing))).to.equal('308 https://Shop.test/');
    expect(await location(get('[::1]:8080', '/x', closing))).to.equal('308 https://[::1]/x');
  });

  it('names its port, and not 443', async () => {
    await serve({ port: 8443, code: 301 });
    expect(await location(get('shop.test:80', '/a', closing))).to.equal('301 https://shop.test:8443/a');
    await serve({ port: 443, code: 302 });
    expect(await location(get('shop.test:80', '/a', closing))).to.equal('302 https://shop.test/a');
  });

  it('answers every method, OPTIONS * too', async () => {
    await serve({ code: 307 });
    const post = `POST /a HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 2\r\n${closing}\r\nhi`;
    expect(await location(post)).to.equal('307 https://shop.test/a');
    expect(await location(`OPTIONS * HTTP/1.1\r\nHost: shop.test\r\n${closing}\r\n`)).to.equal(
      '307 https://shop.test/',
    );
  });

  it('answers 400 to a request without Host', async () => {
    await serve({});
    const text = await rawExchange(port, 'GET / HTTP/1.0\r\n\r\n');
    expect(text)
      .to.match(/^HTTP\/1\.[01] 400 /)
      .and.to.contain('"error":"bad_request"');
  });

  it('routes what came to a trusted proxy by https, and nothing that another client says', async () => {
    const saying = (proto: string) => get('shop.test', '/exact', `${closing}X-Forwarded-Proto: ${proto}\r\n`);
    const ask = (proto: string) => location(saying(proto));
    await serve({}, { trustedProxies: ['127.0.0.0/8'] });
    for (const proto of ['https', 'http, HTTPS'])
      expect(await rawExchange(port, saying(proto))).to.match(/^HTTP\/1\.1 200 [\s\S]*<exact>$/);
    for (const proto of ['http', 'https, http', 'wss', ''])
      expect(await ask(proto), proto).to.equal('308 https://shop.test/exact');
    await serve({}, { trustedProxies: ['192.0.2.1'] });
    expect(await ask('https')).to.equal('308 https://shop.test/exact');
    await serve({});
    expect(await ask('https')).to.equal('308 https://shop.test/exact');
  });

  it('serves its metrics all the same', async () => {
    await serve({}, { metrics: {} });
    expect(await rawExchange(port, get('shop.test', '/metrics', closing))).to.match(/^HTTP\/1\.1 200 /);
  });
});
