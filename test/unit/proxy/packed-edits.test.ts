import { expect } from 'chai';
import fc from 'fast-check';
import { type ConfigKind, configKinds } from '../../../src/model/kinds.ts';
import { type Configuration, listOf } from '../../../src/model/proxy-config.ts';
import { Route } from '../../../src/model/route.ts';
import { fieldsOf } from '../../../src/model/schema.ts';
import { emptyConfiguration, packEdits, unpackEdits } from '../../../src/proxy/worker/packed-edits.ts';
import { PackedRoute } from '../../../src/proxy/worker/packed-route.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { aRoute, configurationOf } from '../../support/routing.ts';

const changed = (former: Configuration, base: Configuration, next: Configuration, packedMin?: number): Configuration =>
  drain(unpackEdits(base, drain(packEdits(former, next)), packedMin));

const textsIn = (former: Configuration, next: Configuration): number =>
  drain(packEdits(former, next)).ends.byteLength / 12;

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
          workers = changed(mains, workers, next);
          expect(workers).to.deep.equal(next);
          for (const kind of configKinds) {
            for (const entity of listOf(workers, kind)) {
              const same = listOf(before, kind).find((each) => JSON.stringify(each) === JSON.stringify(entity));
              if (same !== undefined) expect(entity, 'what has not changed is the same object').to.equal(same);
            }
          }
          mains = next;
        }
      }),
    );
  });

  it('leave many new routes as text, which say what they are when they are asked', () => {
    fc.assert(
      fc.property(configuration, configuration, (first, second) => {
        const packed = changed(emptyConfiguration, emptyConfiguration, first, 1);
        const next = changed(first, packed, second, 1);
        expect(JSON.parse(JSON.stringify(next))).to.deep.equal(second);
        expect(next.routes.map(({ id, name }) => ({ id, name }))).to.deep.equal(
          second.routes.map(({ id, name }) => ({ id, name })),
        );
        for (const [at, { id }] of first.routes.entries()) {
          if (second.routes.some((each) => JSON.stringify(each) === JSON.stringify(first.routes[at])))
            expect(next.routes).to.include(packed.routes[at], id);
        }
      }),
    );
    const routes = [
      aRoute('a', { path: '/a' }, { name: '', middlewareIds: ['m'], middlewareOverrides: { m: { disabled: true } } }),
      aRoute('b', {}, { redirect: { path: '/ß' } }),
      aRoute('c', {}, { directResponse: { status: 200, body: 'é' }, priority: 7, listenerIds: ['l/s'] }),
    ];
    const packed = changed(emptyConfiguration, emptyConfiguration, configurationOf({ routes }), 3);
    for (const [at, route] of routes.entries()) {
      const fields = fieldsOf(Route).keys();
      const all = Object.fromEntries(Array.from(fields, (name) => [name, Reflect.get(packed.routes[at] ?? {}, name)]));
      expect(JSON.parse(JSON.stringify(all))).to.deep.equal(route);
      expect(packed.routes[at]).to.be.instanceOf(PackedRoute);
    }
  });

  it('take texts that are known as they are', () => {
    const routes = [aRoute('a'), aRoute('b', { path: '/b' }), aRoute('c')];
    const [former, next] = [configurationOf({ routes: routes.slice(0, 1) }), configurationOf({ routes })];
    const known = { ...aRoute('c'), name: 'c', match: { path: '/known' } };
    const textOf = (kind: ConfigKind, place: number): string | undefined =>
      kind === 'routes' && place === 2 ? JSON.stringify(known) : undefined;
    const made = drain(unpackEdits(former, drain(packEdits(former, next, textOf))));
    expect(made.routes).to.deep.equal([...routes.slice(0, 2), known]);
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
