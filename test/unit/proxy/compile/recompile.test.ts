import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import type { Route } from '../../../../src/model/route.ts';
import { type Compiled, compile } from '../../../../src/proxy/compile/compile.ts';
import { seededRandom } from '../../../support/random.ts';
import { TestRequest } from '../../../support/routed-request.ts';
import { aGroup, aRoute, compiled, configurationOf, type Routing } from '../../../support/routing.ts';
import { Draw, type RandomRouting, randomRequest, randomRouting } from '../match/random-table.ts';

const headers = (id: string): Middleware => ({ id, name: id, type: 'headers' });
const pointersOf = ({ problems }: Compiled): string[] => problems.map(({ pointer }) => pointer);
const entriesOf = ({ table }: Compiled) => table?.entries ?? [];

const byId = (routes: readonly Route[]): readonly Route[] =>
  [...routes].sort((one, other) => (one.id < other.id ? -1 : 1));

describe('a plain forward', () => {
  it('is made when it is first asked for, once, with what its group adds', () => {
    const forward = { destinations: [{ destinationId: 'd' }], timeouts: { request: '2s' } };
    const routing = {
      routes: [aRoute('alone', {}, { forward }), aRoute('grouped', {}, { forward })],
      groups: [aGroup('g', ['grouped'], { includeAttemptCount: true, retryDefault: { attempts: 2 } })],
    };
    const plans = entriesOf(compiled(routing)).map((entry) => {
      const { route, action } = entry;
      expect(entry.action).to.equal(action);
      return [route.name, action?.kind === 'forward' ? action.plan : undefined] as const;
    });
    const planOf = (name: string) => plans.find(([of]) => of === name)?.[1];
    expect(planOf('alone')).to.include({ routeId: 'alone', budgetMs: 2_000, attemptCount: false, retry: undefined });
    expect(planOf('grouped')).to.include({ routeId: 'grouped', budgetMs: 2_000, attemptCount: true });
    expect(planOf('grouped')?.retry?.attempts).to.equal(2);
    expect(planOf('grouped')?.choice).to.equal(planOf('alone')?.choice);
  });
});

describe('what cannot be compiled', () => {
  const broken: readonly (readonly [what: string, routing: Routing, pointer: string])[] = [
    ['a path regex', { routes: [aRoute('r', { pathRegex: '(' })] }, '/routes/r/match/pathRegex'],
    ['an expression', { routes: [aRoute('r', { cel: '1 +' })] }, '/routes/r/match/cel'],
    [
      'a header regex',
      { routes: [aRoute('r', { headers: [{ name: 'a' }, { name: 'b', value: '[', regex: true }] })] },
      '/routes/r/match/headers/1/value',
    ],
    [
      'a query regex',
      { routes: [aRoute('r', { queryParams: [{ name: 'b', value: '[', regex: true }] })] },
      '/routes/r/match/queryParams/0/value',
    ],
    [
      'a regex of the group',
      { routes: [aRoute('r')], groups: [aGroup('g', ['r'], { pathRegex: 'a)(b' })] },
      '/groups/g/pathRegex',
    ],
    [
      'a header of the group',
      { routes: [aRoute('r')], groups: [aGroup('g', ['r'], { headers: [{ name: 'a', value: '(', regex: true }] })] },
      '/groups/g/headers/0/value',
    ],
  ];
  for (const [what, routing, pointer] of broken) {
    it(`refuses the whole table when it is in a match: ${what}`, () => {
      const { routes = [], groups = [] } = routing;
      const result = compiled({ routes: [...routes, aRoute('fine')], groups });
      expect(result.table).to.equal(undefined);
      expect(pointersOf(result)).to.deep.equal([pointer]);
    });
  }

  const closing: readonly (readonly [what: string, changes: Partial<Route>, pointers: readonly string[]])[] = [
    ['a middleware that is not there', { middlewareIds: ['m', 'gone'] }, ['/routes/r/middlewareIds/1']],
    [
      'a condition',
      { middlewareIds: ['m'], middlewareOverrides: { m: { onlyWhen: ['true', '('] } } },
      ['/routes/r/middlewareOverrides/m/onlyWhen/1'],
    ],
    ['no action', { forward: undefined }, ['/routes/r']],
    ['two actions', { directResponse: { status: 200 }, redirect: { path: '/x' } }, ['/routes/r']],
    [
      'a rewrite',
      { forward: { destinations: [], rewrite: { pathRegex: { pattern: '(', substitution: '' } } } },
      ['/routes/r/forward/rewrite/pathRegex/pattern'],
    ],
  ];
  for (const [what, changes, pointers] of closing) {
    it(`closes the entry, which still wins its requests: ${what}`, () => {
      const routes = [aRoute('r', { pathPrefix: '/admin' }, changes), aRoute('open', { pathPrefix: '/' })];
      const result = compiled({ routes, middlewares: [headers('m')] });
      expect(pointersOf(result)).to.deep.equal(pointers);
      const winner = result.table?.match(new TestRequest({ target: '/admin/x' }));
      expect([winner?.route.name, winner?.closed]).to.deep.equal(['r', 'middleware_unavailable']);
      expect(result.table?.match(new TestRequest({ target: '/x' }))?.closed).to.equal(undefined);
    });
  }

  it('closes entries whose middleware cannot run, but not where it is disabled', () => {
    const routes = [
      aRoute('a', {}, { middlewareIds: ['m'] }),
      aRoute('b', {}, { middlewareIds: ['m'], middlewareOverrides: { m: { disabled: true } } }),
    ];
    const configuration = configurationOf({ routes, middlewares: [headers('m')] });
    const { table, problems } = compile(configuration, { canRun: () => false });
    expect(problems).to.deep.equal([]);
    expect(table?.entries.map(({ closed }) => closed)).to.deep.equal(['middleware_unavailable', undefined]);
  });

  it('is all told at once, each place once', () => {
    const routes = [aRoute('a', { cel: '(' }), aRoute('b', { pathRegex: '[' }, { middlewareIds: ['gone'] })];
    const groups = [aGroup('g', ['a', 'b'], { middlewareIds: ['lost'] }), aGroup('h', ['a'])];
    expect(pointersOf(compiled({ routes, groups }))).to.have.members([
      '/routes/a/match/cel',
      '/groups/g/middlewareIds/0',
      '/routes/b/match/pathRegex',
      '/routes/b/middlewareIds/0',
    ]);
  });
});

describe('a compilation that follows another', () => {
  const routes = Array.from({ length: 20 }, (_, i) =>
    aRoute(`r${i}`, { pathRegex: `/a${i}` }, { middlewareIds: ['m'] }),
  );
  const groups = [aGroup('g', ['r1', 'r2']), aGroup('h', ['r2', 'r3'])];
  const m = headers('m');
  const before: Routing = { routes, groups, middlewares: [m] };

  /** Names of the routes whose entries were made anew. */
  function renewed(after: Routing): string[] {
    const first = compiled(before);
    const known = new Set(entriesOf(first));
    const second = compiled(after, first.memory);
    return entriesOf(second)
      .filter((entry) => !known.has(entry))
      .map(({ route, group }) => `${group?.name ?? ''}/${route.name}`);
  }

  it('uses the entries again whose sources are the same objects', () => {
    expect(renewed(before)).to.deep.equal([]);
    expect(renewed({ ...before, routes: routes.with(5, { ...aRoute('r5') }) })).to.deep.equal(['/r5']);
    expect(renewed({ ...before, groups: groups.with(1, { ...aGroup('h', ['r2', 'r3']) }) })).to.have.members([
      'h/r2',
      'h/r3',
    ]);
  });

  it('makes an entry anew when its place in the group changed', () => {
    const swapped = [aGroup('g', ['r2', 'r1']), ...groups.slice(1)];
    expect(renewed({ ...before, groups: swapped })).to.have.members(['g/r1', 'g/r2']);
  });

  it('makes every entry anew whose middleware changed', () => {
    expect(renewed({ ...before, middlewares: [headers('m')] })).to.have.lengthOf(21);
    expect(renewed({ ...before, middlewares: [m, headers('n')] })).to.deep.equal([]);
  });

  it('finds problems again and forgets those that were mended', () => {
    const broken = { ...before, middlewares: [] };
    const first = compiled(broken);
    expect(first.problems).to.have.lengthOf(20);
    const second = compiled(broken, first.memory);
    expect(pointersOf(second)).to.deep.equal(pointersOf(first));
    const third = compiled(before, second.memory);
    expect(third.problems).to.deep.equal([]);
    expect(entriesOf(third).every(({ closed }) => closed === undefined)).to.equal(true);
  });

  it('opens an entry when its middleware can run at last, and closes it when it cannot any more', () => {
    const once = (can: boolean, former?: Compiled) =>
      compile(configurationOf(before), { canRun: () => can, former: former?.memory });
    const closed = once(false);
    const open = once(true, closed);
    const closedAgain = once(false, open);
    const kinds = [closed, open, closedAgain].map((each) => new Set(entriesOf(each).map((entry) => entry.closed)));
    expect(kinds.map((kind) => [...kind])).to.deep.equal([
      ['middleware_unavailable'],
      [undefined],
      ['middleware_unavailable'],
    ]);
  });

  it('goes on from the last good table after one that was refused', () => {
    const good = compiled(before);
    const refused = compiled({ ...before, routes: [...routes, aRoute('bad', { cel: '(' })] }, good.memory);
    expect(refused.table).to.equal(undefined);
    const known = new Set(entriesOf(good));
    expect(entriesOf(compiled(before, refused.memory)).every((entry) => known.has(entry))).to.equal(true);
  });

  for (const [what, layeredFrom, sort] of [
    ['one index', undefined, byId],
    ['two indexes', 0, byId],
    ['routes in no order', 0, (routes: readonly Route[]) => routes],
  ] as const) {
    it(`answers as a compilation from nothing does, along random changes: ${what}`, () => {
      const draw = new Draw(seededRandom(11));
      const first: RandomRouting = randomRouting(draw, 30);
      let routing = { ...first, routes: sort(first.routes) };
      let former = compiled(routing);
      for (let step = 0; step < 80; step++) {
        const next = changed(routing, draw);
        routing = { ...next, routes: sort(next.routes) };
        const again = compiled(routing, former.memory, layeredFrom);
        const anew = compiled(routing);
        expect(again.problems).to.deep.equal(anew.problems);
        expect(again.table?.size).to.equal(anew.table?.size);
        // These requests come before the entries have been listed.
        for (let i = 0; i < 20; i++) {
          const request = new TestRequest(randomRequest(draw));
          expect(nameOf(again, request)).to.equal(nameOf(anew, request));
        }
        expect(named(again)).to.deep.equal(named(anew));
        former = again;
      }
    });
  }

  it('leaves the table before it as it was', () => {
    const some = byId(Array.from({ length: 50 }, (_, at) => aRoute(`r${at}`, { pathPrefix: `/r${at}` })));
    const first = compiled({ routes: some });
    const second = compiled({ routes: some.slice(1) }, first.memory, 0);
    const third = compiled({ routes: byId([...some, aRoute('new', { pathPrefix: '/r0/x' })]) }, first.memory, 0);
    const request = new TestRequest({ target: '/r0/x' });
    expect([first, second, third].map((each) => nameOf(each, request))).to.deep.equal([
      'undefined/r0',
      undefined,
      'undefined/new',
    ]);
  });

  it('tells groups of one name apart that list one route at one place', () => {
    const route = aRoute('r', { pathPrefix: '/r' });
    const twins = [aGroup('g', ['r'], { id: 'g1' }), aGroup('g', ['r'], { id: 'g2' })];
    const first = compiled({ routes: [route], groups: twins });
    const second = compiled({ routes: [route], groups: twins.slice(1) }, first.memory, 0);
    expect(entriesOf(second).map(({ group }) => group?.id)).to.deep.equal(['g2']);
  });

  it('with a change of one of many routes makes nothing anew but its entry, and looks at no other', () => {
    let looks = 0;
    const many = byId(
      Array.from({ length: 3_000 }, (_, at) => {
        const route = aRoute(`r${at}`, { pathPrefix: `/r${at}` });
        const get = () => {
          looks++;
          return route.match;
        };
        return Object.defineProperty({ ...route }, 'match', { enumerable: true, get });
      }),
    );
    const first = compiled({ routes: many });
    looks = 0;
    const [one] = many;
    const second = compiled({ routes: many.with(0, aRoute(one?.id ?? '', { pathPrefix: '/other' })) }, first.memory);
    expect(looks).to.be.below(20);
    expect(nameOf(second, new TestRequest({ target: '/other/x' }))).to.equal(`undefined/${one?.id}`);
    expect(nameOf(second, new TestRequest({ target: '/r0' }))).to.equal(undefined);
    expect(nameOf(second, new TestRequest({ target: '/r17' }))).to.equal('undefined/r17');
  });
});

const named = (result: Compiled): string[] =>
  entriesOf(result).map(({ group, route, path }) => `${group?.name}/${route.id} ${path.text}`);

function nameOf({ table }: Compiled, request: TestRequest): string | undefined {
  const entry = table?.match(request);
  return entry && `${entry.group?.name}/${entry.route.id}`;
}

/** One route or group replaced, taken out or put in. */
function changed({ routes, groups }: RandomRouting, draw: Draw): RandomRouting {
  const other = randomRouting(draw, 12);
  const route = draw.of(other.routes);
  if (draw.chance(0.3)) return { routes, groups: other.groups };
  const rest = routes.filter(({ id }) => id !== route.id);
  return { routes: draw.chance(0.2) && rest.length > 0 ? rest : [...rest, route], groups };
}
