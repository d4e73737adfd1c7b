// Sticky sessions through the proxy with a real Redis (contract.md §7.7).
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { cookieSet, PolicyBed } from '../support/named-upstreams.ts';
import { needs } from '../support/needs.ts';
import { RedisServer } from '../support/redis-server.ts';

describe('sticky sessions in Redis', () => {
  let redis: RedisServer;
  let bed: PolicyBed;
  before(async function () {
    needs(this, 'redis-server');
    redis = await RedisServer.start();
  });
  beforeEach(async () => {
    await redis.command('FLUSHALL');
    bed = await PolicyBed.open({ sessionStore: { host: '127.0.0.1', port: redis.port, db: 0 }, workers: 2 });
  });
  afterEach(() => bed.end());
  after(() => redis?.kill());

  const sticky = { endpointBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's', ttl: '100s' } } } };

  /** The name and session of a new client whose choice the store has. */
  const newClient = () =>
    eventually(async () => {
      const answer = await bed.ask();
      const session = cookieSet(answer).slice('s='.length);
      expect(await redis.command(`EXISTS sluice:sticky:${session}:d:ep`)).to.equal(':1\r\n');
      return { session, name: answer.body };
    });

  it('endpoints: a new client is stored, a returning one goes where it was, one whose endpoint is gone moves', async () => {
    const ports = await bed.named(['a', 'b', 'c']);
    await bed.balanced(ports, sticky);
    const { session, name } = await newClient();
    const key = `sluice:sticky:${session}:d:ep`;
    const place = ['a', 'b', 'c'].indexOf(name);
    expect(await redis.command(`GET ${key}`)).to.contain(`127.0.0.1:${ports[place]}`);
    expect(await redis.command(`TTL ${key}`)).to.match(/^:(100|99)\r\n$/);
    expect(new Set(await bed.bodies(6, { cookie: `s=${session}` }))).to.deep.equal(new Set([name]));
    const other = ports[(place + 1) % 3];
    await redis.command(`SET ${key} 127.0.0.1:${other}`);
    const moved = ['a', 'b', 'c'][(place + 1) % 3];
    expect((await bed.ask({ cookie: `s=${session}` })).body).to.equal(moved);
    await bed.balanced(
      ports.filter((port) => port !== other),
      sticky,
    );
    const again = await bed.ask({ cookie: `s=${session}` });
    expect(again.body).not.to.equal(moved);
    expect(again.headers['set-cookie']).to.equal(undefined);
    expect(new Set(await bed.bodies(6, { cookie: `s=${session}` }))).to.deep.equal(new Set([again.body]));
  });

  it('a session with a long name of the client’s own sticks as any other, by a key of its own that is short', async () => {
    await bed.balanced(await bed.named(['a', 'b', 'c']), sticky);
    const long = (mark: string): string => mark + 'x'.repeat(7_000);
    const keys = async (): Promise<string[]> =>
      (await redis.command('KEYS *')).split('\r\n').filter((line) => line.startsWith('sluice:'));
    await eventually(async () => {
      await bed.ask({ cookie: `s=${long('a')}` });
      expect(await keys()).to.have.length(1);
    });
    expect(new Set(await bed.bodies(6, { cookie: `s=${long('a')}` })).size).to.equal(1);
    await bed.ask({ cookie: `s=${long('b')}` });
    await eventually(async () => expect(await keys()).to.have.length(2));
    expect((await keys()).every((key) => key.length < 100)).to.equal(true);
  });

  it('destinations: by route, and weights alone never move a client', async () => {
    const ports = await bed.named(['a', 'b']);
    const destinations = ['a', 'b'].map((id, i) => ({ id, name: id, host: '127.0.0.1', port: ports[i] ?? 0 }));
    const split = (...weights: number[]) =>
      bed.balanced(
        [1],
        {},
        {
          destinations: ['a', 'b'].map((destinationId, i) => ({ destinationId, weight: weights[i] })),
          destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's' } } },
        },
        { destinations },
      );
    await split(100, 0);
    const session = await eventually(async () => {
      const id = cookieSet(await bed.ask()).slice('s='.length);
      expect(await redis.command(`GET sluice:sticky:${id}:r`)).to.match(/\r\na\r\n$/);
      return id;
    });
    await split(0, 100);
    expect(new Set(await bed.bodies(6, { cookie: `s=${session}` }))).to.deep.equal(new Set(['a']));
    expect(new Set(await bed.bodies(6))).to.deep.equal(new Set(['b']));
  });

  it('while the store is dead clients stick by hash, and it is used again when it is back', async () => {
    await bed.balanced(await bed.named(['a', 'b', 'c']), sticky);
    await newClient();
    const reach = () => bed.proxy.upstreams().stores.map(({ thread, reached }) => `${thread} ${reached}`);
    await eventually(() => expect(reach()).to.deep.equal(['worker 1 true', 'worker 2 true']));
    await redis.kill();
    await eventually(() => expect(reach()).to.deep.equal(['worker 1 false', 'worker 2 false']));
    const first = await eventually(async () => {
      const answer = await bed.ask();
      expect(answer.status).to.equal(200);
      return answer;
    });
    const bodies = await bed.bodies(8, { cookie: cookieSet(first) });
    expect(new Set(bodies.slice(-6)).size).to.equal(1);
    await redis.start();
    await newClient();
  });
});
