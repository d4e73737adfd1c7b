// Endpoint and destination balancing of contract.md §7.5–§7.7, through the proxy.
import { expect } from 'chai';
import { freePort } from '../../../support/free-port.ts';
import { cookieSet, PolicyBed } from '../../../support/named-upstreams.ts';

describe('balancing through the proxy', () => {
  let bed: PolicyBed;
  beforeEach(async () => {
    bed = await PolicyBed.open();
  });
  afterEach(() => bed.end());

  const balancing = (algorithm: string, more: object = {}) => ({ endpointBalancing: { algorithm, ...more } });

  it('ROUND_ROBIN takes the endpoints in their order', async () => {
    await bed.balanced(await bed.named(['a', 'b', 'c']));
    expect(await bed.bodies(6)).to.deep.equal(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('weights and priorities of endpoints count', async () => {
    const [a = 0, b = 0, c = 0] = await bed.named(['a', 'b', 'c']);
    const endpoints = [
      { host: '127.0.0.1', port: a, weight: 3 },
      { host: '127.0.0.1', port: b },
      { host: '127.0.0.1', port: c, priority: 1 },
    ];
    const config = bed.configuration([a]);
    await bed.install({ ...config, destinations: config.destinations?.map((each) => ({ ...each, endpoints })) });
    expect((await bed.bodies(8)).sort().join('')).to.equal('aaaaaabb');
  });

  for (const [algorithm, block] of [
    ['RING_HASH', 'ringHash'],
    ['MAGLEV', 'maglev'],
  ] as const) {
    it(`${algorithm} sends the same value of a header to the same endpoint, and values to all`, async () => {
      const ports = await bed.named(['a', 'b', 'c']);
      await bed.balanced(ports, balancing(algorithm, { [block]: { hashPolicy: [{ header: { name: 'X-User' } }] } }));
      const seen = new Set<string>();
      for (let user = 0; user < 30; user++) {
        const bodies = await bed.bodies(3, { 'x-user': `user-${user}` });
        expect(new Set(bodies).size).to.equal(1);
        seen.add(bodies[0] ?? '');
      }
      expect(seen.size).to.equal(3);
    });
  }

  for (const algorithm of ['RING_HASH', 'MAGLEV', 'STICKY'] as const) {
    it(`a retry by ${algorithm} goes to the next owner of the key, never again to the endpoint that failed`, async () => {
      const ports = await bed.named(['a', 'b']);
      const dead = await freePort();
      const hashPolicy = [{ header: { name: 'x-user' } }];
      const settings = { ringHash: { hashPolicy }, maglev: { hashPolicy }, sticky: { cookie: { name: 's' } } };
      const retry = { attempts: 1, backoff: { base: '1ms', max: '1ms' } };
      const ask = async (): Promise<string[]> => {
        const bodies: string[] = [];
        for (let user = 0; user < 40; user++) {
          const { status, body } = await bed.ask({ 'x-user': `user-${user}`, cookie: `s=user-${user}` });
          bodies.push(status === 200 ? body : 'failed');
        }
        return bodies;
      };
      await bed.balanced([...ports, dead], balancing(algorithm, settings));
      expect(new Set(await ask())).to.deep.equal(new Set(['a', 'b', 'failed']));
      await bed.balanced([...ports, dead], balancing(algorithm, settings), { retry });
      const retried = await ask();
      expect(new Set(retried)).to.deep.equal(new Set(['a', 'b']));
      expect(await ask(), 'the same owner each time').to.deep.equal(retried);
    });
  }

  it('a cookie policy sets a cookie once, and the client that carries it stays', async () => {
    const ports = await bed.named(['a', 'b', 'c']);
    const hashPolicy = [{ header: { name: 'x-absent' } }, { cookie: { name: 'pin', ttl: '90s' } }];
    await bed.balanced(ports, balancing('RING_HASH', { ringHash: { hashPolicy } }));
    const seen = new Set<string>();
    for (let client = 0; client < 20; client++) {
      const first = await bed.ask();
      expect(first.headers['set-cookie']).to.match(/^pin=[0-9a-f]{32}; Path=\/; Max-Age=90; HttpOnly; SameSite=Lax$/);
      const again = await bed.ask({ cookie: `a=b; ${cookieSet(first)}` });
      expect(again.body).to.equal(first.body);
      expect(again.headers['set-cookie']).to.equal(undefined);
      seen.add(first.body);
    }
    expect(seen.size).to.equal(3);
  });

  it('STICKY without a store pins by its cookie; with one endpoint there is no cookie', async () => {
    const ports = await bed.named(['a', 'b', 'c']);
    await bed.balanced(ports, balancing('STICKY', { sticky: { cookie: { name: 's', ttl: '0s' } } }));
    const first = await bed.ask();
    expect(first.headers['set-cookie']).to.match(/^s=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(new Set(await bed.bodies(5, { cookie: cookieSet(first) }))).to.deep.equal(new Set([first.body]));
    await bed.balanced(ports.slice(0, 1), balancing('STICKY'));
    expect((await bed.ask()).headers['set-cookie']).to.equal(undefined);
  });

  describe('of destinations', () => {
    const destinations = (ports: readonly number[], ids = ['stable', 'canary']) =>
      ids.map((id, i) => ({ id, name: id, host: '127.0.0.1', port: ports[i] ?? 0 }));
    const split = (...weights: number[]) => ({
      destinations: ['stable', 'canary'].map((destinationId, i) => ({ destinationId, weight: weights[i] })),
    });

    it('by weight, and only among those that exist', async () => {
      const ports = await bed.named(['stable', 'canary']);
      const more = { destinations: destinations(ports) };
      await bed.balanced([1], {}, split(100, 0), more);
      expect(new Set(await bed.bodies(20))).to.deep.equal(new Set(['stable']));
      await bed.balanced([1], {}, split(50, 50), more);
      expect(new Set(await bed.bodies(60)).size).to.equal(2);
      await bed.balanced([1], {}, split(50, 50), { destinations: destinations(ports, ['canary']) });
      expect(new Set(await bed.bodies(10))).to.deep.equal(new Set(['stable']));
      await bed.balanced([1], {}, split(50, 50));
      expect(await bed.error()).to.equal('no_destination');
    });

    it('by a cookie on the ring of the contract', async () => {
      const ports = await bed.named(['stable', 'canary']);
      const destinationBalancing = {
        algorithm: 'WEIGHTED_CONSISTENT_HASH',
        weightedConsistentHash: { cookie: { name: 'c' } },
      };
      const config = bed.configuration(
        [1],
        {},
        { ...split(90, 10), destinationBalancing },
        { destinations: destinations(ports) },
      );
      const routes = config.routes?.map((route) => ({ ...route, id: 'route-1' }));
      await bed.install({ ...config, routes });
      for (const [cookie, owner] of [
        ['00000000000000000000000000000000', 'stable'],
        ['0123456789abcdef0123456789abcdef', 'stable'],
        ['a3f1c2d4e5b60718293a4b5c6d7e8f90', 'stable'],
        ['00000000000000000000000000000015', 'canary'],
      ] as const) {
        expect((await bed.ask({ cookie: `c=${cookie}` })).body).to.equal(owner);
      }
      const fresh = await bed.ask();
      expect(fresh.headers['set-cookie']).to.match(/^c=[0-9a-f]{32}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/);
      expect((await bed.ask({ cookie: cookieSet(fresh) })).body).to.equal(fresh.body);
    });

    it('with the same cookie name on both levels one session id serves both', async () => {
      const [a = 0, b = 0] = await bed.named(['a', 'b']);
      const cookie = { name: 'pin' };
      const endpoints = [a, b].map((port) => ({ host: '127.0.0.1', port }));
      const options = { endpointBalancing: { algorithm: 'STICKY' as const, sticky: { cookie } } };
      const both = destinations([a, b]).map((each) => ({ ...each, endpoints, options }));
      const destinationBalancing = { algorithm: 'STICKY', sticky: { cookie } };
      await bed.balanced([1], {}, { ...split(50, 50), destinationBalancing }, { destinations: both });
      expect([(await bed.ask()).headers['set-cookie']].flat()).to.have.length(1);
    });
  });
});
