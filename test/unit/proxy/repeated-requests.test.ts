// Repeated heads: a head equal to the one before is not read, routed and rendered again. Across activations a
// connection that repeats itself gets what a new one gets, and the upstream sees the same.
import { expect } from 'chai';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { Framing } from '../../../src/proxy/http1/framing.ts';
import { RequestParser } from '../../../src/proxy/http1/request-parser.ts';
import { RequestView } from '../../../src/proxy/message/request-view.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { seededRandom } from '../../support/mutation.ts';
import { forwarding, ProxyBed, type RawClient, type RawUpstream } from '../../support/proxy-bed.ts';

/** The response to `request`, what changes with time left out. */
async function ask(client: RawClient, request: string): Promise<string> {
  client.received = '';
  client.send(request);
  await client.until(/\r\n\r\n/);
  const headEnd = client.received.indexOf('\r\n\r\n') + 4;
  const head = client.received.slice(0, headEnd);
  const length = request.startsWith('HEAD') ? 0 : Number(/\r\nContent-Length: (\d+)\r\n/i.exec(head)?.[1]);
  await client.until(new RegExp(`^[\\s\\S]{${headEnd + length}}`));
  return head.includes('text/plain; version')
    ? 'metrics'
    : client.received.replace(/"timestamp":"[^"]*"|\r\nDate: [^\r]*/g, '');
}

/** A middleware that adds a field of that name to requests. */
const marking = (key: string) => ({
  id: 'm',
  name: 'm',
  type: 'headers',
  headers: { requestHeadersToAdd: [{ key, value: '1' }] },
});

describe('a request that repeats the one before', () => {
  let bed: ProxyBed;
  beforeEach(() => {
    bed = new ProxyBed();
  });
  afterEach(() => bed.end());

  const echo = (name: string): Promise<RawUpstream> =>
    bed.rawUpstream((socket, request) => {
      const text = `${name} got ${request}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    });

  it('is answered as on a new connection, also across activations', async () => {
    const port = await freePort();
    const [a, b] = (await Promise.all(['a', 'b'].map(echo))).map(({ port }) => port) as [number, number];
    const denied = {
      id: 'm',
      name: 'm',
      type: 'inlineAuthz',
      inlineAuthz: { rules: [{ cel: 'request.path == "/x"', action: 'deny' }] },
    };
    const kinds: Partial<Configuration>[] = [
      forwarding(port, a),
      forwarding(port, b),
      forwarding(port, a, { forward: { rewrite: { path: '/elsewhere' } } }),
      forwarding(port, a, { route: { match: { pathPrefix: '/x' } } }),
      forwarding(port, a, { route: { match: { cel: 'request.headers["x-a"] == "1"' } } }),
      forwarding(port, a, { listener: { pathNormalization: 'report' } }),
      forwarding(port, a, { listener: { metrics: { path: '/x' } } }),
      forwarding(port, a, { listener: { trustedProxies: ['127.0.0.1'] } }),
      forwarding(port, a, { listener: { maxRequestHeaders: 1 } }),
      forwarding(port, a, { forward: { timeouts: { request: '5s' } }, listener: { serverName: 'own' } }),
      {
        ...forwarding(port, b, { route: { middlewareIds: ['m'] } }),
        middlewares: [marking('X-Own')],
      } as Partial<Configuration>,
      { ...forwarding(port, b, { route: { middlewareIds: ['m'] } }), middlewares: [denied] } as Partial<Configuration>,
    ];
    const requests = [
      'GET /x HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /x HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n',
      'GET /y/../x//z HTTP/1.1\r\nHost: y\r\n\r\n',
      'GET /y HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /y HTTP/1.0\r\nHost: x\r\nConnection: keep-alive, x-a\r\nX-A: 2\r\n\r\n',
      'HEAD /x HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n',
      'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc',
    ];
    const random = seededRandom(23);
    const kept = new Map<string, RawClient>();
    for (let installs = 0; installs < 16; installs++) {
      await bed.install(kinds[Math.floor(random() * kinds.length)] ?? {});
      for (const request of requests) {
        const fresh = bed.wire(port);
        const expected = await ask(fresh, request);
        fresh.destroy();
        // Twice on a connection that has never carried another, and twice on one that carries all of them.
        for (const turn of [request, request, 'all', 'all']) {
          const client = kept.get(turn) ?? bed.wire(port);
          expect(await ask(client, request), `on ${turn} after install ${installs}`).to.equal(expected);
          kept.set(turn, client);
          if (!/\r\nConnection: close\r\n/.test(expected)) continue;
          await client.untilClosed();
          kept.delete(turn);
        }
      }
    }
  });

  /** Two upstreams that tell what they were sent, and the configuration of a port that goes to the first. */
  const scene = async () => {
    const port = await freePort();
    const [a, b] = await Promise.all(['a', 'b'].map(echo));
    return { port, a: a?.port ?? 0, b: b?.port ?? 0 };
  };
  const get = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n';
  const whose = async (client: RawClient, request = get) => /\r\n\r\n(\w) got/.exec(await ask(client, request))?.[1];

  it('goes to the candidate while there is one for its client', async () => {
    await bed.end();
    const outcomes: unknown[] = [];
    bed = new ProxyBed({ onCandidate: (outcome) => outcomes.push(outcome) });
    const { port, a, b } = await scene();
    await bed.install(forwarding(port, a));
    const client = bed.wire(port);
    const { listeners, routes } = forwarding(port, b, { forward: { rewrite: { path: '/tried' } } });
    const destinations = [{ id: 'd', name: 'd', host: '127.0.0.1', port: b }];
    bed.source.offer(2, { listeners, routes, destinations } as Partial<Configuration>, { share: 0 });
    await eventually(() => expect(outcomes).to.have.length(1));
    expect([await whose(client), await whose(client)]).to.deep.equal(['a', 'a']);
    bed.source.share(100);
    await eventually(async () => expect(await ask(client, get)).to.match(/b got GET \/tried/));
    expect(await whose(client)).to.equal('b');
    bed.source.withdraw();
    await eventually(async () => expect(await whose(client)).to.equal('a'));
  });

  it('names the host of the destination that it goes to this time', async () => {
    const { port, a, b } = await scene();
    const hosts = { a: '127.0.0.1', b: 'localhost' };
    await bed.install({
      ...forwarding(port, a, {
        forward: {
          rewrite: { autoHost: true },
          destinations: ['a', 'b'].map((id) => ({ destinationId: id, weight: 50 })),
        },
      }),
      destinations: [
        { id: 'a', name: 'a', host: hosts.a, port: a },
        { id: 'b', name: 'b', host: hosts.b, port: b },
      ],
    } as Partial<Configuration>);
    const client = bed.wire(port);
    const seen = new Set<string>();
    for (let turn = 0; turn < 100 && (seen.size < 2 || turn < 20); turn++) {
      const [, by = '', host] = /\r\n\r\n(\w) got [\s\S]*\r\nHost: (\S+)\r\n/.exec(await ask(client, get)) ?? [];
      seen.add(by);
      expect(host).to.equal(hosts[by as 'a' | 'b']);
    }
    expect([...seen].sort()).to.deep.equal(['a', 'b']);
  });

  it('is looked at again where its body counts', async () => {
    const { port, a } = await scene();
    const { listeners, destinations, routes = [] } = forwarding(port, a);
    const abc = {
      ...routes[0],
      id: 'abc',
      name: 'abc',
      match: { cel: 'request.body.raw == "abc"' },
      middlewareIds: ['m'],
    };
    await bed.install({
      ...{ listeners, destinations, middlewares: [marking('X-Abc')], routes: [abc, ...routes] },
    } as Partial<Configuration>);
    const client = bed.wire(port);
    for (const body of ['abc', 'abc', 'xyz', 'xyz', 'abc', 'xyz']) {
      const answer = await ask(client, `POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n${body}`);
      expect(answer.includes('X-Abc: 1'), body).to.equal(body === 'abc');
    }
  });

  it('has the path that its listener’s rule gives it now', () => {
    const parser = new RequestParser({ startLineBytesMax: 99, headBytesMax: 99, fieldBytesMax: 0, linesMax: 9 });
    const view = new RequestView(parser, new Framing(), {
      security: undefined,
      sender: () => expect.fail('nobody asks'),
    });
    const paths = (['enforce', 'enforce', 'report', 'enforce'] as const).map((rule) => {
      parser.reset();
      const bytes = Buffer.from('GET /a/../b HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(parser.parse(bytes, 0, bytes.length)).to.equal('done');
      expect(view.read(rule)).to.equal(undefined);
      return view.path;
    });
    expect(paths).to.deep.equal(['/b', '/b', '/a/../b', '/b']);
  });

  it('of another method gets the body that a response with the same head has then', async () => {
    const port = await freePort();
    const upstream = await bed.rawUpstream((socket, request) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${request.startsWith('HEAD') ? '' : 'ok'}`),
    );
    await bed.install(forwarding(port, upstream.port));
    const client = bed.wire(port);
    for (const method of ['GET', 'HEAD', 'HEAD', 'GET', 'GET', 'HEAD', 'GET']) {
      const answer = await ask(client, get.replace('GET', method));
      expect(answer.slice(answer.indexOf('\r\n\r\n') + 4), method).to.equal(method === 'HEAD' ? '' : 'ok');
    }
    expect(upstream.connections).to.equal(1);
  });
});
