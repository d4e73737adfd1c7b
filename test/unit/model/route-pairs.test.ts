import { expect } from 'chai';
import fc from 'fast-check';
import { pairsOf, routesById } from '../../../src/model/route-pairs.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { aGroup, aRoute } from '../../support/routing.ts';

describe('pairs of groups and routes', () => {
  it('are the same whether routes ascend by id or lie in another order, once or more often', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    fc.assert(
      fc.property(fc.array(ids), fc.array(fc.array(ids), { maxLength: 3 }), (listed, groups) => {
        const routes = listed.map((id) => aRoute(id));
        const all = groups.map((routeIds, at) => aGroup(`g${at}`, routeIds));
        const byId = new Map(routes.map((route) => [route.id, route]));
        for (const list of [routes, [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))]) {
          const found = drain(routesById(list));
          expect([...found.values()].map(({ id }) => id)).to.deep.equal([...new Set(list.map(({ id }) => id))]);
          const pairs = [...pairsOf(all, found)];
          const own = [...pairsOf(all, new Map(list.map((route) => [route.id, byId.get(route.id) ?? route])))];
          expect(pairs).to.deep.equal(own);
        }
      }),
    );
  });
});
