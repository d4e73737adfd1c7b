import { expect } from 'chai';
import { perKind } from '../../../src/model/kinds.ts';
import { holdersIn, listingOf, scanEntities } from '../../../src/snapshot/listing.ts';
import type { Stored } from '../../../src/state/view.ts';

describe('the lists of a capture', () => {
  let parsed: number;
  beforeEach(() => {
    parsed = 0;
  });
  const entity = (id: string, holdsReferences = false): Stored =>
    ({
      id,
      holdsReferences,
      get spec() {
        parsed++;
        return { id };
      },
    }) as unknown as Stored;
  const listsOf = (routes: readonly Stored[]) => perKind((kind) => (kind === 'routes' ? routes : []));

  it('are looked through once, and not in one piece', () => {
    const routes = Array.from({ length: 10_000 }, (_, i) => entity(`r${i}`, i % 1_000 === 7));
    const lists = listsOf(routes);
    let most = 0;
    let before = 0;
    for (const _ of scanEntities(lists)) {
      most = Math.max(most, parsed - before);
      before = parsed;
    }
    expect(most).to.be.within(1, 500);
    expect([...scanEntities(lists)]).to.deep.equal([]);
    expect(listingOf('routes', routes).specs).to.have.length(10_000);
    expect(holdersIn(lists).map(({ kind, entity: { id } }) => [kind, id])).to.deep.equal(
      Array.from({ length: 10 }, (_, i) => ['routes', `r${i * 1_000 + 7}`]),
    );
    expect(parsed).to.equal(10_000);
  });

  it('are those that are asked for, whichever were looked through last', () => {
    const [first, second] = [listsOf([entity('a', true)]), listsOf([entity('b'), entity('c', true)])];
    for (const lists of [first, second, first]) {
      for (const _ of scanEntities(second));
      expect(listingOf('routes', lists.routes).specs).to.deep.equal(lists.routes.map(({ id }) => ({ id })));
      expect(holdersIn(lists).map(({ entity: { id } }) => id)).to.deep.equal(lists === first ? ['a'] : ['c']);
    }
  });
});
