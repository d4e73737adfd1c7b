import { expect } from 'chai';
import fc from 'fast-check';
import { type ConfigKind, configKinds } from '../../../src/model/kinds.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { emptyConfiguration, packEdits, unpackEdits } from '../../../src/proxy/worker/packed-edits.ts';
import { drain } from '../../../src/state/slices.ts';
import { aRoute, configurationOf } from '../../support/routing.ts';

const after = (former: Configuration, base: Configuration, next: Configuration): Configuration =>
  drain(unpackEdits(base, drain(packEdits(former, next))));

const textsIn = (former: Configuration, next: Configuration): number =>
  drain(packEdits(former, next)).ends.byteLength / 4;

/** Entities of every kind; the same id and text is another object each time. */
const configuration: fc.Arbitrary<Configuration> = fc
  .array(
    fc.record({
      kind: fc.constantFrom<ConfigKind>(...configKinds),
      id: fc.constantFrom('a', 'b', 'c', 'd', 'größe', '🙂'),
      text: fc.constantFrom('', 'x', 'ß'.repeat(2_000), '🙂\n"'),
    }),
    { maxLength: 20 },
  )
  .map((all) => {
    const lists = configKinds.map((kind) => {
      const own = new Map(all.filter((each) => each.kind === kind).map(({ id, text }) => [id, { id, name: id, text }]));
      return [kind, [...own.values()].sort((one, other) => (one.id < other.id ? -1 : 1))];
    });
    return Object.fromEntries(lists) as Configuration;
  });

describe('packed edits', () => {
  it('make of what a worker has what main has, along random configurations', () => {
    fc.assert(
      fc.property(fc.array(configuration, { maxLength: 6 }), (all) => {
        let mains = emptyConfiguration;
        let workers = emptyConfiguration;
        for (const next of all) {
          const before = workers;
          workers = after(mains, workers, next);
          expect(workers).to.deep.equal(next);
          for (const kind of configKinds) {
            for (const entity of workers[kind]) {
              const same = before[kind].find((each) => JSON.stringify(each) === JSON.stringify(entity));
              if (same !== undefined) expect(entity, 'what has not changed is the same object').to.equal(same);
            }
          }
          mains = next;
        }
      }),
    );
  });

  it('carry the text of what has changed and of nothing else', () => {
    const routes = Array.from({ length: 500 }, (_, at) => aRoute(`r${String(at).padStart(4, '0')}`));
    const first = configurationOf({ routes });
    const second = configurationOf({ routes: routes.with(100, aRoute('r0100', { pathPrefix: '/new' })) });
    const copied = configurationOf({ routes: routes.map((route) => ({ ...route })) });
    expect(textsIn(emptyConfiguration, first)).to.equal(500);
    expect(textsIn(first, second)).to.equal(1);
    expect(textsIn(first, copied)).to.equal(0);
    expect(textsIn(first, configurationOf({ routes: routes.slice(1) }))).to.equal(0);
  });
});
