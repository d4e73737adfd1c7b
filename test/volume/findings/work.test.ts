// Work of the rules on a large table: counted, not timed.
import { expect } from 'chai';
import { rules } from '../../../src/findings/rules.ts';
import { Subject } from '../../../src/findings/subject.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { compile } from '../../../src/proxy/compile/compile.ts';
import { cleanTable } from '../../support/clean-table.ts';

const count = 5_000;
const limits = { timeouts: { request: '1s', perAttempt: '2s' } };

/** Objects whose property counts how often it is read. */
function counting<T extends object>(list: readonly T[], name: keyof T, work: { reads: number }): readonly T[] {
  return list.map((each) => {
    const get = () => {
      work.reads += 1;
      return each[name];
    };
    return Object.create(each, { [name]: { get, enumerable: true } }) as T;
  });
}

function subjectOf(configuration: Configuration, work: { reads: number }, name: 'route' | 'hosts'): Subject {
  const { table } = compile(configuration, { canRun: () => true });
  if (table === undefined) throw new Error('the table does not compile');
  return new Subject(configuration, table, counting(table.entries, name, work), { nowMs: 0 });
}

describe('rules of findings', () => {
  it('compare next to no entries of a table whose paths do not overlap', () => {
    const work = { reads: 0 };
    const subject = subjectOf(cleanTable(count), work, 'hosts');
    for (const rule of ['unreachable-route', 'ambiguous-order'] as const) {
      const steps = rules[rule]?.(subject);
      while (steps?.next().done === false);
    }
    // Some texts may have one hash.
    expect(work.reads).to.be.below(count / 50);
  });

  for (const [rule, find] of Object.entries(rules))
    it(`pause in ${rule} after few entities, however large the table is`, () => {
      const work = { reads: 0 };
      const { routes, ...rest } = cleanTable(count);
      const destinations = counting(
        routes.map(({ id }) => ({ id, name: id, host: 'a.internal', port: 80 })),
        'id',
        work,
      ) as unknown as Configuration['destinations'];
      const forwards = routes.map((route) => ({
        ...route,
        forward: { destinations: [{ destinationId: route.id }], ...limits },
      }));
      const configuration: Configuration = { ...rest, destinations, routes: counting(forwards, 'id', work) };
      const steps = find(subjectOf(configuration, work, 'route'));
      let most = 0;
      for (let isDone = false; !isDone; most = Math.max(most, work.reads)) {
        work.reads = 0;
        isDone = steps.next().done === true;
      }
      expect(most).to.be.below(count / 10);
    });
});
