import { expect } from 'chai';
import type { RankedEntry } from '../../../../src/proxy/match/route-entry.ts';
import type { RoutingTable } from '../../../../src/proxy/match/routing-table.ts';
import type { RoutedRequest, ServedSection } from '../../../../src/proxy/message/routed-request.ts';
import { hostMatches } from '../../../../src/proxy/target/host.ts';
import { matchedLength } from '../../../../src/proxy/target/path.ts';
import { seededRandom } from '../../../support/random.ts';
import { TestRequest } from '../../../support/routed-request.ts';
import { compiled, tableOf } from '../../../support/routing.ts';
import { Draw, type RandomRouting, randomRequest, randomRouting } from './random-table.ts';

/** Pairs of a table and a request; SLUICE_ORACLE_PAIRS=100000 for the long run. */
const pairs = Number(process.env.SLUICE_ORACLE_PAIRS ?? 5000);
const requestsPerTable = 25;

/** Expected result of the index: the first entry in order of which all matchers agree. */
function scan({ entries }: RoutingTable, request: RoutedRequest): RankedEntry | undefined {
  const { section } = request;
  if (!request.path.startsWith('/') || section?.isServed === false) return undefined;
  return entries.find(
    ({ route, group, hosts, path, matchers }) =>
      isBoundTo(route.listenerIds ?? [], section) &&
      isBoundTo(group?.listenerIds ?? [], section) &&
      (hosts.length === 0 || hosts.some((pattern) => hostMatches(pattern, request.host))) &&
      matchedLength(path, request.path) >= 0 &&
      matchers.every((matcher) => matcher.test(request)),
  );
}

const isBoundTo = (listenerIds: readonly string[], section: ServedSection | undefined): boolean => {
  if (listenerIds.length === 0) return true;
  if (section === undefined) return false;
  const { id, section: name } = section.listener;
  return listenerIds.includes(id) || (name !== '' && listenerIds.includes(`${id}/${name}`));
};

const nameOf = (entry: RankedEntry | undefined): string | undefined =>
  entry && `${entry.group?.name ?? ''}/${entry.route.name}`;

/** Patterns that are fine alone may not be fine composed; such tables are refused and not asked. */
function* usableTables(seed: number): Generator<{ draw: Draw; routing: RandomRouting; table: RoutingTable }> {
  for (let round = 0; round < pairs / requestsPerTable; round++) {
    const draw = new Draw(seededRandom(seed + round));
    const routing = randomRouting(draw, round % 10 === 0 ? 60 : 12);
    const { table } = compiled(routing);
    if (table !== undefined) yield { draw, routing, table };
  }
}

describe('the index of a routing table', () => {
  it(`answers as a scan over the entries does, ${pairs} times`, function () {
    this.timeout(Math.max(60_000, pairs * 50));
    let asked = 0;
    let won = 0;
    for (const { draw, routing, table } of usableTables(1)) {
      for (let i = 0; i < requestsPerTable; i++) {
        const sent = randomRequest(draw);
        const request = new TestRequest(sent);
        const found = table.match(request);
        expect(nameOf(found), JSON.stringify({ routing, sent: { ...sent, listener: sent.listener?.id } })).to.equal(
          nameOf(scan(table, request)),
        );
        asked++;
        if (found !== undefined) won++;
      }
    }
    expect(asked).to.equal(pairs);
    expect(won).to.be.within(asked * 0.2, asked * 0.9);
  });

  it('gives the same winners for any order of creation and any ids', () => {
    for (const { draw, routing, table } of usableTables(3)) {
      const other = tableOf(renamed(routing, draw));
      for (let i = 0; i < 5; i++) {
        const request = new TestRequest(randomRequest(draw));
        expect(nameOf(other.match(request)), JSON.stringify({ routing })).to.equal(nameOf(table.match(request)));
      }
    }
  });

  it('lets the id decide only between routes of one name', () => {
    const [first, second] = [{ id: 'a' }, { id: 'b' }];
    const route = { name: 'same', directResponse: { status: 200 } };
    for (const routes of [
      [first, second],
      [second, first],
    ]) {
      const table = tableOf({ routes: routes.map(({ id }) => ({ id, ...route })) });
      expect(table.match(new TestRequest())?.route.id).to.equal('a');
    }
  });
});

/** The same routes and groups under other ids, listed in another order. */
function renamed({ routes, groups }: RandomRouting, draw: Draw): RandomRouting {
  const numbers = draw.shuffled(routes.map((_, i) => i));
  const ids = new Map(routes.map(({ id }, i) => [id, `id-${numbers[i]}`]));
  const idOf = (id: string): string => ids.get(id) ?? id;
  return {
    routes: draw.shuffled(routes).map((route) => ({ ...route, id: idOf(route.id) })),
    groups: draw.shuffled(groups).map((group, i) => ({
      ...group,
      id: `g-id-${i}`,
      routeIds: (group.routeIds ?? []).map(idOf),
    })),
  };
}
