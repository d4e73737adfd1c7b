// Middleware apiKey and consumers on real sockets.
import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { storedKey } from '../../../../src/model/stored-api-key.ts';
import { checkConfig } from '../../../../src/proxy/config-check.ts';
import { keyed, storedConsumers } from '../../../support/consumers.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Ask, MiddlewareBed, type Surroundings } from '../../../support/middleware-bed.ts';
import { RawClient } from '../../../support/proxy-bed.ts';

const sources = { header: 'X-Api-Key', query: 'key', cookie: 'key' };
const gold = keyed('gold', ['g1', 'g2', 'a, b'], { labels: { plan: 'gold' } });
const free = keyed('free', ['f1'], { labels: { plan: 'free' } });
const names = { requestHeadersToAdd: [{ key: 'x-consumer', value: `\${consumer.name} \${consumer.labels.plan}` }] };

describe('middleware apiKey (contract.md §8.12)', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const serve = async (
    apiKey: Partial<NonNullable<Middleware['apiKey']>> = {},
    { more = [], consumers = [gold, free], around = {} }: Serving = {},
  ) => {
    const own = { type: 'apiKey', apiKey: { sources, ...apiKey } } as const;
    const tell = { type: 'headers', headers: names } as const;
    await bed.serve([own, ...more, tell], { ...around, more: { consumers: storedConsumers(...consumers) } });
  };
  interface Serving {
    readonly more?: readonly Parameters<MiddlewareBed['serve']>[0][number][];
    readonly consumers?: readonly object[];
    readonly around?: Surroundings;
  }

  const passing: readonly (readonly [what: string, ask: Ask, url: string, consumer: string])[] = [
    ['a header', { headers: { 'x-api-key': 'g1' } }, '/', 'gold gold'],
    ['another key of the same consumer', { headers: { 'x-api-key': 'g2' } }, '/', 'gold gold'],
    ['the key of another', { headers: { 'x-api-key': 'f1' } }, '/', 'free free'],
    ['a key with a comma', { headers: { 'x-api-key': 'a, b' } }, '/', 'gold gold'],
    ['two lines that are alike', { headers: { 'x-api-key': ['g1', 'g1'] } }, '/', 'gold gold'],
    ['two lines of a key with a comma', { headers: { 'x-api-key': ['a, b', 'a, b'] } }, '/', 'gold gold'],
    ['a parameter', { path: '/a?key=g1' }, '/a', 'gold gold'],
    ['a parameter among others', { path: '/a?x=%20&key=g1&y&z=1+1' }, '/a?x=%20&y&z=1+1', 'gold gold'],
    ['a parameter whose name is encoded', { path: '/a?%6bey=g1&keys=2' }, '/a?keys=2', 'gold gold'],
    ['a parameter whose value is encoded', { path: '/a?key=a%2C+b' }, '/a', 'gold gold'],
    ['a parameter twice', { path: '/a?key=g1&x&key=g1' }, '/a?x', 'gold gold'],
    ['a cookie', { headers: { cookie: 'key=g1' } }, '/', 'gold gold'],
    [
      'all sources with one key',
      { path: '/?key=g1', headers: { 'x-api-key': 'g1', cookie: 'key=g1' } },
      '/',
      'gold gold',
    ],
    ['a header beside an empty parameter', { path: '/?key=', headers: { 'x-api-key': 'g1' } }, '/', 'gold gold'],
  ];
  for (const [what, ask, url, consumer] of passing)
    it(`passes with ${what}, which the upstream does not get`, async () => {
      await serve();
      expect((await bed.ask(ask)).status).to.equal(200);
      const got = bed.reached.at(-1);
      expect(got?.url).to.equal(url);
      expect(bed.lastSent('x-consumer')).to.equal(consumer);
      expect(got?.headers).to.not.have.any.keys('x-api-key', 'cookie');
    });

  const refused: readonly (readonly [what: string, ask: Ask, error: string])[] = [
    ['no key', {}, 'missing API key'],
    ['an empty one', { path: '/?key=', headers: { 'x-api-key': '', cookie: 'key=' } }, 'missing API key'],
    ['a key elsewhere', { headers: { authorization: 'Bearer g1', 'x-key': 'g1' } }, 'missing API key'],
    ['a cookie of a longer name', { headers: { cookie: 'xkey=g1; key2=g1' } }, 'missing API key'],
    ['a key of none', { headers: { 'x-api-key': 'g3' } }, 'invalid API key'],
    ['a key in other case', { headers: { 'x-api-key': 'G1' } }, 'invalid API key'],
    ['the beginning of a key', { headers: { 'x-api-key': 'g' } }, 'invalid API key'],
    ['a key and more', { headers: { 'x-api-key': 'g11' } }, 'invalid API key'],
    ['the hash of a key, as answers show it', { headers: { 'x-api-key': storedKey('g1') } }, 'invalid API key'],
    ['two keys in lines', { headers: { 'x-api-key': ['g1', 'g2'] } }, 'more than one API key'],
    ['two keys as one value', { headers: { 'x-api-key': 'g1, g1' } }, 'invalid API key'],
    ['two keys in one query', { path: '/?key=g1&key=f1' }, 'more than one API key'],
    ['two keys in cookies', { headers: { cookie: 'key=g1; key=f1' } }, 'more than one API key'],
    ['a key and a wrong one', { path: '/?key=g1', headers: { 'x-api-key': 'x' } }, 'more than one API key'],
    ['keys of two sources', { path: '/?key=g1', headers: { cookie: 'key=g2' } }, 'more than one API key'],
    ['a name that is a property', { headers: { 'x-api-key': '__proto__' } }, 'invalid API key'],
  ];
  for (const [what, ask, error] of refused)
    it(`is 401: ${what}`, async () => {
      await serve();
      const answer = await bed.ask(ask);
      expect([answer.status, answer.body]).to.deep.equal([401, JSON.stringify({ error })]);
      expect(answer.headers['www-authenticate']).to.equal('ApiKey');
      expect(bed.reached).to.have.length(0);
    });

  it('reads a key in Authorization behind a scheme, or alone', async () => {
    await serve({ sources: { header: 'authorization' } });
    for (const authorization of ['Bearer g1', 'bearer  g1', 'ApiKey g1', 'g1'])
      expect((await bed.ask({ headers: { authorization } })).status, authorization).to.equal(200);
    expect(bed.lastSent('authorization')).to.equal(undefined);
    for (const authorization of ['Basic g1', 'Bearer', 'Bearer g1 g1', 'Bearer g1, Bearer g1'])
      expect((await bed.ask({ headers: { authorization } })).status, authorization).to.equal(401);
  });

  it('leaves the other cookies, and a key where it is asked to', async () => {
    await serve();
    await bed.ask({ headers: { cookie: 'a=1; key=g1; b="x y"' } });
    expect(bed.lastSent('cookie')).to.equal('a=1; b="x y"');
    for (const [cookie, left] of [
      ['a=1;b=2;key=g1', 'a=1;b=2'],
      ['key=g1; key=g1', undefined],
      [' key = g1 ;;a=1', 'a=1'],
      ['a=1;  key=g1;;;b=key=g1; key', 'a=1;;;b=key=g1; key'],
    ]) {
      await bed.ask({ headers: { cookie: cookie ?? '' } });
      expect(bed.lastSent('cookie')).to.equal(left);
    }
    await serve({ forwardKey: true });
    await bed.ask({ path: '/?key=g1', headers: { 'x-api-key': 'g1' } });
    expect([bed.reached.at(-1)?.url, bed.lastSent('x-api-key')]).to.deep.equal(['/?key=g1', 'g1']);
  });

  it('names the consumer in a header that the client cannot set, in no spelling', async () => {
    await serve({ consumerHeader: 'X-Who' });
    const headers = { 'x-api-key': 'g1', X_Api_Key: 'g1', 'x-who': 'root', X_Who: 'root' };
    expect((await bed.ask({ headers })).status).to.equal(200);
    expect(bed.lastSent('x-who')).to.equal('gold');
    expect(bed.lastSent('x_who')).to.equal(undefined);
    expect(bed.lastSent('x_api_key'), 'a backend may take it for the key').to.equal(undefined);
  });

  it('names the consumer in trailers neither: those of the client are left out', async () => {
    await serve({ consumerHeader: 'X-Who' });
    const client = new RawClient(bed.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nX-Api-Key: g1\r\nTransfer-Encoding: chunked\r\nTrailer: X-Who\r\n\r\n');
    client.send('1\r\na\r\n0\r\nX-Who: root\r\nX_Who: root\r\nX-Other: 1\r\n\r\n');
    await client.until(/upstream/);
    expect(bed.reached.at(-1)?.rawTrailers.join()).to.equal('X-Other,1');
    client.socket.destroy();
  });

  it('where it is skipped, a client cannot name a consumer', async () => {
    const route = { middlewareOverrides: { m0: { skipWhen: ['request.path == "/open"'] } } };
    await serve({ consumerHeader: 'X-Who' }, { around: { route } });
    expect((await bed.ask({ path: '/open', headers: { 'x-who': 'root', 'x-consumer': 'root' } })).status).to.equal(200);
    expect(bed.lastSent('x-who')).to.equal(undefined);
    expect(bed.lastSent('x-consumer'), 'nor by the header of a template').to.equal('');
  });

  it('names no consumer to the next request of the connection', async () => {
    const route = { middlewareOverrides: { m0: { skipWhen: ['request.path == "/open"'] } } };
    await serve({}, { around: { route } });
    const client = new RawClient(bed.port);
    client.send('GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: g1\r\n\r\n');
    await client.until(/0\r\n\r\n$/);
    client.send('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until(/upstream[\s\S]*upstream\r\n0\r\n\r\n$/);
    expect(bed.reached.map(({ headers }) => headers['x-consumer'])).to.deep.equal(['gold gold', '']);
    client.socket.destroy();
  });

  it('follows the consumers of each activation while it stays the same itself', async () => {
    await serve();
    expect((await bed.ask({ headers: { 'x-api-key': 'g1' } })).status).to.equal(200);
    await serve({}, { consumers: [keyed('gold', ['g3']), keyed('free', ['f1', 'g2'])] });
    expect((await bed.ask({ headers: { 'x-api-key': 'g1' } })).status, 'a key that was taken away').to.equal(401);
    expect((await bed.ask({ headers: { 'x-api-key': 'g3' } })).status).to.equal(200);
    await bed.ask({ headers: { 'x-api-key': 'g2' } });
    expect(bed.lastSent('x-consumer'), 'a key that was given to another').to.equal('free');
    await serve({}, { consumers: [] });
    expect((await bed.ask({ headers: { 'x-api-key': 'g3' } })).status).to.equal(401);
  });

  it('takes a key that two consumers have for that of none, and captures refuse it', async () => {
    const consumers = [keyed('one', ['k', 'own']), keyed('two', ['k'])];
    await serve({}, { consumers });
    expect((await bed.ask({ headers: { 'x-api-key': 'k' } })).status).to.equal(401);
    expect((await bed.ask({ headers: { 'x-api-key': 'own' } })).status).to.equal(200);
    const whole = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] };
    const { problems } = await checkConfig({ ...whole, consumers: storedConsumers(...consumers) }, Date.now());
    expect(problems).to.deep.equal([
      { pointer: '/consumers/two/credentials/0', message: 'has the key of consumer "one"' },
    ]);
  });

  it('takes a key that is not stored as its hash for that of none', async () => {
    const consumers = [{ id: 'a', name: 'a', credentials: [{ type: 'apiKey', key: 'plain' }] }] as const;
    await bed.serve([{ type: 'apiKey', apiKey: { sources } }], { more: { consumers: [...consumers] } });
    expect((await bed.ask({ headers: { 'x-api-key': 'plain' } })).status).to.equal(401);
  });

  describe('and what follows it', () => {
    const asFree = { headers: { 'x-api-key': 'f1' } };
    const asGold = { headers: { 'x-api-key': 'g1' } };

    it('expressions decide by the consumer, and nothing of it is there without one', async () => {
      const authz = (cel: string) =>
        ({ type: 'inlineAuthz', inlineAuthz: { rules: [{ cel, action: 'allow' }], defaultAction: 'deny' } }) as const;
      const allows = async (cel: string, ask: Ask, path = '/'): Promise<boolean> => {
        const route = { middlewareOverrides: { m0: { skipWhen: ['request.path == "/open"'] } } };
        await serve({}, { more: [authz(cel)], around: { route } });
        return (await bed.ask({ ...ask, path })).status === 200;
      };
      expect(await allows('consumer.labels["plan"] == "gold"', asGold)).to.equal(true);
      expect(await allows('consumer.labels.plan == "gold"', asFree)).to.equal(false);
      expect(await allows('consumer.name in ["free"] && consumer.id == "free"', asFree)).to.equal(true);
      expect(await allows('has(consumer.labels.team)', asGold)).to.equal(false);
      expect(await allows('"plan" in consumer.labels', asGold)).to.equal(true);
      expect(await allows('has(consumer.name)', asGold)).to.equal(true);
      expect(await allows('has(consumer.name)', {}, '/open')).to.equal(false);
      expect(await allows('!has(consumer.name)', {}, '/open')).to.equal(true);
      expect(await allows('consumer.name != "gold"', {}, '/open'), 'an error allows nothing').to.equal(false);
      expect(await allows('consumer.labels.plan != "gold"', {}, '/open')).to.equal(false);
    });

    it('rate limits count by the consumer, whichever key it brings', async () => {
      const limit = {
        type: 'rateLimit',
        rateLimit: { key: 'consumer.id', requestsPerSecond: 0.001, burst: 1 },
      } as const;
      await serve({}, { more: [limit] });
      const statuses = [];
      for (const key of ['g1', 'g2', 'f1', 'f1'])
        statuses.push((await bed.ask({ headers: { 'x-api-key': key } })).status);
      expect(statuses).to.deep.equal([200, 429, 200, 429]);
    });

    it('mirrors get no key', async () => {
      const copies: string[] = [];
      const port = await bed.bed.upstream((request, response) => {
        copies.push(`${request.url} ${request.headers['x-api-key'] ?? ''}`);
        response.end();
      });
      const forward = { destinations: [{ destinationId: 'd' }], mirror: { destinationId: 'copy' } };
      await bed.serve([{ type: 'apiKey', apiKey: { sources } }], {
        route: { forward },
        more: {
          consumers: storedConsumers(gold),
          destinations: [{ id: 'copy', name: 'copy', host: '127.0.0.1', port }],
        },
      });
      await bed.ask({ path: '/a?key=g1&b', headers: { 'x-api-key': 'g1' } });
      await eventually(() => expect(copies).to.deep.equal(['/a?b ']));
    });
  });
});
