// CPU, memory and allocation of the routing table: look-ups, compilation in slices, one change, expressions. Prints a
// table; docs/performance.md keeps its figures. `SIZES=10,10000` narrows a run. How it is measured: test/bench/routing.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import type { Route } from '../../src/model/route.ts';
import type { RoutingTable } from '../../src/proxy/match/routing-table.ts';
import { ServedListener } from '../../src/proxy/match/served-listener.ts';
import { seededRandom } from '../support/random.ts';
import { bytesPerRoute, compileTimed, type Timed, tableOf } from './routing/compilations.ts';
import { expressionNs } from './routing/expressions.ts';
import { allocated, type Case, lookUp, lookUpUs, onListener, withFirstLook } from './routing/look-ups.ts';
import { Head, type Next, number } from './routing/requests.ts';

optionsOf(import.meta.url, {});

const random = seededRandom(1);
const sizes = (process.env.SIZES ?? '10,10000,100000').split(',').map(Number);
const compilations = 5;

const forward = { destinations: [{ destinationId: 'd' }] };
const hostOfRoute = (i: number): string => `tenant-${number(Math.floor(i / 10))}.shop.test`;

const prefixRoute = (i: number): Route => ({
  id: `r${i}`,
  name: `route-${i}`,
  match: { hostnames: [hostOfRoute(i)], pathPrefix: `/service-${number(i)}/api` },
  forward,
});

/** Every pattern of one host, the worst that a table can do. */
const regexRoute = (i: number): Route => ({
  id: `r${i}`,
  name: `route-${i}`,
  match: { pathRegex: `/service-${number(i)}/items/[0-9]+(/[a-z]+)?` },
  forward,
});

const routesOf = (size: number, make: (i: number) => Route): Route[] => Array.from({ length: size }, (_, i) => make(i));

const hits = new Head('/service-######/api/orders/######', 'tenant-######.shop.test');
const misses = new Head('/nothing-######/api/orders/######', 'tenant-######.shop.test');
const regexHits = new Head('/service-######/items/######', 'any.test');

const anyOf = (size: number): number => Math.floor(random() * size);
const hitOf =
  (size: number): Next =>
  (request) => {
    const route = anyOf(size);
    hits.read(request, route, anyOf(1e6), Math.floor(route / 10));
  };
const missOf =
  (size: number): Next =>
  (request) =>
    misses.read(request, anyOf(1e6), anyOf(1e6), Math.floor(anyOf(size) / 10));
const regexHit: Next = (request) => regexHits.read(request, anyOf(1000), anyOf(1e6), 0);

const rows: [what: string, value: string][] = [];
const row = (what: string, value: number, unit: string, digits = 2): void => {
  rows.push([what, `${value.toFixed(digits)} ${unit}`]);
};

/** CPU of the median run; the longest of all slices and collections of garbage. The first run finds the code cold. */
async function several(what: string, run: () => Promise<Timed>): Promise<Timed> {
  const all: Timed[] = [];
  for (let i = 0; i < compilations; i++) all.push(await run());
  const middle = all.toSorted((a, b) => a.ms - b.ms)[compilations >> 1];
  if (middle === undefined) throw new Error('nothing was run');
  row(what, middle.ms, 'ms', 1);
  row(`${what}, longest slice`, Math.max(...all.map(({ longestSliceMs }) => longestSliceMs)), 'ms', 1);
  row(`${what}, longest collection of garbage`, Math.max(...all.map((each) => each.longestCollectionMs)), 'ms', 1);
  return middle;
}

const kinds: readonly (readonly [name: string, caseOf: (table: RoutingTable, size: number) => Case])[] = [
  ['hit', (table, size) => ({ table, next: hitOf(size) })],
  ['hit, and a first look at the entry', (table, size) => ({ table: withFirstLook(table), next: hitOf(size) })],
  ['miss', (table, size) => ({ table, next: missOf(size) })],
];
const cases: Case[] = [];
for (const size of sizes) {
  const routes = routesOf(size, prefixRoute);
  const many = `${size.toLocaleString('en')} routes`;
  const timed = await several(`compile ${many}`, () => compileTimed(routes));
  const changed = (): Route[] => routes.with(anyOf(size), { ...prefixRoute(0), match: { pathPrefix: '/changed' } });
  await several(`one of ${many} changed`, () => compileTimed(changed(), timed.compiled.memory));
  for (const [, caseOf] of kinds) cases.push(caseOf(tableOf(timed), size));
}
lookUpUs(cases).forEach((us, i) => {
  const many = sizes[Math.floor(i / kinds.length)]?.toLocaleString('en');
  row(`look-up, ${many} routes, ${kinds[i % kinds.length]?.[0]}`, us, 'µs', 3);
});
sizes.forEach((size, i) => {
  const hit = cases[i * kinds.length];
  if (hit) row(`allocated by a look-up, ${size.toLocaleString('en')} routes`, allocated(hit), 'bytes', 1);
});

/** Bound to one of 100 sections by host, each with a priority of its own. */
const sections = Array.from({ length: 100 }, (_, i) => ({
  name: `s${i}`,
  hostnames: [`tenant-${number(i)}.shop.test`],
}));
const web = new ServedListener({ id: 'web', name: 'web', port: 443, sections });
const boundRoute = (i: number): Route => ({
  ...prefixRoute(i),
  match: { pathPrefix: `/service-${number(i)}/api` },
  listenerIds: [`web/s${i % sections.length}`],
  priority: i,
});
const boundHitOf =
  (size: number): Next =>
  (request) => {
    const route = anyOf(size);
    hits.read(request, route, anyOf(1e6), route % sections.length);
  };
const boundCases: Case[] = [];
for (const size of sizes) {
  const timed = await several(`compile ${size.toLocaleString('en')} routes in sections`, () =>
    compileTimed(routesOf(size, boundRoute)),
  );
  boundCases.push({ table: onListener(tableOf(timed), web), next: boundHitOf(size) });
}
lookUpUs(boundCases).forEach((us, i) => {
  row(`look-up, ${sizes[i]?.toLocaleString('en')} routes in 100 sections, each priority another`, us, 'µs', 3);
});

const patterns = await several('compile 1,000 regex routes', () => compileTimed(routesOf(1000, regexRoute)));
const warm = (table: RoutingTable): void => void lookUp(table, regexHit, 20_000);
warm(tableOf(patterns));
const [ofRegex = Number.NaN] = lookUpUs([{ table: tableOf(patterns), next: regexHit }], 10_000);
row('look-up, 1,000 regex routes of one host, warm', ofRegex, 'µs');
row('memory per route', (await bytesPerRoute(routesOf(10_000, prefixRoute))) / 1024, 'KB');
const otherRegex = (i: number): Route => ({
  ...regexRoute(i),
  match: { pathRegex: `/service-${number(i)}/items/[0-9]+/x?` },
});
row('memory per route with a regex, warm', (await bytesPerRoute(routesOf(1000, otherRegex), warm)) / 1024, 'KB');
row('one of 50 mixed expressions', expressionNs(), 'ns', 0);

process.stdout.write('| What | |\n|---|---|\n');
for (const [what, value] of rows) process.stdout.write(`| ${what} | ${value} |\n`);
