// Rate limits by key, by several windows and with costs (contract.md §8.2), on real sockets; time stands still.
import { expect } from 'chai';
import type { RateLimitConfig } from '../../../../src/model/middleware/rate-limit-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Ask, MiddlewareBed } from '../../../support/middleware-bed.ts';

describe('rateLimit by key, window and cost', () => {
  let clock: ManualClock;
  let bed: MiddlewareBed;
  beforeEach(() => {
    clock = new ManualClock();
    bed = new MiddlewareBed({ clock });
  });
  afterEach(() => bed.end());

  const limit = (rateLimit: RateLimitConfig) => bed.serve([{ type: 'rateLimit', rateLimit }]);
  const of = (tenant: string): Ask => ({ headers: { 'x-tenant': tenant } });
  const status = async (ask: Ask = {}) => (await bed.ask(ask)).status;
  const statuses = async (...asks: readonly Ask[]) => {
    const all: number[] = [];
    for (const ask of asks) all.push(await status(ask));
    return all;
  };

  it('a bucket for each text of the key, whichever address asks', async () => {
    await limit({ key: 'request.headers["x-tenant"]', limits: [{ requests: 2, per: '1m' }] });
    expect(await statuses(of('a'), of('a'), of('a'), of('b'), of('b'), of('b'))).to.deep.equal([
      ...[200, 200, 429],
      ...[200, 200, 429],
    ]);
    await clock.advance(30_000);
    expect(await statuses(of('a'), of('a'))).to.deep.equal([200, 429]);
  });

  it('a key that fails, or is no text, is one bucket for all such', async () => {
    await limit({ key: 'request.headers["x-tenant"]', requestsPerSecond: 0.001, burst: 1 });
    expect(await statuses({ path: '/a' }, { path: '/b' }, of('a'))).to.deep.equal([200, 429, 200]);
    await limit({ key: 'dyn(7)', requestsPerSecond: 0.001, burst: 1 });
    expect(await statuses({ path: '/a' }, { path: '/b' })).to.deep.equal([200, 429]);
  });

  it('a key by the network of the address', async () => {
    const key = 'string(cidr(request.clientIp + "/8").masked())';
    await bed.serve([{ type: 'rateLimit', rateLimit: { key, limits: [{ requests: 1, per: '1m' }] } }], {
      listener: { trustedProxies: ['127.0.0.1'] },
    });
    const from = (ip: string): Ask => ({ headers: { 'x-forwarded-for': ip } });
    expect(await statuses(from('10.0.0.1'), from('10.9.9.9'), from('11.0.0.1'))).to.deep.equal([200, 429, 200]);
  });

  it('all limits must allow, and a refused request takes from none', async () => {
    await limit({
      limits: [
        { requests: 1, per: '1s', burst: 2 },
        { requests: 4, per: '1h' },
      ],
    });
    expect(await statuses({}, {}, {}, {})).to.deep.equal([200, 200, 429, 429]);
    await clock.advance(2000);
    // The two that were refused took nothing from the hour.
    expect(await statuses({}, {})).to.deep.equal([200, 200]);
    await clock.advance(2000);
    const refused = await bed.ask();
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('896');
  });

  it('a limit without a burst has that of its requests', async () => {
    await limit({ limits: [{ requests: 3, per: '24h' }] });
    expect(await statuses({}, {}, {}, {})).to.deep.equal([200, 200, 200, 429]);
  });

  it('a cost is taken from each limit; an error costs 1, less than 0 nothing', async () => {
    await limit({ cost: 'double(request.headers["x-cost"])', limits: [{ requests: 10, per: '1h' }] });
    const costs = (cost: string): Ask => ({ headers: { 'x-cost': cost } });
    const left = async (ask: Ask) => /;r=(\d+)/.exec(String((await bed.ask(ask)).headers.ratelimit))?.[1];
    expect(await left(costs('4'))).to.equal('6');
    expect(await left(costs('0.5'))).to.equal('5');
    expect(await left(costs('0.5'))).to.equal('5');
    expect(await left(costs('-9'))).to.equal('5');
    expect(await left(costs('none'))).to.equal('4');
    expect(await left({})).to.equal('3');
    expect(await left(costs('NaN'))).to.equal('2');
    expect(await statuses(costs('3'), costs('2'), costs('0'), costs('1'))).to.deep.equal([429, 200, 200, 429]);
  });

  for (const cost of ['3', 'uint(3)', '3.0', 'size(request.headers["x-tenant"])']) {
    it(`a cost of ${cost} is three tokens`, async () => {
      await limit({ cost, limits: [{ requests: 3, per: '1h' }] });
      expect((await bed.ask(of('abc'))).headers.ratelimit).to.equal('"3/3600s";r=0;t=3600');
    });
  }

  it('a cost above the bucket is refused without a time to try again', async () => {
    await limit({ cost: '11', limits: [{ requests: 10, per: '1m' }] });
    const { status, headers } = await bed.ask();
    expect([status, headers['retry-after']]).to.deep.equal([429, undefined]);
    expect(headers.ratelimit).to.equal('"10/60s";r=10;t=0');
  });

  it('RateLimit and RateLimit-Policy stand on what passes and on what is refused, beside those of the upstream', async () => {
    bed.answer = { status: 200, headers: { ratelimit: '"inner";r=5' }, body: '' };
    await limit({
      limits: [
        { requests: 2, per: '1500ms' },
        { requests: 3, per: '1m', burst: 1 },
      ],
    });
    const passed = await bed.ask();
    expect(passed.headers['ratelimit-policy']).to.equal('"2/1.5s";q=2;w=2, "3/60s";q=3;w=60');
    expect(passed.headers.ratelimit).to.equal('"inner";r=5, "2/1.5s";r=1;t=1, "3/60s";r=0;t=20');
    const refused = await bed.ask();
    expect(refused.status).to.equal(429);
    expect(refused.body).to.equal('{"error":"rate limit exceeded"}');
    expect(refused.headers).to.include({
      'retry-after': '20',
      'ratelimit-policy': '"2/1.5s";q=2;w=2, "3/60s";q=3;w=60',
      ratelimit: '"2/1.5s";r=1;t=1, "3/60s";r=0;t=20',
    });
  });

  it('without limits no response has fields of them', async () => {
    await limit({ key: 'request.path', requestsPerSecond: 0.001, burst: 1 });
    for (const expected of [200, 429]) {
      const { status, headers } = await bed.ask();
      expect(status).to.equal(expected);
      expect(headers).to.not.have.any.keys('ratelimit', 'ratelimit-policy');
    }
  });

  it('an activation keeps the buckets of limits that stay', async () => {
    const hour = { requests: 1, per: '1h' };
    await limit({ limits: [hour] });
    expect(await statuses({}, {})).to.deep.equal([200, 429]);
    await limit({ limits: [{ requests: 100, per: '1m' }, hour] });
    expect(await status()).to.equal(429);
    await limit({ limits: [{ requests: 2, per: '1h' }] });
    expect(await status()).to.equal(200);
  });

  it('a key of the body is read before the request is counted', async () => {
    await limit({ key: 'request.body.json.user', limits: [{ requests: 1, per: '1h' }] });
    const by = (user: string): Ask => ({
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ user }),
    });
    expect(await statuses(by('ann'), by('bob'), by('ann'))).to.deep.equal([200, 200, 429]);
    expect(bed.reached).to.have.length(2);
  });
});
