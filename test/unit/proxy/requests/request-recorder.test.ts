import { expect } from 'chai';
import fc from 'fast-check';
import { ChainRecord } from '../../../../src/proxy/exchange/chain-record.ts';
import type { ExchangeEntry } from '../../../../src/proxy/exchange/entry.ts';
import { parameterNames } from '../../../../src/proxy/requests/parameter-names.ts';
import { RequestHistory } from '../../../../src/proxy/requests/request-history.ts';
import { RecentRequests } from '../../../../src/proxy/requests/request-recorder.ts';
import { newRing, RequestRing } from '../../../../src/proxy/requests/request-ring.ts';
import { Sampling } from '../../../../src/proxy/requests/sampling.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { seededRandom } from '../../../support/random.ts';
import { rejection } from '../../../support/rejection.ts';
import { StubExchange, type StubRequest } from '../../../support/stub-exchange.ts';

const entry = {
  route: { id: 'r1', name: 'shop "ünïcode"' },
  group: { id: 'g1', name: 'all' },
  links: [],
} as unknown as ExchangeEntry;

const noChain = new ChainRecord();

describe('recent requests', () => {
  const clock = new ManualClock();

  function remember(slots: number, headers: readonly string[] = [], workers = 1, query: readonly string[] = []) {
    const shape = newRing(slots, workers, headers, query);
    const memories = Array.from({ length: workers }, (_, place) => new RecentRequests(shape, place, clock));
    const note = (request: StubRequest, change: Partial<StubExchange> = {}, place = 0, wasRead = true): void => {
      const exchange = new StubExchange({ clock, ...request });
      exchange.response.status = 200;
      Object.assign(exchange, change);
      memories[place]?.note(exchange as never, wasRead ? entry : undefined, clock.monotonicMs(), wasRead, noChain);
    };
    return { shape, note, history: new RequestHistory(shape) };
  }

  it('are searched for a second of work at most, with a pause behind each', async () => {
    const { note, shape } = remember(100);
    for (let i = 0; i < 20; i++) note({ path: `/${i}` });
    let nowMs = 0;
    let asked = 0;
    const slow = (): boolean => {
      nowMs += 90;
      asked++;
      return true;
    };
    const history = new RequestHistory(shape, () => nowMs);
    expect(await history.list(11, slow)).to.have.lengthOf(11);
    asked = 0;
    const refused = await rejection(history.list(20, slow));
    expect(refused).to.include({ code: 'INVALID', message: 'where: takes too long for so many requests' });
    expect(asked).to.equal(12);
  });

  it('are what was answered, without values of the query and of fields that are not listed', async () => {
    const { note, history } = remember(4, ['x-kind', 'x-none', 'x-empty', 'authorization']);
    const fields = ['X-Kind', 'a', 'X-Secret', 'CANARY', 'Cookie', 'CANARY', 'Authorization', 'CANARY', 'X-Empty', ''];
    note(
      { method: 'POST', path: '/a/b', query: 'q=CANARY&page=2&CANARY&=CANARY', fields },
      { destinationId: 'd', endpoint: '10.0.0.1:80', attempts: 2, error: 'timeout' },
    );
    const [request, ...more] = await history.list(10, () => true);
    expect(more).to.deep.equal([]);
    expect(JSON.stringify(request)).not.to.contain('CANARY');
    expect(request).to.deep.equal({
      time: new Date(clock.nowMs()).toISOString(),
      method: 'POST',
      host: 'shop.example.com',
      path: '/a/b',
      params: ['q', 'page'],
      query: {},
      headers: { 'x-kind': 'a', 'x-empty': '', authorization: '[redacted]' },
      scheme: 'http',
      protocol: 'HTTP/1.1',
      listener: 'edge',
      listenerId: 'l1',
      section: 'shop',
      route: 'shop "ünïcode"',
      routeId: 'r1',
      group: 'all',
      destination: 'd',
      endpoint: '10.0.0.1:80',
      status: 200,
      attempts: 2,
      ...{ durationMs: 0, proxyMs: 0, connectMs: 0, firstByteMs: 0, transferMs: 0 },
      snapshotIndex: 7,
      role: 'stable',
      error: 'timeout',
      oneIn: 1,
    });
  });

  const phases: readonly (readonly [string, object, readonly number[]])[] = [
    ['of Sluice alone', { attempts: 0, attemptMs: -70 }, [100, 0, 0, 0]],
    ['of all four', { attempts: 2, attemptMs: 10, connectMs: 20, upstreamMs: 50 }, [10, 20, 30, 40]],
    ['of a kept connection', { attempts: 1, attemptMs: 0, connectMs: 0, upstreamMs: 99 }, [0, 0, 99, 1]],
    ['without a connection', { attempts: 1, attemptMs: 10, connectMs: -1, upstreamMs: -1 }, [10, 90, 0, 0]],
    ['without a response head', { attempts: 1, attemptMs: 10, connectMs: 20, upstreamMs: -1 }, [10, 20, 70, 0]],
  ];
  for (const [name, change, expected] of phases)
    it(`have the time of their phases: ${name}`, async () => {
      const { note, history } = remember(1);
      const startedMs = clock.monotonicMs() - 100;
      const { attemptMs } = change as { attemptMs: number };
      note({}, { ...change, startedMs, attemptMs: startedMs + attemptMs });
      const [request] = await history.list(1, () => true);
      const { proxyMs, connectMs, firstByteMs, transferMs } = request ?? {};
      expect([proxyMs, connectMs, firstByteMs, transferMs]).to.deep.equal(expected);
      expect(request?.durationMs).to.equal(100);
    });

  it('have the values of listed parameters alone, decoded, the first where there are several', async () => {
    const { note, history } = remember(2, [], 1, ['page', 'größe', 'flag', 'none']);
    note({ path: '/a', query: 'q=CANARY&page=a%26b&gr%C3%B6%C3%9Fe=7&page=2&flag' });
    const { requests, ...names } = await history.page(10, () => true);
    expect(names).to.deep.equal({ headers: [], query: ['page', 'größe', 'flag', 'none'], before: null });
    expect(requests[0]).to.deep.include({
      path: '/a',
      query: { page: 'a&b', größe: '7', flag: '' },
      params: ['q', 'page', 'gr%C3%B6%C3%9Fe', 'page'],
      lacksParams: true,
      isCut: false,
    });
    expect(JSON.stringify(requests)).not.to.contain('CANARY');
  });

  it('tell in pages what they lack', async () => {
    const { note, history } = remember(8);
    note({ path: '/0', query: 'a=1' });
    note({ path: `/${'é'.repeat(4_000)}` });
    note({ path: '/2', query: '&a=1&' });
    note({ path: '/3' }, { error: 'bad_request' }, 0, false);
    const all = await history.page(10, () => true);
    expect(all.requests.map(({ isCut, lacksParams }) => [isCut, lacksParams])).to.deep.equal([
      [true, false],
      [false, false],
      [true, false],
      [false, false],
    ]);
    const first = await history.page(3, () => true);
    expect([first.requests.length, first.before]).to.deep.equal([3, 1]);
    const second = await history.page(3, () => true, first.before ?? 0);
    expect([second.requests.map(({ path }) => path), second.before]).to.deep.equal([['/0'], null]);
  });

  it('of what could not be read say nothing but the answer', async () => {
    const { note, history } = remember(4);
    note({ path: '/of/the/request/before' }, { error: 'bad_request' }, 0, false);
    const [request] = await history.list(1, () => true);
    expect([request?.method, request?.path, request?.host, request?.error]).to.deep.equal(['', '', '', 'bad_request']);
  });

  it('are the last ones of all workers in one order, the newest first', async () => {
    const { note, history } = remember(3, [], 2);
    for (let i = 0; i < 7; i++) note({ path: `/${i}` }, {}, i % 2);
    const paths = (await history.list(10, () => true)).map(({ path }) => path);
    expect(paths).to.deep.equal(['/6', '/5', '/4']);
    expect((await history.list(1, ({ path }) => path < '/6')).map(({ path }) => path)).to.deep.equal(['/5']);
    expect(history.counts).to.deep.equal({ seen: 7, kept: 7, oneIn: 1, oneInOfErrors: 1 });
  });

  it('cut what is too long for their place, between two characters', async () => {
    const { note, history } = remember(2, ['x-long']);
    note({ path: `/${'é'.repeat(2_000)}`, fields: ['X-Long', 'v'.repeat(5_000)] });
    const [request] = await history.list(1, () => true);
    expect(request?.path).to.match(/^\/é{1500,}$/);
    expect(request?.headers['x-long']?.length).to.be.within(200, 256);
  });

  it('count the runs of each middleware of a route, those that refused apart, over all workers', () => {
    const shape = newRing(10, 2, []);
    const links = ['auth', 'limit'].map((id) => ({ id }));
    const route = { route: { id: 'shop', name: 'shop' }, group: undefined, links } as unknown as ExchangeEntry;
    const exchange = new StubExchange({ clock });
    const run = (
      worker: number,
      slots: readonly number[],
      answered?: readonly [place: number, status: number],
    ): void => {
      const chain = new ChainRecord();
      for (const slot of slots) chain.enter(slot);
      if (answered !== undefined) chain.answered(...answered);
      new RecentRequests(shape, worker, clock).note(exchange as never, route, clock.monotonicMs(), true, chain);
    };
    run(0, [0, 1]);
    run(1, [0, 1], [1, 429]);
    run(1, [0], [0, 401]);
    run(0, [1], [0, 204]);
    const history = new RequestHistory(shape);
    expect(history.chainCount('shop', 'auth')).to.deep.equal([2, 1]);
    expect(history.chainCount('shop', 'limit')).to.deep.equal([2, 1]);
    expect(history.chainCount('other', 'auth')).to.deep.equal([0, 0]);
    expect(history.chainCounts().get(history.chainKey('shop', 'limit'))).to.deep.equal([2, 1]);
  });

  it('have their path whole beside ids of 512 characters, and are sampled under them', async () => {
    const { shape, note, history } = remember(2);
    const id = (start: string): string => start.padEnd(512, 'x');
    const long = { route: { id: id('r'), name: 'r' }, group: undefined, links: [] } as unknown as ExchangeEntry;
    const recorder = new RecentRequests(shape, 0, clock);
    const exchange = new StubExchange({ clock, path: '/größe' });
    exchange.response.status = 200;
    exchange.destinationId = id('d');
    recorder.note(exchange as never, long, clock.monotonicMs(), true, noChain);
    const [request] = await history.list(1, () => true);
    expect(request).to.include({ path: '/größe', routeId: id('r'), destination: id('d'), listener: 'edge' });
    expect(new RequestRing(shape).sample(0)).to.include({ routeId: id('r'), destination: id('d'), status: 200 });
    note({ path: '/short' });
    expect((await history.list(2, () => true)).map(({ path }) => path)).to.deep.equal(['/short', '/größe']);
  });

  it('go on after a worker has crashed in the middle of one', async () => {
    const { shape, note, history } = remember(1);
    // The lock of the only slot, as the worker at place 0 leaves it.
    new Int32Array(shape.bytes)[(shape.bytes.byteLength - 1024) / 4] = 1;
    note({ path: '/lost' });
    expect(await history.list(1, () => true)).to.deep.equal([]);
    new RequestRing(shape).release(0);
    note({ path: '/after' });
    expect((await history.list(1, () => true)).map(({ path }) => path)).to.deep.equal(['/after']);
  });

  it('name parameters and never their values', () => {
    const oracle = (query: string): string =>
      query
        .split('&')
        .filter((each) => each.indexOf('=') > 0)
        .map((each) => each.slice(0, each.indexOf('=')))
        .join('&') + (query.split('&').some((each) => each !== '' && each.indexOf('=') <= 0) ? '&' : '');
    const query = fc.string({ unit: fc.constantFrom('a', 'b', '=', '&', '%'), maxLength: 24 });
    fc.assert(fc.property(query, (text) => parameterNames(text) === oracle(text)));
  });
});

describe('sampling of requests', () => {
  it('keeps all while there are few', () => {
    const sampling = new Sampling(1_000, Math.random);
    for (let i = 0; i < 900; i++) expect(sampling.take(i * 1.2)).to.equal(1);
  });

  it('keeps about so many a second of a flood, and they stand for all of it', () => {
    const sampling = new Sampling(1_000, seededRandom(7));
    let kept = 0;
    let stoodFor = 0;
    for (let i = 0; i < 200_000; i++) {
      const oneIn = sampling.take(i / 20);
      if (oneIn > 0) kept++;
      stoodFor += oneIn;
    }
    expect(kept).to.be.within(6_000, 12_000);
    expect(stoodFor / 200_000).to.be.within(0.9, 1.1);
    expect(sampling.take(1_000_000)).to.be.oneOf([0, 1]);
    for (let i = 1; i < 50; i++) expect(sampling.take(1_000_000 + i * 200)).to.equal(1);
  });
});
