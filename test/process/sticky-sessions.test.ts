// Sticky sessions through the proxy with a real Redis (contract.md §7.7).
import { expect } from 'chai';
import { cookieKeysAfter } from '../support/cookie-rings.ts';
import { CuttableLink } from '../support/cuttable-link.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
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
    bed = await PolicyBed.open({
      sessionStore: { type: 'redis', address: { host: '127.0.0.1', port: redis.port }, db: 0 },
      workers: 2,
    });
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

  it('are none of signed cookies: the store is not asked, and keeps nothing', async () => {
    bed.source.cookieKeys.publish(cookieKeysAfter(2));
    const cookie = { name: 's', ttl: '100s', signed: true };
    await bed.balanced(await bed.named(['a', 'b', 'c']), {
      endpointBalancing: { algorithm: 'STICKY', sticky: { cookie } },
    });
    const first = await bed.ask();
    expect(new Set(await bed.bodies(6, { cookie: cookieSet(first) }))).to.deep.equal(new Set([first.body]));
    expect(bed.proxy.upstreams().cookies).to.include({ new: 1, kept: 6 });
    expect(await redis.command('DBSIZE')).to.equal(':0\r\n');
  });

  it('shares: a client stays with its destination or its fixed answer, for any weights afterwards', async () => {
    const ports = await bed.named(['a']);
    const serve = (weights: readonly [number, number, number]) =>
      bed.balanced(
        ports,
        {},
        {
          destinations: [
            { destinationId: 'd', weight: weights[0] },
            { directResponse: { status: 200, body: 'answer' }, weight: weights[1] },
            { destinationId: 'd', weight: weights[2], headers: { responseHeadersToAdd: [{ key: 'x-n', value: '2' }] } },
          ],
          destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's' } } },
        },
      );
    await serve([1, 1, 1]);
    const placed = new Map<string, string>();
    await eventually(async () => {
      const answer = await bed.ask();
      const session = cookieSet(answer).slice('s='.length);
      const stored = await redis.command(`GET sluice:sticky:${session}:r`);
      const key = /\r\n(.*)\r\n/.exec(stored)?.[1] ?? '';
      const share = answer.body === 'answer' ? '#1' : answer.headers['x-n'] === '2' ? 'd#2' : 'd';
      expect(key).to.equal(share);
      placed.set(share, session);
      expect(placed.size).to.equal(3);
    });
    await serve([1, 0, 999]);
    for (const [share, session] of placed) {
      for (let n = 0; n < 5; n++) {
        const { body, headers } = await bed.ask({ cookie: `s=${session}` });
        expect([body, headers['x-n']]).to.deep.equal([
          share === '#1' ? 'answer' : 'a',
          share === 'd#2' ? '2' : undefined,
        ]);
      }
    }
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

  /** As many clients as are asked for, each with the endpoint that it has been given; the store has them all. */
  const newClients = async (count: number) => {
    const clients: { readonly session: string; readonly name: string }[] = [];
    while (clients.length < count) clients.push(await newClient());
    return clients;
  };
  /** Returns the number of clients that get another endpoint. */
  const moved = async (clients: Awaited<ReturnType<typeof newClients>>): Promise<number> => {
    let count = 0;
    for (const { session, name } of clients) {
      if ((await bed.ask({ cookie: `s=${session}` })).body !== name) count++;
    }
    return count;
  };

  it('clients keep their endpoints while the store is dead, and after it came back without any', async () => {
    await bed.balanced(await bed.named(['a', 'b', 'c']), sticky);
    const clients = await newClients(20);
    await redis.kill();
    try {
      expect(await moved(clients), 'while it is dead').to.equal(0);
    } finally {
      await redis.start();
    }
    await newClient();
    expect(await moved(clients), 'once it is back, and empty').to.equal(0);
    await eventually(async () => {
      for (const { session } of clients) {
        await bed.ask({ cookie: `s=${session}` });
        expect(await redis.command(`EXISTS sluice:sticky:${session}:d:ep`)).to.equal(':1\r\n');
      }
    });
  });

  it('clients keep their endpoints while the store is slower than a request waits', async () => {
    const link = await CuttableLink.to(redis.port);
    const slow = await PolicyBed.open({
      sessionStore: { type: 'redis', address: { host: '127.0.0.1', port: link.port }, db: 0 },
      workers: 2,
    });
    try {
      await slow.balanced(await slow.named(['a', 'b', 'c']), sticky);
      const reached = () => slow.proxy.upstreams().stores.every((store) => store.reached);
      await eventually(() => expect(reached()).to.equal(true));
      const clients: { readonly cookie: string; readonly name: string }[] = [];
      for (let i = 0; i < 25; i++) {
        const answer = await slow.ask();
        clients.push({ cookie: cookieSet(answer), name: answer.body });
      }
      link.pass({ there: { state: 'open', delayMs: 60 } });
      for (let round = 0; round < 2; round++) {
        for (const { cookie, name } of clients) expect((await slow.ask({ cookie })).body).to.equal(name);
      }
    } finally {
      await slow.end();
      await link.close();
    }
  });

  it('retries of a session go to another endpoint, and a session that begins so stays there', async () => {
    const ports = await bed.named(['a', 'b']);
    await bed.balanced([...ports, await freePort()], sticky, { retry: { attempts: 1, backoff: { base: '1ms' } } });
    for (let i = 0; i < 40; i++) {
      const first = await bed.ask();
      expect(first.status).to.equal(200);
      const again = await bed.ask({ cookie: cookieSet(first) });
      expect(again).to.include({ status: 200, body: first.body });
    }
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
