// rateLimit with scope cluster on real sockets, its leader within the process.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { LedgerLeases } from '../../../support/ledger-leases.ts';
import { MiddlewareBed, type NamedMiddleware } from '../../../support/middleware-bed.ts';

const tenant = 'request.headers["x-tenant"]';
const limiter = (rateLimit: object): NamedMiddleware => ({
  type: 'rateLimit',
  rateLimit: { scope: 'cluster', ...rateLimit },
});

describe('middleware rateLimit of the cluster', () => {
  const beds: MiddlewareBed[] = [];
  let leases: LedgerLeases;

  beforeEach(() => {
    leases = new LedgerLeases();
  });

  afterEach(async () => {
    await Promise.all(beds.splice(0).map((bed) => bed.end()));
  });

  const serve = async (rateLimit: object, name = 'p', workers?: number): Promise<MiddlewareBed> => {
    const bed = new MiddlewareBed({ leases: leases.of(name), workers });
    beds.push(bed);
    await bed.serve([limiter(rateLimit)]);
    return bed;
  };

  const statuses = async (bed: MiddlewareBed, count: number, headers = {}): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: count }, () => bed.ask({ headers })));
    return answers.map(({ status }) => status).sort();
  };

  const passed = (all: readonly number[]): number => all.filter((status) => status === 200).length;

  /** So many requests pass, however late the machine brings the tokens. */
  const passesAll = async (bed: MiddlewareBed, count: number, headers = {}): Promise<void> => {
    for (let request = 0; request < count; request++) {
      await eventually(async () => expect((await bed.ask({ headers })).status).to.equal(200));
    }
  };

  it('passes one bucket over two proxies, the second as many as the first left', async () => {
    const rateLimit = { limits: [{ requests: 10, per: '24h' }] };
    const [first, second] = [await serve(rateLimit, 'p'), await serve(rateLimit, 'q')];
    await passesAll(first, 6);
    await passesAll(second, 4);
    for (const bed of [first, second]) expect(passed(await statuses(bed, 3))).to.equal(0);
  });

  it('passes one bucket over two workers of a proxy', async () => {
    const bed = await serve({ limits: [{ requests: 10, per: '24h' }] }, 'p', 2);
    const before = passed(await statuses(bed, 25));
    expect(before).to.be.at.most(10);
    await passesAll(bed, 10 - before);
    expect(passed(await statuses(bed, 10))).to.equal(0);
  });

  it('counts by address where there is no key, and by the rate of requestsPerSecond', async () => {
    const bed = await serve({ requestsPerSecond: 0.001, burst: 3 });
    await passesAll(bed, 3);
    expect(passed(await statuses(bed, 5))).to.equal(0);
    const { headers } = await bed.ask();
    expect(headers['retry-after']).to.equal('1000');
    expect(headers.ratelimit).to.equal(undefined);
  });

  it('takes costs from all limits, or from none', async () => {
    const limits = [
      { requests: 10, per: '24h' },
      { requests: 4, per: '24h' },
    ];
    const bed = await serve({ key: tenant, cost: 'double(request.headers["x-cost"])', limits });
    const ask = (cost: string) => bed.ask({ headers: { 'x-tenant': 'blue', 'x-cost': cost } });
    const rows: [cost: string, status: number, left: string | undefined][] = [
      ['3', 200, '"10/86400s";r=7;t=25920, "4/86400s";r=1;t=64800'],
      ['2', 429, '"10/86400s";r=7;t=25920, "4/86400s";r=1;t=21600'],
      ['1', 200, '"10/86400s";r=6;t=34560, "4/86400s";r=0;t=86400'],
      ['100', 429, undefined],
    ];
    for (const [cost, status, left] of rows) {
      const answer = await ask(cost);
      expect(answer.status, cost).to.equal(status);
      if (left !== undefined) expect(answer.headers.ratelimit, cost).to.equal(left);
    }
    expect((await ask('100')).headers['retry-after']).to.equal(undefined);
  });

  it('keeps what is left over an activation', async () => {
    const rateLimit = { limits: [{ requests: 5, per: '24h' }] };
    const bed = await serve(rateLimit);
    await passesAll(bed, 3);
    await bed.serve([limiter({ ...rateLimit }), limiter({ limits: [{ requests: 100, per: '1s' }] })]);
    await passesAll(bed, 2);
    expect(passed(await statuses(bed, 9))).to.equal(0);
  });

  it('passes requests again when a limit comes back before its parts were given back', async () => {
    const rateLimit = { limits: [{ requests: 100, per: '24h' }] };
    const bed = await serve(rateLimit);
    await passesAll(bed, 3);
    leases.isReached = false;
    await bed.serve([limiter({ limits: [{ requests: 7, per: '24h' }] })]);
    await bed.serve([limiter(rateLimit)]);
    leases.isReached = true;
    await passesAll(bed, 20);
  });

  it('passes one request of a key of which it holds nothing while no leader answers, and the rest once one does', async () => {
    leases.isReached = false;
    const bed = await serve({ key: tenant, limits: [{ requests: 50, per: '24h' }] });
    const blue = { 'x-tenant': 'blue' };
    for (const headers of [blue, { 'x-tenant': 'green' }]) {
      await passesAll(bed, 1, headers);
      expect(passed(await statuses(bed, 5, headers))).to.equal(0);
    }
    leases.isReached = true;
    await eventually(async () => expect(passed(await statuses(bed, 1, blue))).to.equal(1));
  });

  it('goes on with its share when the leader is lost', async () => {
    const bed = await serve({ key: tenant, limits: [{ requests: 1_000, per: '1s' }] });
    const blue = { 'x-tenant': 'blue' };
    await eventually(async () => expect(passed(await statuses(bed, 200, blue))).to.equal(200));
    leases.isReached = false;
    await eventually(async () => expect(passed(await statuses(bed, 5, blue))).to.be.above(1));
  });

  it('counts requests whose key cannot be evaluated in one bucket', async () => {
    const bed = await serve({ key: tenant, limits: [{ requests: 2, per: '24h' }] });
    await passesAll(bed, 2);
    expect(passed(await statuses(bed, 5))).to.equal(0);
    await passesAll(bed, 2, { 'x-tenant': 'blue' });
  });

  it('reports nothing while no limit of the cluster is in force', async () => {
    const bed = new MiddlewareBed({ leases: leases.report });
    beds.push(bed);
    await bed.serve([{ type: 'rateLimit', rateLimit: { limits: [{ requests: 5, per: '1s' }] } }]);
    expect(passed(await statuses(bed, 9))).to.equal(5);
    expect(leases.reports).to.equal(0);
    expect(bed.bed.proxy.leases()).to.deep.equal({ held: 0, isInContact: undefined });
  });

  it('gives back a key that no request asks for', async () => {
    const bed = await serve({ limits: [{ requests: 5, per: '1s' }] });
    await eventually(async () => {
      expect((await bed.ask()).status).to.equal(200);
      expect(bed.bed.proxy.leases()).to.deep.equal({ held: 1, isInContact: true });
    });
    await eventually(() => expect(bed.bed.proxy.leases().held).to.equal(0));
    await passesAll(bed, 2);
  });

  it('counts the tokens that were taken and refused', async () => {
    const bed = new MiddlewareBed({ leases: leases.of('p') });
    beds.push(bed);
    const listener = { metrics: { path: '/own-metrics' } };
    await bed.serve([limiter({ limits: [{ requests: 3, per: '24h' }] })], { listener });
    await passesAll(bed, 3);
    await eventually(async () => expect((await bed.ask()).status).to.equal(429));
    const { body } = await bed.ask({ path: '/own-metrics' });
    const count = (result: string): number =>
      Number(new RegExp(`sluice_rate_limit_tokens_total\\{.*result="${result}"\\} (\\d+)`).exec(body)?.[1]);
    expect(count('taken')).to.equal(3);
    expect(count('refused')).to.be.at.least(1);
  });
});
