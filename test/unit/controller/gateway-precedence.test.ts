// Ties of the Gateway API's precedence (HTTPRoute, `spec.hostnames` and `spec.rules[].matches`): sections, bindings and
// priorities of Sluice answer as a slow reading of its specification does.
import { expect } from 'chai';
import { type CommonHostname, commonHostnames } from '../../../src/controller/graph/hostnames.ts';
import { pathRank, priorityOf, routeName } from '../../../src/controller/translate/precedence.ts';
import type { Route } from '../../../src/model/route.ts';
import { ServedListener } from '../../../src/proxy/match/served-listener.ts';
import { seededRandom } from '../../support/random.ts';
import { TestRequest } from '../../support/routed-request.ts';
import { tableOf } from '../../support/routing.ts';
import { Draw } from '../proxy/match/random-table.ts';

interface GatewayMatch {
  readonly path: { readonly type: 'Exact' | 'PathPrefix'; readonly value: string };
  readonly method: string | undefined;
  readonly headers: readonly string[];
  readonly queryParams: readonly string[];
}

interface GatewayRoute {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly creationTimestamp: string };
  /** Sections of the Gateway; empty: all. */
  readonly sections: readonly string[];
  readonly hostnames: readonly string[];
  readonly rules: readonly (readonly GatewayMatch[])[];
}

interface Section {
  readonly name: string;
  readonly hostname: string | undefined;
}

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly method: string;
  readonly headers: readonly string[];
  readonly queryParams: readonly string[];
}

const hosts = ['a.test', 'b.a.test', '*.test', '*.a.test', '*.b.a.test'];
const names = ['x-a', 'x-b'];

const sectionsOf = (draw: Draw): Section[] => {
  const picked = [...new Set(draw.some([...hosts, 'any'], 5))];
  return (picked.length === 0 ? ['any'] : picked).map((host, at) => ({
    name: `s${at}`,
    hostname: host === 'any' ? undefined : host,
  }));
};

const matchOf = (draw: Draw): GatewayMatch => ({
  path: { type: draw.of(['Exact', 'PathPrefix'] as const), value: draw.of(['/', '/a', '/a/b', '/a/bc']) },
  method: draw.chance(0.3) ? 'GET' : undefined,
  headers: names.filter(() => draw.chance(0.2)),
  queryParams: names.filter(() => draw.chance(0.2)),
});

const some = <T>(draw: Draw, most: number, make: () => T): T[] => Array.from({ length: 1 + draw.below(most) }, make);

const routesOf = (draw: Draw, sections: readonly Section[]): GatewayRoute[] =>
  some(draw, 6, () => ({
    metadata: {
      namespace: draw.of(['a', 'a-b', 'b']),
      name: draw.of(['r', 'r-2', 'q']),
      creationTimestamp: draw.of(['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']),
    },
    sections: draw.chance(0.5) ? [] : [draw.of(sections).name],
    hostnames: draw.chance(0.4) ? [] : [...new Set(draw.some(hosts, 3))],
    rules: some(draw, 3, () => some(draw, 3, () => matchOf(draw))),
  })).filter(
    ({ metadata: { namespace, name } }, at, all) =>
      all.findIndex(({ metadata }) => metadata.namespace === namespace && metadata.name === name) === at,
  );

const isAttached = ({ sections }: GatewayRoute, { name }: Section): boolean =>
  sections.length === 0 || sections.includes(name);

/** Entities of Sluice for one route, as the controller makes them. */
function translated(route: GatewayRoute, sections: readonly Section[]): Route[] {
  const entities: Route[] = [];
  for (const section of sections) {
    const common = isAttached(route, section) ? commonHostnames(section.hostname, route.hostnames) : undefined;
    if (common === undefined) continue;
    const ranks: [number, readonly CommonHostname[]][] =
      common.length === 0 ? [[0, []]] : [...Map.groupBy(common, ({ rank }) => rank)];
    for (const [rank, found] of ranks) {
      const hostnames = found.map(({ name }) => name);
      for (const [ruleAt, matches] of route.rules.entries()) {
        for (const [matchAt, { path, method, headers, queryParams }] of matches.entries()) {
          const weight = { headers: headers.length, queryParams: queryParams.length };
          entities.push({
            id: `${route.metadata.namespace}.${route.metadata.name}.${ruleAt}.${matchAt}.${entities.length}`,
            name: routeName(route, ruleAt, matchAt, entities.length),
            listenerIds: [`gw/${section.name}`],
            priority: priorityOf({
              ...{ host: rank, path: pathRank(path.type, path.value), hasMethod: method !== undefined },
              ...weight,
            }),
            match: {
              ...(path.type === 'Exact' ? { path: path.value } : { pathPrefix: path.value }),
              ...(method !== undefined && { methods: [method] }),
              ...(hostnames.length > 0 && { hostnames }),
              ...(headers.length > 0 && { headers: headers.map((name) => ({ name, value: '1' })) }),
              ...(queryParams.length > 0 && { queryParams: queryParams.map((name) => ({ name, value: '1' })) }),
            },
            directResponse: { status: 200 },
          });
        }
      }
    }
  }
  return entities;
}

// The specification, read slowly.

const isFor = (pattern: string | undefined, host: string): boolean =>
  pattern === undefined || pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)));

/** Characters of a matching host name that is no wildcard, then characters of any matching one. */
const specificity = (pattern: string | undefined): readonly [number, number] =>
  pattern === undefined ? [0, 0] : [pattern.startsWith('*') ? 0 : pattern.length, pattern.length];

const compareSpecificity = (one: string | undefined, other: string | undefined): number => {
  const [exact, all] = specificity(one);
  const [otherExact, otherAll] = specificity(other);
  return otherExact - exact || otherAll - all;
};

interface Contender {
  readonly route: GatewayRoute;
  readonly ruleAt: number;
  readonly hostname: string | undefined;
  readonly match: GatewayMatch;
}

const prefixLength = ({ path }: GatewayMatch): number => (path.type === 'PathPrefix' ? path.value.length : 0);
const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

function compareContenders(one: Contender, other: Contender): number {
  const [a, b] = [one.match, other.match];
  const [first, second] = [one.route.metadata, other.route.metadata];
  return (
    compareSpecificity(one.hostname, other.hostname) ||
    Number(b.path.type === 'Exact') - Number(a.path.type === 'Exact') ||
    prefixLength(b) - prefixLength(a) ||
    Number(b.method !== undefined) - Number(a.method !== undefined) ||
    b.headers.length - a.headers.length ||
    b.queryParams.length - a.queryParams.length ||
    byText(first.creationTimestamp, second.creationTimestamp) ||
    byText(`${first.namespace}/${first.name}`, `${second.namespace}/${second.name}`) ||
    one.ruleAt - other.ruleAt
  );
}

const agrees = ({ path, method, headers, queryParams }: GatewayMatch, asked: Asked): boolean =>
  (path.type === 'Exact'
    ? asked.path === path.value
    : path.value === '/' || asked.path === path.value || asked.path.startsWith(`${path.value}/`)) &&
  (method === undefined || method === asked.method) &&
  headers.every((name) => asked.headers.includes(name)) &&
  queryParams.every((name) => asked.queryParams.includes(name));

/** Returns namespace, name and rule of the route that has to serve the request. */
function expected(routes: readonly GatewayRoute[], sections: readonly Section[], asked: Asked): string | undefined {
  const [section] = sections
    .filter(({ hostname }) => isFor(hostname, asked.host))
    .toSorted((one, other) => compareSpecificity(one.hostname, other.hostname));
  if (section === undefined) return undefined;
  const contenders: Contender[] = [];
  for (const route of routes) {
    if (!isAttached(route, section)) continue;
    for (const hostname of route.hostnames.length === 0 ? [undefined] : route.hostnames) {
      if (!isFor(hostname, asked.host)) continue;
      for (const [ruleAt, matches] of route.rules.entries())
        for (const match of matches) if (agrees(match, asked)) contenders.push({ route, ruleAt, hostname, match });
    }
  }
  const [first] = contenders.toSorted(compareContenders);
  return first && `${first.route.metadata.namespace}.${first.route.metadata.name}.${first.ruleAt}`;
}

describe('the precedence of the Gateway API', () => {
  it('is that of sections, bindings and priorities, for 6,000 random requests', () => {
    let served = 0;
    for (let round = 0; round < 300; round++) {
      const draw = new Draw(seededRandom(round + 1));
      const sections = sectionsOf(draw);
      const routes = routesOf(draw, sections);
      const table = tableOf({ routes: routes.flatMap((route) => translated(route, sections)) });
      const listener = new ServedListener({
        ...{ id: 'gw', name: 'gw', port: 80 },
        sections: sections.map(({ name, hostname }) => ({
          name,
          ...(hostname !== undefined && { hostnames: [hostname] }),
        })),
      });
      for (let i = 0; i < 20; i++) {
        const asked: Asked = {
          host: draw.of(['a.test', 'b.a.test', 'c.b.a.test', 'x.test', 'test', 'else.example']),
          path: draw.of(['/', '/a', '/a/b', '/a/bc', '/a/b/c', '/z']),
          method: draw.of(['GET', 'POST']),
          headers: names.filter(() => draw.chance(0.6)),
          queryParams: names.filter(() => draw.chance(0.6)),
        };
        const request = new TestRequest({
          ...{ authority: asked.host, method: asked.method, listener },
          target: `${asked.path}?${asked.queryParams.map((name) => `${name}=1`).join('&')}`,
          headers: Object.fromEntries(asked.headers.map((name) => [name, '1'])),
        });
        const won = table.match(request)?.route.id.split('.').slice(0, 3).join('.');
        expect(won, JSON.stringify({ sections, routes, asked })).to.equal(expected(routes, sections, asked));
        if (won !== undefined) served++;
      }
    }
    expect(served).to.be.within(1_500, 5_500);
  });
});
