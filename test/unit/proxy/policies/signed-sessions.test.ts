// Sticky sessions by signed cookies, through proxies that share keys and nothing else (contract.md §7.7).
import { expect } from 'chai';
import { cookieResults } from '../../../../src/model/cookie-keys.ts';
import { cookieKeysAfter } from '../../../support/cookie-rings.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Answer, cookieSet, PolicyBed } from '../../../support/named-upstreams.ts';

const sticky = (cookie: object = {}) => ({
  endpointBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's', ttl: '100s', signed: true, ...cookie } } },
});
const names = ['a', 'b', 'c', 'd'];

describe('signed sticky sessions', () => {
  const beds: PolicyBed[] = [];
  let bed: PolicyBed;
  let ports: number[];

  const open = async (options: ConstructorParameters<typeof PolicyBed>[0] = {}): Promise<PolicyBed> => {
    const opened = await PolicyBed.open(options);
    opened.source.cookieKeys.publish(cookieKeysAfter(2));
    beds.push(opened);
    return opened;
  };
  beforeEach(async () => {
    bed = await open();
    ports = await bed.named(names);
  });
  afterEach(async () => {
    for (const each of beds.splice(0).reverse()) await each.end();
  });

  /** Counts of the results of that bed. */
  const counted = ({ proxy }: PolicyBed = bed): Record<string, number> =>
    Object.fromEntries(Object.entries(proxy.upstreams().cookies).filter(([, count]) => count > 0));
  /** Clients that each have a cookie, with the name that they got. */
  const clients = async (count: number): Promise<{ cookie: string; name: string }[]> => {
    const made: { cookie: string; name: string }[] = [];
    for (let at = 0; at < count; at++) {
      const answer = await bed.ask();
      made.push({ cookie: cookieSet(answer), name: answer.body });
    }
    return made;
  };
  const sets = ({ headers }: Answer): readonly string[] => [headers['set-cookie'] ?? []].flat();

  it('a new client gets a cookie that says nothing, and keeps its endpoint with it, without another one', async () => {
    await bed.balanced(ports, sticky());
    const first = await bed.ask();
    expect(sets(first)).to.have.length(1);
    expect(sets(first)[0]).to.match(/^s=[A-Za-z0-9_-]{66}; Path=\/; Max-Age=100; HttpOnly; SameSite=Lax$/);
    for (let n = 0; n < 12; n++) {
      const again = await bed.ask({ cookie: cookieSet(first) });
      expect([again.body, sets(again)]).to.deep.equal([first.body, []]);
    }
    expect(counted()).to.deep.equal({ new: 1, kept: 12 });
    expect(new Set((await clients(60)).map(({ name }) => name)), 'spread over all').to.deep.equal(new Set(names));
  });

  it('a client keeps its endpoint at another proxy, at one that is started anew, and with workers', async () => {
    await bed.balanced(ports, sticky());
    const made = await clients(20);
    for (const other of [await open(), await open({ workers: 2 })]) {
      await other.balanced(ports, sticky());
      for (const { cookie, name } of made) expect((await other.ask({ cookie })).body).to.equal(name);
      expect(counted(other)).to.deep.equal({ kept: 20 });
    }
  });

  it('a client keeps its endpoint over activations that add endpoints and change weights', async () => {
    await bed.balanced(ports, sticky());
    const made = await clients(20);
    const more = await bed.named(['e', 'f']);
    await bed.balanced([...more, ...ports], { ...sticky(), timeouts: { request: '30s' } });
    for (const { cookie, name } of made) expect((await bed.ask({ cookie })).body).to.equal(name);
  });

  it('a client keeps its endpoint over rotations: its cookie is sealed anew, for what is left of its time', async () => {
    await bed.balanced(ports, sticky());
    let [{ cookie, name } = { cookie: '', name: '' }] = await clients(1);
    let renewed = 0;
    for (let made = 3; made <= 20; made++) {
      bed.source.cookieKeys.publish(cookieKeysAfter(made));
      const answer = await bed.ask({ cookie });
      expect(answer.body, `after ${made}`).to.equal(name);
      const [line] = sets(answer);
      if (line === undefined) continue;
      renewed++;
      cookie = cookieSet(answer);
      expect(Number(/Max-Age=(\d+)/.exec(line)?.[1])).to.be.within(1, 100);
    }
    expect(renewed).to.equal(18);
    expect(counted()).to.deep.equal({ new: 1, kept: 18 });
  });

  it('a cookie whose key has gone is stale: placed anew', async () => {
    await bed.balanced(ports, sticky());
    const [{ cookie } = { cookie: '' }] = await clients(1);
    bed.source.cookieKeys.publish(cookieKeysAfter(11));
    const answer = await bed.ask({ cookie });
    expect([answer.status, sets(answer).length]).to.deep.equal([200, 1]);
    expect(counted()).to.deep.equal({ new: 1, stale: 1 });
  });

  it('a placement ends with its time', async () => {
    const clock = new ManualClock(1_000_000);
    const timed = await open({ clock });
    await timed.balanced(ports, sticky());
    const cookie = cookieSet(await timed.ask());
    clock.advance(99_000);
    expect(sets(await timed.ask({ cookie }))).to.deep.equal([]);
    clock.advance(1_000);
    expect(sets(await timed.ask({ cookie }))).to.have.length(1);
    expect(counted(timed)).to.deep.equal({ new: 1, kept: 1, expired: 1 });
  });

  it('a life below one second lasts until the browser closes', async () => {
    await bed.balanced(ports, sticky({ ttl: '0s' }));
    const first = await bed.ask();
    expect(sets(first)[0]).not.to.contain('Max-Age');
    expect(new Set(await bed.bodies(6, { cookie: cookieSet(first) }))).to.deep.equal(new Set([first.body]));
  });

  it('what was forged, cut, made longer or sealed elsewhere is placed anew, spread over all, and never an error', async () => {
    await bed.balanced(ports, sticky());
    const foreign = await open();
    foreign.source.cookieKeys.publish(cookieKeysAfter(2, 1));
    await foreign.balanced(ports, sticky());
    const [{ cookie } = { cookie: '' }] = await clients(1);
    const value = cookie.slice('s='.length);
    const flipped = value.slice(0, 40) + (value[40] === 'A' ? 'B' : 'A') + value.slice(41);
    const bad = {
      forged: ['x', 'A'.repeat(66), 'A'.repeat(4_000), flipped, value.slice(0, -1), `${value}AAAA`, `${value}.`],
      stale: [cookieSet(await foreign.ask()).slice('s='.length)],
    };
    for (const [result, values] of Object.entries(bad)) {
      for (const each of values) {
        const before = counted()[result] ?? 0;
        const answer = await bed.ask({ cookie: `s=${each}` });
        expect([answer.status, sets(answer).length], each).to.deep.equal([200, 1]);
        expect(counted()[result], each).to.equal(before + 1);
        expect(sets(await bed.ask({ cookie: cookieSet(answer) }))).to.deep.equal([]);
      }
    }
    expect(new Set(await bed.bodies(60, { cookie: `s=${flipped}` }))).to.deep.equal(new Set(names));
  });

  it('a cookie of one destination is none of another, and one cookie carries the placements of several', async () => {
    const endpoints = ports.map((port) => ({ host: '127.0.0.1', port }));
    const routes = ['d', 'other'].map((id) => ({
      ...{ id: `r-${id}`, name: `r-${id}`, match: { pathPrefix: `/${id}` } },
      forward: { destinations: [{ destinationId: id }] },
    }));
    const other = {
      id: 'other',
      name: 'other',
      host: '127.0.0.1',
      port: ports[0] ?? 1,
      endpoints,
      options: sticky() as never,
    };
    await bed.balanced(ports, sticky(), {}, { destinations: [other], routes });
    let apart = 0;
    for (let n = 0; n < 20; n++) {
      const first = await bed.ask({}, { path: '/d' });
      const second = await bed.ask({ cookie: cookieSet(first) }, { path: '/other' });
      if (first.body !== second.body) apart++;
      expect(sets(second), 'with the placements of both').to.have.length(1);
      for (const [path, { body }] of [['/d', first] as const, ['/other', second] as const]) {
        const again = await bed.ask({ cookie: cookieSet(second) }, { path });
        expect([again.body, sets(again)]).to.deep.equal([body, []]);
      }
    }
    expect(apart).to.be.above(0);
    expect(counted()).to.deep.equal({ new: 20, elsewhere: 20, kept: 40 });
  });

  /** As many destinations as lives of cookies are given, each with a route below its number. */
  const serveSeveral = (ttls: readonly string[]) => {
    const endpoints = ports.map((port) => ({ host: '127.0.0.1', port }));
    const destinations = ttls.map((ttl, at) => ({
      ...{ id: `d${at}`, name: `d${at}`, host: '127.0.0.1', port: ports[0] ?? 1, endpoints },
      options: sticky({ ttl }) as never,
    }));
    const routes = ttls.map((_, at) => ({
      ...{ id: `r${at}`, name: `r${at}`, match: { path: `/${at}` } },
      forward: { destinations: [{ destinationId: `d${at}` }] },
    }));
    return bed.balanced(ports, {}, {}, { destinations, routes });
  };

  it('a cookie carries eight placements: a ninth ends the oldest, and it grows no longer', async () => {
    await serveSeveral(Array(9).fill('100s'));
    let cookie = '';
    for (let at = 0; at < 9; at++) cookie = cookieSet(await bed.ask({ cookie }, { path: `/${at}` }));
    expect(cookie).to.have.length('s='.length + 215);
    for (let at = 1; at < 9; at++)
      expect(sets(await bed.ask({ cookie }, { path: `/${at}` })), `${at}`).to.deep.equal([]);
    expect(sets(await bed.ask({ cookie }, { path: '/0' }))).to.have.length(1);
    expect(counted()).to.deep.equal({ new: 1, elsewhere: 9, kept: 8 });
  });

  it('a cookie lives as long as the last of its placements, or as the browser where one has no end', async () => {
    await serveSeveral(['100s', '500s', '50s', '0s']);
    let cookie = '';
    const ages: (string | undefined)[] = [];
    for (let at = 0; at < 4; at++) {
      const answer = await bed.ask({ cookie }, { path: `/${at}` });
      cookie = cookieSet(answer);
      const age = /Max-Age=(\d+)/.exec(sets(answer)[0] ?? '')?.[1];
      // Seconds may have passed since the placement that lasts longest.
      ages.push(age === undefined ? undefined : String(Math.ceil(Number(age) / 50) * 50));
    }
    expect(ages).to.deep.equal(['100', '500', '500', undefined]);
  });

  it('a client whose endpoint is drained or gone moves, gets a cookie for it, and stays there', async () => {
    await bed.balanced(ports, sticky());
    const [{ cookie, name } = { cookie: '', name: '' }] = await clients(1);
    const place = names.indexOf(name);
    const endpoints = [{ destinationId: 'd', endpoint: `127.0.0.1:${ports[place]}` }];
    bed.source.drains.publish({ index: 1, endpoints });
    const moved = await eventually(async () => {
      const answer = await bed.ask({ cookie });
      expect(answer.body).not.to.equal(name);
      return answer;
    });
    expect(new Set(await bed.bodies(6, { cookie: cookieSet(moved) }))).to.deep.equal(new Set([moved.body]));
    bed.source.drains.publish({ index: 2, endpoints: [] });
    await bed.balanced(
      ports.filter((_, at) => at !== names.indexOf(moved.body)),
      sticky(),
    );
    const again = await bed.ask({ cookie: cookieSet(moved) });
    expect(again.body).not.to.equal(moved.body);
    expect(new Set(await bed.bodies(6, { cookie: cookieSet(again) }))).to.deep.equal(new Set([again.body]));
    expect(counted().moved).to.be.at.least(2);
  });

  it('a session that began unsigned, or at a proxy without keys, keeps its endpoint and gets a signed cookie', async () => {
    bed.source.cookieKeys.publish(cookieKeysAfter(0));
    await bed.balanced(ports, sticky());
    const made = await clients(20);
    expect(counted()).to.deep.equal({ unkeyed: 20 });
    for (const { cookie } of made) expect(cookie).to.match(/^s=[0-9a-f]{32}$/);
    bed.source.cookieKeys.publish({ ...cookieKeysAfter(2), index: 3 });
    const unsigned = await open();
    await unsigned.balanced(ports, sticky({ signed: false }));
    for (const { cookie, name } of made) {
      expect((await unsigned.ask({ cookie })).body).to.equal(name);
      const answer = await bed.ask({ cookie });
      expect(answer.body).to.equal(name);
      expect((await bed.ask({ cookie: cookieSet(answer) })).body).to.equal(name);
    }
    expect(counted()).to.deep.equal({ unkeyed: 20, unsigned: 20, kept: 20 });
  });

  it('a client whose request outlives the keys gets no cookie', async () => {
    const release = Promise.withResolvers<void>();
    const held = await bed.named(names, (name, { url }, response) => {
      void (url === '/held' ? release.promise : Promise.resolve()).then(() => response.end(name));
    });
    await bed.balanced(held, sticky());
    const answer = bed.ask({}, { path: '/held' });
    await eventually(() => expect(counted()).to.deep.equal({ new: 1 }));
    bed.source.cookieKeys.publish(cookieKeysAfter(0));
    await bed.ask({ cookie: 's=x' });
    expect(counted()).to.deep.equal({ new: 1, unkeyed: 1 });
    release.resolve();
    expect([(await answer).status, sets(await answer)]).to.deep.equal([200, []]);
  });

  it('a retry goes to another endpoint, and a session that begins so stays there', async () => {
    const dead = await freePort();
    const retry = { retry: { attempts: 1, backoff: { base: '1ms' } } };
    await bed.balanced([...ports.slice(0, 1), dead], sticky(), retry);
    for (let n = 0; n < 20; n++) {
      const first = await bed.ask();
      expect([first.status, first.body, sets(first).length]).to.deep.equal([200, 'a', 1]);
      const again = await bed.ask({ cookie: cookieSet(first) });
      expect([again.body, sets(again)]).to.deep.equal(['a', []]);
    }
    expect(counted()).to.deep.equal({ new: 20, kept: 20 });
  });

  it('shares of a route: a client keeps its destination or fixed answer, for any weights, apart from other routes', async () => {
    const serve = (weights: readonly number[], id = 'r') =>
      bed.balanced(
        ports.slice(0, 1),
        {},
        {},
        {
          routes: [
            {
              ...{ id, name: id },
              forward: {
                destinations: [
                  { destinationId: 'd', weight: weights[0] ?? 0 },
                  { directResponse: { status: 200, body: 'answer' }, weight: weights[1] ?? 0 },
                ],
                destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's', signed: true } } },
              },
            },
          ],
        },
      );
    await serve([1, 1]);
    const made = await clients(40);
    expect(new Set(made.map(({ name }) => name))).to.deep.equal(new Set(['a', 'answer']));
    await serve([1, 999]);
    for (const { cookie, name } of made) expect((await bed.ask({ cookie })).body).to.equal(name);
    await serve([1, 999], 'another');
    for (const { cookie } of made) await bed.ask({ cookie });
    expect(counted()).to.deep.equal({ new: 40, kept: 40, elsewhere: 40 });
  });

  it('both levels may have one cookie: it carries the placements of both', async () => {
    const cookie = { name: 's', signed: true };
    const second = { id: 'e', name: 'e', host: '127.0.0.1', port: ports[2] ?? 1 };
    const endpoints = ports.slice(2).map((port) => ({ host: '127.0.0.1', port }));
    const forward = {
      destinations: ['d', 'e'].map((destinationId) => ({ destinationId, weight: 1 })),
      destinationBalancing: { algorithm: 'STICKY', sticky: { cookie } },
    };
    await bed.balanced(ports.slice(0, 2), sticky(), forward, {
      destinations: [{ ...second, endpoints, options: sticky() as never }],
    });
    for (const made of await clients(20)) {
      const answer = await bed.ask({ cookie: made.cookie });
      expect([answer.body, sets(answer)]).to.deep.equal([made.name, []]);
    }
    expect(counted()).to.deep.equal({ new: 40, kept: 40 });
  });

  it('one endpoint needs no cookie, and nothing is counted for who uses none', async () => {
    await bed.balanced(ports.slice(0, 1), sticky());
    expect(sets(await bed.ask())).to.deep.equal([]);
    await bed.balanced(ports, {});
    await bed.ask({ cookie: 's=x' });
    expect(counted()).to.deep.equal({});
    expect(Object.keys(bed.proxy.upstreams().cookies)).to.deep.equal([...cookieResults]);
  });
});
