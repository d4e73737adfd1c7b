import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import fc from 'fast-check';
import { ratesOf } from '../../../../src/model/limit-rates.ts';
import type { RateLimitConfig } from '../../../../src/model/middleware/rate-limit-options.ts';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { BucketAllocator } from '../../../../src/proxy/shared/bucket-allocator.ts';
import { addressKey, textKey } from '../../../../src/proxy/shared/bucket-key.ts';
import { TokenBuckets } from '../../../../src/proxy/shared/token-buckets.ts';
import type { TakerTask } from '../../../support/bucket-taker.ts';

const ip = (i: number): string => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

describe('token buckets', () => {
  const bucketsOf = (requestsPerSecond: number, burst: number, places = 64) =>
    new TokenBuckets(TokenBuckets.memory(places), { requestsPerSecond, burst }, 12345);

  it('start full, give one token a request, and tell how long until the next', () => {
    const buckets = bucketsOf(2, 3);
    const key = () => addressKey('10.0.0.1');
    for (let i = 0; i < 3; i++) expect(buckets.take(key(), 1000)).to.equal(0);
    expect(buckets.take(key(), 1000)).to.be.closeTo(500, 0.01);
    expect(buckets.take(key(), 1499)).to.be.closeTo(1, 0.01);
    expect(buckets.take(key(), 1501)).to.equal(0);
    expect(buckets.take(key(), 1501)).to.be.greaterThan(0);
    for (let i = 0; i < 3; i++) expect(buckets.take(key(), 60_000)).to.equal(0);
    expect(buckets.take(key(), 60_000)).to.be.greaterThan(0);
  });

  it('give what a bucket that counts tokens gives', () => {
    const step = fc.record({
      address: fc.integer({ min: 0, max: 3 }),
      waitMs: fc.double({ min: 0, max: 900, noNaN: true }),
    });
    const rates = fc.record({
      rps: fc.double({ min: 0.05, max: 50, noNaN: true }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(rates, fc.array(step, { maxLength: 60 }), ({ rps, burst }, steps) => {
        const buckets = bucketsOf(rps, burst);
        const slow = new Map<number, { tokens: number; atMs: number }>();
        let nowMs = 0;
        for (const { address, waitMs } of steps) {
          nowMs += waitMs;
          const { tokens, atMs } = slow.get(address) ?? { tokens: burst, atMs: nowMs };
          const full = Math.min(burst, tokens + ((nowMs - atMs) / 1000) * rps);
          // So near to a whole token, the two may round to different sides.
          if (Math.abs(full - 1) < 1e-6 * burst) return;
          slow.set(address, { tokens: full >= 1 ? full - 1 : full, atMs: nowMs });
          const waited = buckets.take(addressKey(ip(address)), nowMs);
          expect(waited === 0).to.equal(full >= 1);
          if (waited > 0) expect(waited).to.be.closeTo(((1 - full) / rps) * 1000, 0.1);
        }
      }),
    );
  });

  for (const [rps, burst] of [
    [1_000_000, 1],
    [0.000_001, 4_294_967_295],
    [1e300, 5],
    [1e-300, 5],
    [0.5, 1],
  ] as const) {
    it(`keep their limit at ${rps} requests a second with a burst of ${burst}`, () => {
      const buckets = bucketsOf(rps, burst);
      const tries = Math.min(burst, 50);
      for (let i = 0; i < tries; i++) expect(buckets.take(addressKey('10.0.0.1'), 1)).to.equal(0);
      if (burst <= 50) expect(buckets.take(addressKey('10.0.0.1'), 1)).to.be.greaterThan(0);
    });
  }

  it('count as empty where a slower limiter that had their memory before still takes from them', () => {
    const memory = TokenBuckets.memory(64);
    const former = new TokenBuckets(memory, { requestsPerSecond: 1 / 86_400, burst: 1 }, 12345);
    const buckets = new TokenBuckets(memory, { requestsPerSecond: 1, burst: 2 }, 12345);
    const key = () => addressKey('10.0.0.1');
    expect(former.take(key(), 1_000)).to.equal(0);
    expect(buckets.take(key(), 1_000)).to.be.closeTo(1_000, 0.01);
    expect(buckets.take(key(), 2_001)).to.equal(0);
    expect(former.takeSome(key(), 0.5, 60_000)).to.equal(true);
    expect(buckets.waitMs(key(), 1, 60_000)).to.be.closeTo(1_000, 0.01);
    expect(buckets.takeSome(key(), 1, 61_001)).to.equal(true);
  });

  it('tell any number of addresses apart within a block of fixed size, and forget those that are full first', () => {
    const buckets = bucketsOf(0.1, 2, 1024);
    for (let i = 0; i < 2; i++) expect(buckets.take(addressKey('192.0.2.1'), 0)).to.equal(0);
    // Each of these is full again after ten seconds: the one that has nothing left outlives them.
    for (let i = 0; i < 2000; i++) buckets.take(addressKey(ip(i)), i * 5);
    expect(buckets.take(addressKey('192.0.2.1'), 10_000 - 1)).to.be.greaterThan(0);
    for (let i = 0; i < 100_000; i++) buckets.take(addressKey(ip(i)), 20_000);
    expect(buckets.take(addressKey('192.0.2.1'), 20_000)).to.equal(0);
  });

  it('take costs, fractions and none too, and give them back', () => {
    const buckets = bucketsOf(1, 5);
    const key = addressKey('10.0.0.1');
    expect(buckets.waitMs(key, 6, 0)).to.equal(Number.POSITIVE_INFINITY);
    expect(buckets.takeSome(key, 6, 0)).to.equal(false);
    expect(buckets.tokens(key, 0)).to.equal(5);
    expect(buckets.takeSome(key, 3.5, 0)).to.equal(true);
    expect(buckets.tokens(key, 0)).to.equal(1);
    expect(buckets.waitMs(key, 2, 0)).to.be.closeTo(500, 0.01);
    expect(buckets.takeSome(key, 2, 0)).to.equal(false);
    expect(buckets.fullInMs(key, 0)).to.be.closeTo(3500, 0.01);
    buckets.giveBack(key, 2.5);
    expect(buckets.tokens(key, 0)).to.equal(4);
    expect(buckets.takeSome(key, 4, 0)).to.equal(true);
    expect(buckets.takeSome(key, 0, 0)).to.equal(true);
    expect(buckets.take(key, 0)).to.be.greaterThan(0);
    expect(buckets.takeSome(key, 5, 60_000)).to.equal(true);
    expect(buckets.tokens(key, 60_000)).to.equal(0);
  });

  it('are exact when several threads take at once: 100 allowed are 100', async () => {
    const takers = 3;
    const task: TakerTask = {
      memory: TokenBuckets.memory(1024),
      rate: { requestsPerSecond: 1, burst: 100 },
      addresses: Array.from({ length: 20 }, (_, i) => ip(i)),
      tries: 90,
      gate: new SharedArrayBuffer(4),
      takers,
    };
    const url = new URL('../../../support/bucket-taker.ts', import.meta.url);
    const threads = Array.from({ length: takers }, () => new Worker(url, { workerData: task }));
    const counts = await Promise.all(threads.map(async (thread) => (await once(thread, 'message'))[0] as number[]));
    await Promise.all(threads.map((thread) => thread.terminate()));
    task.addresses.forEach((address, i) => {
      expect(
        counts.reduce((sum, taken) => sum + (taken[i] ?? 0), 0),
        address,
      ).to.equal(100);
    });
  });
});

describe('address keys', () => {
  const key = (address: string): string => {
    const { high, low } = addressKey(address);
    return `${high >>> 0}:${low >>> 0}`;
  };
  const same: readonly (readonly [string, string])[] = [
    ['10.0.0.1', '::ffff:10.0.0.1'],
    ['10.0.0.1', '::FFFF:0a00:0001'],
    ['10.0.0.1', '0:0:0:0:0:ffff:10.0.0.1'],
    ['2001:db8::1', '2001:db8::2'],
    ['2001:db8::1', '2001:0DB8:0:0:ffff:1:2:3'],
    ['fe80::1%eth0', 'fe80::1'],
  ];
  for (const [a, b] of same) it(`${a} and ${b} are one client`, () => expect(key(a)).to.equal(key(b)));
  const different: readonly (readonly [string, string])[] = [
    ['10.0.0.1', '10.0.0.2'],
    ['10.0.0.1', '1.0.0.10'],
    ['2001:db8::1', '2001:db8:0:1::1'],
    ['255.255.255.255', '::'],
    ['::1', '1:0:0:0::'],
  ];
  for (const [a, b] of different) it(`${a} and ${b} are two`, () => expect(key(a)).to.not.equal(key(b)));
  it('are never both zero, which is a free place', () => {
    for (const address of ['::', '::1', '0.0.0.0', '', 'unknown']) expect(key(address), address).to.not.equal('0:0');
  });
});

describe('text keys', () => {
  /** Vector of the reference implementation: an empty input under the key 00 01 … 07. */
  it('are HalfSipHash-2-4', () => {
    const { high, low } = textKey('', 0x0302_0100, 0x0706_0504);
    expect([(low >>> 0).toString(16), (high >>> 0).toString(16)]).to.deep.equal(['591f8d21', 'c83cb8b9']);
  });

  it('tell 100,000 texts apart, and differ by seed', () => {
    const keyOf = (text: string, seed: number): string => {
      const { high, low } = textKey(text, seed, 7);
      return `${high}:${low}`;
    };
    const keys = new Set(Array.from({ length: 100_000 }, (_, i) => keyOf(`tenant-${i}`, 1)));
    for (const text of ['', '\0', '\0\0', 'é', 'e\u0301']) keys.add(keyOf(text, 1));
    expect(keys.size).to.equal(100_005);
    expect(keyOf('a', 1)).to.not.equal(keyOf('a', 2));
  });
});

describe('the book of blocks', () => {
  const none: ReadonlySet<SharedArrayBuffer> = new Set();
  const limiter = (id: string, rateLimit?: RateLimitConfig): Middleware => ({
    id,
    name: id,
    type: 'rateLimit',
    ...(rateLimit && { rateLimit }),
  });

  it('gives an unchanged limiter the block it has, and a changed one another', () => {
    const book = new BucketAllocator();
    const first = book.blocksFor([limiter('a', { requestsPerSecond: 5 }), limiter('b')]);
    book.keep([limiter('a', { requestsPerSecond: 5 }), limiter('b')], none);
    const second = book.blocksFor([
      { ...limiter('a', { requestsPerSecond: 5, trustedProxies: ['10.0.0.1'] }), name: 'other' },
      limiter('b', { burst: 3 }),
    ]);
    expect(second.get('a')?.[0]).to.equal(first.get('a')?.[0]);
    expect(second.get('b')?.[0]).to.not.equal(first.get('b')?.[0]);
    expect(first.get('a')?.[0]).to.not.equal(first.get('b')?.[0]);
  });

  it('keeps the block of each limit that stays, and has one for each of two alike', () => {
    const book = new BucketAllocator();
    const [minute, hour, day] = [
      { requests: 5, per: '1m' },
      { requests: 50, per: '1h' },
      { requests: 500, per: '24h' },
    ] as const;
    const blocksOf = (config: RateLimitConfig) => book.blocksFor([limiter('a', config)]).get('a') ?? [];
    const first = blocksOf({ limits: [minute, hour] });
    const second = blocksOf({ limits: [day, hour, minute], cost: '2' });
    expect(second.map((block) => first.indexOf(block))).to.deep.equal([-1, 1, 0]);
    const twice = blocksOf({ limits: [hour, { ...hour, burst: 50 }] });
    expect(twice[0]).to.equal(first[1]);
    expect(twice[1]).to.not.equal(first[1]);
    expect(blocksOf({ limits: [minute], key: 'request.path' })).to.not.include(first[0]);
  });

  it('forgets what is not kept, and only then', () => {
    const book = new BucketAllocator();
    const first = book.blocksFor([limiter('a')]).get('a')?.[0];
    book.blocksFor([]);
    expect(book.blocksFor([limiter('a')]).get('a')?.[0]).to.equal(first);
    const used = new TokenBuckets(first ?? expect.fail('no block'), { requestsPerSecond: 1, burst: 1 }, 1);
    const key = addressKey('10.0.0.1');
    expect([used.take(key, 0), used.take(key, 0)]).to.deep.equal([0, 1000]);
    book.keep([], none);
    const second = book.blocksFor([limiter('a')]).get('a')?.[0] ?? expect.fail('no block');
    expect(new TokenBuckets(second, { requestsPerSecond: 1, burst: 1 }, 1).take(key, 0)).to.equal(0);
  });

  it('allocates nothing for limiters that change with each activation, and shares no block of two that stand', () => {
    const book = new BucketAllocator();
    const blocks = new Set<SharedArrayBuffer | undefined>();
    for (let activation = 0; activation < 100; activation++) {
      const limiters = [limiter('a', { burst: 1 + (activation % 7) }), limiter('b', { burst: 10 + (activation % 5) })];
      const given = limiters.map(({ id }, _, all) => book.blocksFor(all).get(id)?.[0]);
      expect(given[0]).to.not.equal(given[1]);
      for (const block of given) blocks.add(block);
      book.keep(limiters, none);
    }
    expect(blocks.size).to.be.at.most(4);
  });

  it('gives a block of which the cluster still has parts to no other limiter, and back to its own', () => {
    const book = new BucketAllocator();
    const leased = (burst: number) =>
      limiter('a', { limits: [{ requests: 5, per: '1m', burst }], scope: 'cluster' as const });
    const blockOf = (burst: number) => book.blocksFor([leased(burst)]).get('a')?.[0] ?? expect.fail('no block');
    const first = blockOf(1);
    const second = blockOf(2);
    book.keep([leased(2)], new Set([first, second]));
    expect(blockOf(3)).to.not.be.oneOf([first, second]);
    expect(blockOf(1)).to.equal(first);
  });

  it('allocates nothing for limits of the cluster that change with each activation', () => {
    const book = new BucketAllocator();
    const blocks = new Set<SharedArrayBuffer | undefined>();
    for (let activation = 0; activation < 50; activation++) {
      const limiters = [limiter('a', { requestsPerSecond: 1 + activation, scope: 'cluster' })];
      const block = book.blocksFor(limiters).get('a')?.[0] ?? expect.fail('no block');
      expect(new Uint8Array(block).every((byte) => byte === 0)).to.equal(true);
      new Uint8Array(block).fill(1);
      blocks.add(block);
      book.keep(limiters, new Set([block]));
    }
    expect(blocks.size).to.be.at.most(3);
  });

  it('divides its memory among very many limiters', () => {
    const many = Array.from({ length: 5000 }, (_, i) => limiter(String(i)));
    const [block] = new BucketAllocator().blocksFor(many).values();
    expect((block?.[0]?.byteLength ?? 0) * many.length).to.be.lessThanOrEqual(512 * 1024 * 1024);
  });

  const rates: readonly (readonly [RateLimitConfig, number, number])[] = [
    [{}, 10, 10],
    [{ requestsPerSecond: 0 }, 10, 10],
    [{ requestsPerSecond: -3 }, 10, 10],
    [{ requestsPerSecond: 0.5 }, 0.5, 1],
    [{ requestsPerSecond: 2.1 }, 2.1, 3],
    [{ requestsPerSecond: 2, burst: 0 }, 2, 2],
    [{ requestsPerSecond: 2, burst: 7 }, 2, 7],
  ];
  for (const [config, requestsPerSecond, burst] of rates) {
    it(`${JSON.stringify(config)} means ${requestsPerSecond} a second, ${burst} at once`, () =>
      expect(ratesOf(config)).to.deep.equal([{ requestsPerSecond, burst }]));
  }
});
