// Shares of a route's requests: fixed answers, failover, edits of a destination's own (contract.md §2.4.2, §7.5).
import { expect } from 'chai';
import { freePort } from '../../../support/free-port.ts';
import { cookieSet } from '../../../support/named-upstreams.ts';
import { compiled } from '../../../support/routing.ts';
import { VersionedBed, versions } from '../../../support/versioned-bed.ts';

for (const version of versions) {
  describe(`shares of a forward, over ${version}`, () => {
    let bed: VersionedBed;
    beforeEach(async () => {
      bed = await VersionedBed.open(version);
      await bed.upstreams(['a', 'b']);
    });
    afterEach(() => bed.end());

    const to = (destinationId: string, more: object = {}) => ({ destinationId, weight: 1, ...more });
    const answer = (status: number, body?: string, weight = 1) => ({
      directResponse: { status, ...(body !== undefined && { body }) },
      weight,
    });
    const error = async (): Promise<string> => JSON.parse((await bed.ask()).body).error;

    it('a fixed answer takes its share, with its status, body and content type', async () => {
      await bed.install({ destinations: [to('a'), answer(418, '{"tea":true}')] });
      const counts = await bed.counts(200);
      expect(counts['418']).to.be.within(50, 150);
      expect(counts.a).to.equal(200 - (counts['418'] ?? 0));
      await bed.install({ destinations: [to('a', { weight: 0 }), answer(418, '{"tea":true}')] });
      const { status, body, headers } = await bed.ask('/', {}, 'a body');
      expect([status, body, headers['content-type']]).to.deep.equal([418, '{"tea":true}', 'application/json']);
    });

    it('one fixed answer alone takes all requests', async () => {
      await bed.install({ destinations: [{ directResponse: { status: 204 } }] });
      expect(await bed.ask()).to.include({ status: 204, body: '' });
    });

    it('a session stays with the fixed answer that it was given', async () => {
      const destinationBalancing = { algorithm: 'WEIGHTED_CONSISTENT_HASH' };
      await bed.install({ destinations: [to('a'), answer(418)], destinationBalancing });
      const owners = new Set<string>();
      for (let n = 0; n < 30; n++) {
        const first = await bed.ask();
        const cookie = cookieSet(first);
        expect(cookie).to.match(/^_sluice_destination_pin=[0-9a-f]{32}$/);
        expect(await bed.ask('/', { cookie })).to.include({ status: first.status, body: first.body });
        owners.add(String(first.status));
      }
      expect([...owners].sort()).to.deep.equal(['200', '418']);
    });

    it('a session stays where it is when an activation changes something else', async () => {
      const destinationBalancing = { algorithm: 'STICKY' };
      const destinations = [to('a'), to('b'), answer(418)];
      await bed.install({ destinations, destinationBalancing });
      const firsts = [];
      for (let n = 0; n < 20; n++) firsts.push(await bed.ask());
      const headers = { requestHeadersToAdd: [{ key: 'x-new', value: '1' }] };
      await bed.install({ destinations, destinationBalancing, headers });
      for (const first of firsts) {
        const again = await bed.ask('/', { cookie: cookieSet(first) });
        expect([again.status, again.body]).to.deep.equal([first.status, first.body]);
      }
    });

    it('with failover, the share of a destination without endpoints goes to the others', async () => {
      const dead = { ...bed.destination('c'), options: { discovery: { type: 'kubernetes', whenEmpty: 'none' } } };
      await bed.install({ destinations: [to('a'), to('c'), to('missing')] }, { destinations: [dead] as never });
      expect(await bed.counts(50)).to.deep.equal({ a: 50 });
    });

    it('without failover, the share of a destination without endpoints is answered 503', async () => {
      const dead = { ...bed.destination('c'), options: { discovery: { type: 'kubernetes', whenEmpty: 'none' } } };
      const destinations = [to('a'), to('c'), to('missing')];
      await bed.install({ destinations, failover: false }, { destinations: [dead] as never });
      const counts = await bed.counts(300);
      expect(Object.keys(counts).sort()).to.deep.equal(['503', 'a']);
      expect(counts['503']).to.be.within(140, 260);
      for (const id of ['c', 'missing']) {
        await bed.install({ destinations: [to(id)], failover: false }, { destinations: [dead] as never });
        expect(await error()).to.equal('destination_unavailable');
      }
    });

    it('while discovery finds nothing, whenEmpty decides between the host and 503', async () => {
      for (const [whenEmpty, seen] of [
        ['none', 503],
        ['host', 200],
        [undefined, 200],
      ] as const) {
        const discovered = bed.destination('a', { discovery: { type: 'kubernetes', whenEmpty } });
        await bed.install({ destinations: [to('d')] }, { destinations: [{ ...discovered, id: 'd', name: 'd' }] });
        expect((await bed.ask()).status).to.equal(seen);
      }
    });

    it('with every algorithm, a destination without endpoints is installed and answers 503', async () => {
      for (const algorithm of ['ROUND_ROBIN', 'LEAST_REQUEST', 'RING_HASH', 'MAGLEV', 'RANDOM', 'STICKY']) {
        const empty = { discovery: { type: 'kubernetes', whenEmpty: 'none' }, endpointBalancing: { algorithm } };
        await bed.install({ destinations: [to('d')] }, { destinations: [{ ...bed.destination('d', empty) }] });
        expect(await error()).to.equal('destination_unavailable');
      }
    });

    it('all shares without an endpoint answer as they did: 502, and 503 where discovery found none', async () => {
      await bed.install({ destinations: [to('missing'), to('missing2')] });
      expect(await error()).to.equal('no_destination');
      const dead = { ...bed.destination('c'), options: { discovery: { type: 'kubernetes', whenEmpty: 'none' } } };
      await bed.install({ destinations: [to('missing'), to('c')] }, { destinations: [dead] as never });
      expect(await error()).to.equal('destination_unavailable');
    });

    it('a destination that refuses connections keeps its error, for it counts as available', async () => {
      const port = await freePort();
      const gone = { ...bed.destination('gone'), port };
      await bed.install({ destinations: [to('gone')], failover: false }, { destinations: [gone] });
      expect(await error()).to.equal('connection_refused');
    });

    it('a share edits its fields after the route, in both directions', async () => {
      const headers = {
        requestHeadersToAdd: [
          { key: 'x-both', value: 'route' },
          { key: 'x-route', value: '${request.host}' },
        ],
        requestHeadersToRemove: ['x-gone'],
        responseHeadersToAdd: [{ key: 'x-answer', value: 'route' }],
        responseHeadersToRemove: ['x-up'],
      };
      const own = {
        requestHeadersToAdd: [
          { key: 'x-both', value: 'share' },
          { key: 'x-more', value: 'm', append: true },
        ],
        responseHeadersToAdd: [{ key: 'x-share', value: 'yes' }],
      };
      await bed.install({ destinations: [to('a', { headers: own }), to('b', { weight: 0 })], headers });
      const got = await bed.ask('/', { 'x-gone': '1', 'x-more': 'l', host: 'shop.example' });
      expect(bed.seen[0]?.headers).to.include({ 'x-both': 'share', 'x-route': 'shop.example', 'x-more': 'l, m' });
      expect(bed.seen[0]?.headers).not.to.have.property('x-gone');
      expect(got.headers).to.include({ 'x-answer': 'route', 'x-share': 'yes' });
      expect(got.headers).not.to.have.property('x-up');
      await bed.install({ destinations: [to('a', { headers: own, weight: 0 }), to('b')], headers });
      expect((await bed.ask()).headers).not.to.have.property('x-share');
      expect(bed.seen[1]?.headers).to.include({ 'x-both': 'route' });
    });

    it('a value with interpolate false is sent as it is written', async () => {
      const add = [
        { key: 'x-plain', value: '${request.host}' },
        { key: 'x-filled', value: '${request.host}', interpolate: true },
      ];
      const headers = { interpolate: false, requestHeadersToAdd: add, responseHeadersToAdd: add };
      await bed.install({ destinations: [to('a')], headers });
      const got = await bed.ask('/', { host: 'shop.example' });
      const plain = { 'x-plain': '${request.host}', 'x-filled': 'shop.example' };
      expect(bed.seen[0]?.headers).to.include(plain);
      expect(got.headers).to.include(plain);
    });

    it('a share rewrites path and host, each half in place of what the route says', async () => {
      const rewrite = { path: '/route', host: 'route.example' };
      const hostOf = (at: number) => bed.seen[at]?.headers[version === 'HTTP/2' ? ':authority' : 'host'];
      const match = { pathPrefix: '/api' };
      for (const [own, url, host] of [
        [{ path: '/share' }, '/share/x', 'route.example'],
        [{ host: 'share.example' }, '/route/x', 'share.example'],
        [{ autoHost: true }, '/route/x', '127.0.0.1'],
        [{ pathRegex: { pattern: '^/api/(.*)$', substitution: '/\\1/\\1' } }, '/x/x', 'route.example'],
        [undefined, '/route/x', 'route.example'],
      ] as const) {
        await bed.install({ destinations: [to('a', own && { rewrite: own })], rewrite }, {}, { match });
        await bed.ask('/api/x');
        expect([bed.seen.at(-1)?.url, hostOf(bed.seen.length - 1)]).to.deep.equal([url, host]);
      }
    });

    it('a rewrite of a share that cannot be compiled closes the route, and the problem names it', async () => {
      const broken = { pathRegex: { pattern: '(', substitution: '' } };
      await bed.install({ destinations: [to('a'), to('b', { rewrite: broken })] });
      expect(await error()).to.equal('middleware_unavailable');
      const forward = { destinations: [to('a'), to('b', { rewrite: broken })] };
      const { problems } = compiled({ routes: [{ id: 'r', name: 'r', forward }] });
      expect(JSON.stringify(problems)).to.include('/routes/r/forward/destinations/1/rewrite/pathRegex/pattern');
    });

    it('two entries of one destination have edits of their own each', async () => {
      const own = (value: string) => ({ headers: { requestHeadersToAdd: [{ key: 'x-of', value }] } });
      await bed.install({ destinations: [to('a', own('first')), to('a', own('second'))] });
      await bed.counts(60);
      const values = bed.seen.map(({ headers }) => headers['x-of']);
      expect(new Set(values)).to.deep.equal(new Set(['first', 'second']));
    });

    it('a retry is edited once', async () => {
      let tries = 0;
      await bed.upstreams(['flaky'], (_, response) => void response.writeHead(++tries % 3 === 0 ? 200 : 503).end());
      const own = { headers: { requestHeadersToAdd: [{ key: 'x-n', value: '1', append: true }] } };
      await bed.install({ destinations: [to('flaky', own)], retry: { attempts: 2, backoff: { base: '1ms' } } });
      const { status } = await bed.ask();
      expect(status).to.equal(200);
      expect(bed.seen.map(({ headers }) => headers['x-n'])).to.deep.equal(['1', '1', '1']);
    });
  });
}
