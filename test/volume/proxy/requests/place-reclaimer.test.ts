import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { ChainRecord } from '../../../../src/proxy/exchange/chain-record.ts';
import type { ExchangeEntry } from '../../../../src/proxy/exchange/entry.ts';
import { ChainCounts } from '../../../../src/proxy/requests/chain-counts.ts';
import { KnownConfigurations } from '../../../../src/proxy/requests/known-configurations.ts';
import { LastHits } from '../../../../src/proxy/requests/last-hits.ts';
import { PlaceReclaimer } from '../../../../src/proxy/requests/place-reclaimer.ts';
import { RequestHistory } from '../../../../src/proxy/requests/request-history.ts';
import { RecentRequests } from '../../../../src/proxy/requests/request-recorder.ts';
import { newRing } from '../../../../src/proxy/requests/request-ring.ts';
import { keyText } from '../../../../src/proxy/requests/shared-keys.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

type Source = Pick<Configuration, 'routes' | 'groups' | 'destinations'>;

const ids = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
const tableOf = (routeIds: readonly string[], more: Partial<Source> = {}): Source => ({
  routes: routeIds.map((id) => ({ id, name: id, middlewareIds: ['auth'] })) as unknown as Configuration['routes'],
  groups: [],
  destinations: [],
  ...more,
});

describe('places of routes that are gone', () => {
  function bed() {
    const shape = newRing(4, 2, []);
    const clock = new ManualClock();
    const chains = new ChainCounts(shape.chains);
    const hits = new LastHits(shape.hits);
    const present: Source[] = [];
    const reclaimer = new PlaceReclaimer(shape, () => present, clock);
    const serve = (...tables: Source[]): void => void present.splice(0, present.length, ...tables);
    /** Looks, and lets the time pass that workers have to give up retired places. */
    const look = async (): Promise<void> => {
      let isOver = false;
      const looked = reclaimer.look().finally(() => {
        isOver = true;
      });
      while (!isOver) {
        clock.advance(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await looked;
    };
    return { shape, clock, chains, hits, serve, look, reclaimer };
  }

  it('are not those of the configuration in force, where a later one is refused', () => {
    const known = new KnownConfigurations();
    const [first, second, third] = [1, 2, 3].map((at) => {
      return { snapshot: tableOf([`route ${at}`]) as unknown as Configuration };
    });
    if (first === undefined || second === undefined || third === undefined) throw new Error('there are three');
    known.give(first);
    known.settle(first, true);
    known.give(second);
    expect(known.list(undefined)).to.deep.equal([first.snapshot, second.snapshot]);
    known.settle(second, false);
    expect(known.list(third)).to.deep.equal([first.snapshot, third.snapshot]);
    known.give(second);
    known.give(third);
    known.settle(second, true);
    expect(known.list(undefined), 'the later one is still given').to.deep.equal([second.snapshot, third.snapshot]);
  });

  it('are free for new ones after any number of changes, and begin at nothing', async () => {
    const { chains, serve, look } = bed();
    for (let round = 0; round < 5; round++) {
      const routes = ids(`round ${round} route `, 20_000);
      serve(tableOf(routes));
      for (const id of routes) expect(chains.count(1, chains.claim(id, 'auth'), round % 2 === 1)).to.equal(true);
      const counted = round % 2 === 1 ? [0, 1] : [1, 0];
      for (const id of routes.filter((_, at) => at % 97 === 0)) expect(chains.read(id, 'auth')).to.deep.equal(counted);
      await look();
    }
    expect(chains.keys.taken).to.be.at.most(40_000);
    expect(chains.read('round 0 route 5', 'auth')).to.deep.equal([0, 0]);
    expect(chains.read('round 4 route 5', 'auth')).to.deep.equal([1, 0]);
    expect(chains.all().size).to.equal(chains.keys.taken);
  });

  it('are kept while a configuration has them, whether a route or a group names the middleware', async () => {
    const { chains, hits, serve, look } = bed();
    const [stable, grouped] = [ids('stable ', 100), ids('grouped ', 100)];
    const group = { id: 'g', name: 'g', routeIds: grouped, middlewareIds: ['limit'] };
    const destinations = [{ id: 'shop', name: 'shop' }] as unknown as Configuration['destinations'];
    serve(tableOf(stable), tableOf(grouped, { groups: [group] as unknown as Configuration['groups'], destinations }));
    const gone = ids('gone ', 140_000);
    const kept: (readonly [string, string])[] = [
      ...[...stable, ...grouped].map((id) => [id, 'auth'] as const),
      ...grouped.map((id) => [id, 'limit'] as const),
    ];
    for (const place of [...kept, ...gone.slice(0, 40_000).map((id) => [id, 'auth'] as const)])
      chains.count(0, chains.claim(...place), false);
    const hitSubjects = [...stable, 'destination/shop'];
    for (const subject of [...hitSubjects, 'destination/gone', ...gone]) hits.hit(hits.claim(subject), 5);
    await look();
    for (const place of kept) expect(chains.read(...place)).to.deep.equal([1, 0]);
    for (const subject of hitSubjects) expect(hits.read(subject)).to.equal(5);
    expect(hits.read('destination/gone')).to.equal(undefined);
    expect(new Set(hits.since(0, 1_000).map(([key]) => key))).to.deep.equal(new Set(hitSubjects.map(keyText)));
    expect([chains.keys.taken, hits.keys.taken]).to.deep.equal([kept.length, hitSubjects.length]);
  });

  it('are claimed anew by a worker that still counts there', async () => {
    const { shape, clock, chains, hits, serve, look } = bed();
    const worker = new RecentRequests(shape, 0, clock);
    const entry = {
      route: { id: 'shop', name: 'shop' },
      group: undefined,
      links: [{ id: 'auth' }],
    } as unknown as ExchangeEntry;
    const exchange = Object.assign(new StubExchange({ clock }), { destinationId: 'd' });
    const run = (): void => {
      const chain = new ChainRecord();
      chain.enter(0);
      worker.note(exchange as never, entry, clock.monotonicMs(), true, chain);
    };
    run();
    for (const id of ids('gone ', 40_000)) chains.claim(id, 'auth');
    for (const id of ids('gone ', 140_000)) hits.claim(id);
    serve(tableOf([]));
    await look();
    const history = new RequestHistory(shape);
    expect(history.chainCount('shop', 'auth')).to.deep.equal([0, 0]);
    expect([history.lastHit('shop'), history.lastHit('destination/d')]).to.deep.equal([undefined, undefined]);
    for (const id of ids('new ', 1_000)) chains.count(1, chains.claim(id, 'auth'), false);
    run();
    run();
    expect(history.chainCount('shop', 'auth')).to.deep.equal([2, 0]);
    for (const id of ids('new ', 1_000)) expect(chains.read(id, 'auth')).to.deep.equal([1, 0]);
    expect(history.lastHit('shop')).to.be.a('number').and.to.equal(history.lastHit('destination/d'));
  });

  it('are counted again once a crowded table has room', async () => {
    const { chains, serve, look } = bed();
    let claim = 0;
    for (let at = 0; claim >= 0; at++) claim = chains.claim(`gone ${at}`, 'auth');
    expect(chains.count(0, claim, false)).to.equal(true);
    serve(tableOf([]));
    await look();
    expect(chains.keys.taken).to.equal(0);
    expect(chains.count(0, claim, false)).to.equal(false);
    const anew = chains.claim('shop', 'auth');
    expect(chains.count(0, anew, false)).to.equal(true);
    expect(chains.read('shop', 'auth')).to.deep.equal([1, 0]);
  });

  it('are looked for every ten seconds, until the end', async () => {
    const { clock, chains, reclaimer } = bed();
    for (const id of ids('gone ', 40_000)) chains.claim(id, 'auth');
    reclaimer.start();
    while (chains.keys.taken > 0) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    reclaimer.close();
    clock.advance(20_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).to.equal(0);
  });
});
