// rateLimit with scope redis against a real Redis (contract.md §8.2): proxies that share it, one that is away, late or empty.
import { expect } from 'chai';
import { type Logger, silentLogger } from '../../src/telemetry/logger.ts';
import { CuttableLink } from '../support/cuttable-link.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { type Answer, MiddlewareBed, type NamedMiddleware } from '../support/middleware-bed.ts';
import { needs } from '../support/needs.ts';
import { RedisServer } from '../support/redis-server.ts';

const tenant = 'request.headers["x-tenant"]';
const limits = [{ requests: 5, per: '24h' }];

describe('a rate limit in Redis', () => {
  let redis: RedisServer;
  const beds: MiddlewareBed[] = [];
  before(async function () {
    needs(this, 'redis-server');
    redis = await RedisServer.start();
  });
  beforeEach(() => redis.command('FLUSHALL'));
  afterEach(async () => {
    await Promise.all(beds.splice(0).map((bed) => bed.end()));
  });
  after(() => redis?.kill());

  const limiter = (rateLimit: object): NamedMiddleware => ({
    type: 'rateLimit',
    rateLimit: { scope: 'redis', failureMode: 'deny', ...rateLimit },
  });
  const serve = async (
    rateLimit: object,
    {
      port = redis.port,
      workers = 1,
      logger = silentLogger,
    }: { port?: number; workers?: number; logger?: Logger } = {},
  ): Promise<MiddlewareBed> => {
    const bed = new MiddlewareBed({
      sessionStore: { type: 'redis', address: { host: '127.0.0.1', port }, db: 0 },
      workers,
      logger,
    });
    beds.push(bed);
    await bed.serve([limiter(rateLimit)]);
    await reaches(bed, true);
    return bed;
  };
  const reaches = (bed: MiddlewareBed, yes: boolean) =>
    eventually(() => {
      const { stores } = bed.bed.proxy.upstreams();
      expect(stores.map(({ reached }) => reached)).to.not.include(!yes);
      expect(stores).to.not.have.length(0);
    });
  /** Asks until Redis has answered in time: a machine that is busy makes it late. */
  const answered = (bed: MiddlewareBed, headers = {}): Promise<Answer> =>
    eventually(async () => {
      const answer = await bed.ask({ headers });
      expect(answer.status, answer.body).to.not.equal(503);
      return answer;
    });
  /** Asks under a new name each time until one passes: an answer that comes too late has taken its tokens. */
  const afresh = <T extends { readonly paid: Answer }>(ask: (name: string) => Promise<T>): Promise<T> => {
    let turn = 0;
    return eventually(async () => {
      const asked = await ask(`new ${++turn}`);
      expect(asked.paid.status, asked.paid.body).to.equal(200);
      return asked;
    });
  };
  /** Asks until it is refused; returns how many passed, and how many were denied, which may have taken tokens. */
  const drain = async (bed: MiddlewareBed, headers = {}): Promise<{ passed: number; denied: number }> => {
    const counts = { passed: 0, denied: 0 };
    for (;;) {
      const { status } = await bed.ask({ headers });
      if (status === 429) return counts;
      if (status === 200) counts.passed++;
      else counts.denied++;
    }
  };

  it('passes one bucket over two proxies and their workers, however many ask at a time', async () => {
    const rateLimit = { limits: [{ requests: 40, per: '24h' }] };
    const both = [await serve(rateLimit, { workers: 2 }), await serve(rateLimit, { workers: 2 })];
    const asked = both.flatMap((bed) => Array.from({ length: 40 }, () => bed.ask()));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    const left = await drain(both[0] as MiddlewareBed);
    const passed = left.passed + statuses.filter((status) => status === 200).length;
    const denied = left.denied + statuses.filter((status) => status === 503).length;
    expect(passed).to.be.at.most(40);
    expect(passed + denied).to.be.at.least(40);
    expect(await redis.command('KEYS *')).to.match(/^\*1\r\n\$\d+\r\nsluice:limit:\{a\S+\}:\S{22}\r\n$/);
    const refused = await answered(both[1] as MiddlewareBed);
    expect([refused.status, refused.body]).to.deep.equal([429, '{"error":"rate limit exceeded"}']);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 2_160);
  });

  it('tells the limits, counts each key apart, and gives tokens back at their rate', async () => {
    const bed = await serve({ key: tenant, limits: [{ requests: 2, per: '1s' }] });
    const first = await answered(bed, { 'x-tenant': 'blue' });
    expect(first.headers['ratelimit-policy']).to.equal('"2/1s";q=2;w=1');
    expect(first.headers.ratelimit).to.match(/^"2\/1s";r=[01];t=1$/);
    await drain(bed, { 'x-tenant': 'blue' });
    expect((await answered(bed, { 'x-tenant': 'green' })).status).to.equal(200);
    await eventually(async () => expect((await bed.ask({ headers: { 'x-tenant': 'blue' } })).status).to.equal(200));
    await eventually(async () => expect(await redis.command('DBSIZE'), 'full buckets are gone').to.equal(':0\r\n'));
  });

  it('takes the cost from every limit or from none, and nothing for one that can never pass', async () => {
    const windows = [
      { requests: 10, per: '24h' },
      { requests: 4, per: '24h' },
    ];
    const bed = await serve({ key: tenant, cost: 'double(request.headers["x-cost"])', limits: windows });
    const headers = (cost: number | string, name: string) => ({ 'x-cost': String(cost), 'x-tenant': name });
    const ask = (cost: number | string, name = 'blue') => answered(bed, headers(cost, name));
    expect((await ask(0)).headers.ratelimit).to.equal('"10/86400s";r=10;t=0, "4/86400s";r=4;t=0');
    const never = await ask(5);
    expect([never.status, never.headers['retry-after']]).to.deep.equal([429, undefined]);
    expect((await ask('1e300')).status).to.equal(429);
    expect((await ask(0)).headers.ratelimit).to.contain('r=10;t=0');
    const { name, paid } = await afresh(async (each) => ({
      name: each,
      paid: await bed.ask({ headers: headers(3, each) }),
    }));
    expect(paid.headers.ratelimit).to.equal('"10/86400s";r=7;t=25920, "4/86400s";r=1;t=64800');
    const refused = await ask(2, name);
    expect(refused.status).to.equal(429);
    // Tokens come back meanwhile.
    const after = refused.headers['retry-after'];
    expect(Number(after)).to.be.within(21_400, 21_600);
    expect(refused.headers.ratelimit).to.match(
      new RegExp(`^"10/86400s";r=7;t=25[89]\\d\\d, "4/86400s";r=1;t=${after}$`),
    );
  });

  it('goes on with a Redis that has forgotten the script, or was started anew', async () => {
    const bed = await serve({ key: tenant, limits });
    await answered(bed);
    await redis.command('SCRIPT FLUSH');
    await answered(bed);
    await redis.kill();
    await reaches(bed, false);
    await redis.start();
    await reaches(bed, true);
    const { paid } = await afresh(async (name) => ({ paid: await bed.ask({ headers: { 'x-tenant': name } }) }));
    expect(paid.headers.ratelimit).to.match(/^"5\/86400s";r=4;/);
  });

  it('keeps its buckets over an activation that leaves it as it is', async () => {
    const bed = await serve({ limits });
    await drain(bed);
    await bed.serve([limiter({ limits, failureMode: 'process' }), { type: 'cors', cors: {} }]);
    await bed.serve([limiter({ limits }), { type: 'cors', cors: {} }]);
    expect((await answered(bed)).status).to.equal(429);
  });

  describe('that does not answer', () => {
    /** Answers to so many requests while Redis is away, and the counts of the limiter. */
    const away = async (failureMode: string, count: number) => {
      const bed = await serve({ limits, failureMode });
      await bed.serve([limiter({ limits, failureMode })], { listener: { metrics: { path: '/own-metrics' } } });
      await redis.kill();
      try {
        await reaches(bed, false);
        const answers: Answer[] = [];
        for (let n = 0; n < count; n++) answers.push(await bed.ask());
        const { text } = await call(`http://127.0.0.1:${bed.port}`, 'GET', '/own-metrics');
        const failed = /sluice_rate_limit_store_requests_total\{.*result="failed"\} (\d+)/.exec(text)?.[1];
        return { answers, failed: Number(failed) };
      } finally {
        await redis.start();
      }
    };

    it('counts in the process by default, with the same limits', async () => {
      const { answers, failed } = await away('process', 7);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 429, 429]);
      expect(answers[0]?.headers.ratelimit).to.equal('"5/86400s";r=4;t=17280');
      expect(failed).to.equal(7);
    });

    it('denies where it is to, and passes uncounted where that is allowed: each request is counted', async () => {
      const denied = await away('deny', 2);
      expect(denied.answers.map(({ status, body }) => [status, body])).to.deep.equal(
        Array(2).fill([503, '{"error":"rate limit store unavailable"}']),
      );
      expect(denied.answers[0]?.headers['retry-after']).to.equal('1');
      expect(denied.failed).to.equal(2);
      const allowed = await away('allow', 8);
      expect(allowed.answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
      expect(allowed.answers[0]?.headers).to.include({ 'ratelimit-policy': '"5/86400s";q=5;w=86400' });
      expect(allowed.answers[0]?.headers).to.not.have.property('ratelimit');
      expect(allowed.failed).to.equal(8);
    });

    it('in time is not waited for', async () => {
      const link = await CuttableLink.to(redis.port);
      try {
        const bed = await serve({ limits }, { port: link.port });
        await answered(bed);
        link.pass({ there: { state: 'open', delayMs: 60_000 } });
        expect((await bed.ask()).status).to.equal(503);
      } finally {
        await link.close();
      }
    });

    it('because it takes no writes is named in the log once, until it takes them again', async () => {
      const told: string[] = [];
      const warn: Logger['warn'] = (_, message) => void told.push(message);
      const logger: Logger = { ...silentLogger, child: () => logger, warn };
      const refusal = 'Redis refuses rate limits: they go by their failureMode until it takes them';
      const refusals = () => told.filter((message) => message === refusal);
      const bed = await serve({ limits: [{ requests: 1_000, per: '24h' }] }, { logger });
      for (const times of [1, 2]) {
        await redis.command('CONFIG SET min-replicas-to-write 1');
        try {
          await eventually(async () => {
            expect((await bed.ask()).status).to.equal(503);
            expect(refusals()).to.have.length(times);
          });
          for (let n = 0; n < 3; n++) expect((await bed.ask()).status).to.equal(503);
          expect(refusals()).to.have.length(times);
        } finally {
          await redis.command('CONFIG SET min-replicas-to-write 0');
        }
        expect((await answered(bed)).status).to.equal(200);
      }
    });

    it('is named in the log where none is set, and its failureMode counts', async () => {
      const told: unknown[] = [];
      const logger: Logger = { ...silentLogger, child: () => logger, warn: (fields) => void told.push(fields) };
      const bed = new MiddlewareBed({ logger });
      beds.push(bed);
      await bed.serve([limiter({ limits })]);
      expect((await bed.ask()).status).to.equal(503);
      await eventually(() => expect(told).to.deep.include({ middleware: 'm0', failureMode: 'deny' }));
    });
  });
});
