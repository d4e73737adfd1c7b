// A table of entities against a map, through rounds small and large, asked before and after they are settled.
import { expect } from 'chai';
import fc from 'fast-check';
import { type Named, Table } from '../../../src/state/table.ts';
import { drain } from '../../../src/util/time-slice.ts';

const byId = (a: Named, b: Named): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Ids and names are few, so that names move from one entity to another. */
const change = fc.record({ id: fc.integer({ max: 150, min: 0 }), name: fc.integer({ max: 200, min: -60 }) });
const round = fc.record({
  changes: fc.oneof(
    fc.array(change, { maxLength: 5 }),
    fc.array(change, { minLength: 200, maxLength: 300, size: 'max' }),
  ),
  isSettled: fc.boolean(),
});

describe('a table', () => {
  it('shows after each round what a map would', () => {
    const property = fc.property(fc.array(round, { maxLength: 6 }), (rounds) => {
      const table = new Table<Named>(byId);
      const model = new Map<string, Named>();
      const idOf = (name: string): string | undefined => [...model.values()].find((item) => item.name === name)?.id;
      const expectAll = (): void => {
        expect(table.list()).to.deep.equal([...model.values()].sort(byId));
        for (let at = 0; at <= 150; at++) expect(table.get(String(at))).to.equal(model.get(String(at)));
        for (let name = 0; name <= 200; name++) expect(table.idOf(`n${name}`)).to.equal(idOf(`n${name}`));
      };
      for (const { changes, isSettled } of rounds) {
        drain(table.settle());
        const overlay = table.overlay();
        for (const { id, name } of changes) {
          const item = { id: String(id), name: `n${name}` };
          const holder = overlay.idOf(item.name);
          expect(holder).to.equal(idOf(item.name));
          if (name < 0) {
            overlay.delete(item.id);
            model.delete(item.id);
          } else if (holder === undefined || holder === item.id) {
            overlay.put(item);
            model.set(item.id, item);
          }
        }
        overlay.install();
        expectAll();
        if (isSettled) drain(table.settle());
        expectAll();
      }
    });
    fc.assert(property, { numRuns: 25 });
  });

  it('puts the list in order and settles in steps when much has changed', () => {
    let compared = 0;
    const table = new Table<Named>((a, b) => {
      compared += 1;
      return byId(a, b);
    });
    const overlay = table.overlay();
    for (let at = 0; at < 5_000; at++) overlay.put({ id: `i${(at * 7_919) % 5_000}`, name: `n${at}` });
    let [pieces, before] = [0, 0];
    for (const _step of overlay.sort()) {
      expect(compared - before).to.be.below(15_000);
      before = compared;
      pieces += 1;
    }
    expect(compared).to.be.above(50_000);
    expect(pieces).to.be.above(4);
    overlay.install();
    let steps = 0;
    for (const _step of table.settle()) {
      expect(table.idOf('n1')).to.equal('i2919');
      steps += 1;
    }
    expect(steps).to.equal(10_000);
    expect(table.idOf('n1')).to.equal('i2919');
  });
});
