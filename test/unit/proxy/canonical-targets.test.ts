// Paths and URLs of the configuration, as they come out at the other end: one form, over each version of HTTP.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { expect } from 'chai';
import { healthPlan } from '../../../src/proxy/upstream/health/health-plan.ts';
import { probe } from '../../../src/proxy/upstream/health/probe.ts';
import { NameLookup } from '../../../src/proxy/upstream/name-lookup.ts';
import { Wheel } from '../../../src/proxy/wheel.ts';
import { systemClock } from '../../../src/util/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { MiddlewareBed } from '../../support/middleware-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../support/tokens.ts';

const written = '/größe/日本?k=ü&t=😀';
const asked = '/gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC?k=%C3%BC&t=%F0%9F%98%80';

describe('a path of the configuration with characters beyond ASCII', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  /** Port of a server that notes the targets it is asked for. */
  async function noting(server: Server | Http2Server, seen: string[]): Promise<number> {
    server.on('request', ({ url }: { url: string }, response: { end(): void }) => {
      seen.push(url);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    bed.bed.atEnd(async () => void server.close());
    return (server.address() as AddressInfo).port;
  }

  for (const [version, server] of [
    ['1.1', () => createServer()],
    ['2', () => createHttp2Server()],
  ] as const) {
    // A fragment and a blank are refused when they are written: these are of a configuration that came before.
    for (const [path, target] of [
      [written, asked],
      ['/a b#c', '/a%20b%23c'],
      ['/a/../b?x#y', '/b?x%23y'],
    ] as const) {
      it(`is probed in one form over HTTP/${version}: ${path}`, async () => {
        const seen: string[] = [];
        const port = await noting(server(), seen);
        const options = { http2: version === '2', healthCheck: { path } };
        const plan = healthPlan({ id: 'd', name: 'd', host: '127.0.0.1', port, options });
        if (plan === undefined) throw new Error('no plan');
        const verdict = await probe({ name: `127.0.0.1:${port}`, host: '127.0.0.1', port }, plan, {
          clock: systemClock,
          wheel: new Wheel(systemClock),
          lookup: new NameLookup(systemClock).lookup,
          roots: async () => {},
        });
        expect([verdict, seen]).to.deep.equal([undefined, [target]]);
      });
    }
  }

  it('takes no destination down: its endpoints stay healthy', async () => {
    const seen: string[] = [];
    const port = await noting(createServer(), seen);
    await bed.serve([], {
      route: { forward: { destinations: [{ destinationId: 'probed' }] } },
      more: {
        destinations: [
          {
            ...{ id: 'probed', name: 'probed', host: '127.0.0.1', port },
            options: { healthCheck: { path: written, interval: '1s', unhealthyThreshold: 1 } },
          },
        ],
      },
    });
    await eventually(() => expect(seen).to.include(asked));
    expect((await bed.ask({ path: '/through' })).status).to.equal(200);
    expect(seen).to.include('/through');
  });

  it('is what an authorizer is asked for, with and without its slash', async () => {
    const seen: string[] = [];
    const port = await noting(createServer(), seen);
    for (const path of [written, written.slice(1), '/a b']) {
      await bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 'authz', path } }], {
        more: { destinations: [{ id: 'authz', name: 'authz', host: '127.0.0.1', port }] },
      });
      expect((await bed.ask()).status, path).to.equal(200);
    }
    expect(seen).to.deep.equal([asked, asked, '/a%20b']);
  });

  it('is where keys are fetched', async () => {
    const seen: string[] = [];
    const by = signerOf('ES256');
    const port = await bed.bed.upstream(({ url = '' }, response) => {
      seen.push(url);
      response.end(jwksOf(by.jwk));
    });
    await bed.serve([{ type: 'jwt', jwt: { issuer: 'i', jwksPath: written, jwksDestinationId: 'k' } }], {
      more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port }] },
    });
    const authorization = `Bearer ${tokenOf(by, { iss: 'i', exp: inAnHour() })}`;
    expect((await bed.ask({ headers: { authorization } })).status).to.equal(200);
    expect(new Set(seen)).to.deep.equal(new Set([asked]));
  });

  it('is where metrics are answered', async () => {
    await bed.serve([], { listener: { metrics: { path: '/métriques/日' } } });
    const { headers } = await bed.ask({ path: '/m%C3%A9triques/%e6%97%a5' });
    expect(headers['content-type']).to.match(/^text\/plain; version/);
  });

  it('is matched, rewritten to and redirected to in its canonical form', async () => {
    await bed.serve([], {
      route: {
        match: { pathPrefix: '/größe' },
        forward: { destinations: [{ destinationId: 'd' }], rewrite: { path: '/日?k=ü' } },
      },
      more: {
        routes: [
          { id: 'u', name: 'u', match: { path: '/url' }, redirect: { url: 'https://bücher.example/日?a#é' } },
          { id: 'p', name: 'p', match: { path: '/path' }, redirect: { path: '/日?k=ü' } },
        ],
      },
    });
    await bed.ask({ path: '/gr%C3%B6%C3%9fe/x?y=1' });
    expect(bed.reached.at(-1)?.url).to.equal('/%E6%97%A5/x?k=%C3%BC&y=1');
    const locationOf = async (path: string) => (await bed.ask({ path })).headers.location;
    expect(await locationOf('/url')).to.equal('https://xn--bcher-kva.example/%E6%97%A5?a#%C3%A9');
    expect(await locationOf('/path?q=1')).to.equal('/%E6%97%A5?k=%C3%BC&q=1');
  });
});
