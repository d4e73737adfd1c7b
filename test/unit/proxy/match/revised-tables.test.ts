import { expect } from 'chai';
import type { RankedEntry } from '../../../../src/proxy/match/route-entry.ts';
import type { RoutingTable } from '../../../../src/proxy/match/routing-table.ts';
import { seededRandom } from '../../../support/random.ts';
import { TestRequest } from '../../../support/routed-request.ts';
import { compiled } from '../../../support/routing.ts';
import { Draw, randomRequest, randomRouting } from './random-table.ts';

/** Keeps a layer over the table that it had, however small that is. */
const layeredFrom = 0;

function revised(
  table: RoutingTable,
  removed: readonly RankedEntry[],
  added: readonly RankedEntry[],
): RoutingTable | undefined {
  const steps = table.revised(removed, added, layeredFrom);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

function* tables(): Generator<{ draw: Draw; table: RoutingTable }> {
  for (let round = 0; round < 12; round++) {
    const draw = new Draw(seededRandom(40 + round));
    const { table } = compiled(randomRouting(draw, 12));
    if (table !== undefined) yield { draw, table };
  }
}

const must = (table: RoutingTable | undefined): RoutingTable => {
  if (table === undefined) throw new Error('the table was not revised');
  return table;
};

describe('a revised routing table', () => {
  it('lacks the entry that was removed, wherever it stood, and has it again once it is added', () => {
    for (const { draw, table } of tables()) {
      const requests = Array.from({ length: 20 }, () => new TestRequest(randomRequest(draw)));
      for (const entry of table.entries) {
        const without = must(revised(table, [entry], []));
        expect(without.entries).to.deep.equal(table.entries.filter((each) => each !== entry));
        for (const request of requests) expect(without.match(request)).not.to.equal(entry);
        const whole = must(revised(without, [], [entry]));
        expect(whole.entries).to.have.members(table.entries);
        for (const request of requests) expect(whole.match(request)).to.equal(table.match(request));
      }
    }
  });

  it('is none where an entry is removed that it has not', () => {
    for (const { table } of tables()) {
      for (const entry of table.entries) {
        const without = must(revised(table, [entry], []));
        expect(revised(without, [entry], [])).to.equal(undefined);
      }
    }
  });
});
