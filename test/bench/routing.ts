// CPU, memory and allocation of the routing table: look-ups over keys that are each used once, compilation in slices,
// one change. Prints the table of docs/performance.md. `SIZES=10,10000` narrows a run.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RequestView } from '../../src/expression/cel/view.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { Route } from '../../src/model/route.ts';
import { type Compiled, compileInSteps, type Memory } from '../../src/proxy/compile/compile.ts';
import type { RoutingTable } from '../../src/proxy/match/routing-table.ts';
import type { RoutedRequest } from '../../src/proxy/request-head.ts';
import { seededRandom } from '../support/random.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const random = seededRandom(1);
const sizes = (process.env.SIZES ?? '10,10000,100000').split(',').map(Number);
const rounds = 7;
const lookups = 50_000;

interface Key {
  readonly host: string;
  readonly path: string;
}

/** One object for all look-ups, as a connection has it. */
class BenchRequest implements RoutedRequest {
  readonly method = 'GET';
  readonly scheme = 'http';
  readonly authority = '';
  readonly clientIp = '192.0.2.1';
  readonly query = '';
  readonly view = new RequestView(this);
  host = '';
  path = '';

  header(): undefined {
    return undefined;
  }

  *headers(): Generator<never> {}
}

const forward = { destinations: [{ destinationId: 'd' }] };
const hostOfRoute = (i: number): string => `tenant-${Math.floor(i / 10)}.shop.test`;

const prefixRoute = (i: number): Route => ({
  id: `r${i}`,
  name: `route-${i}`,
  match: { hostnames: [hostOfRoute(i)], pathPrefix: `/service-${i}/api` },
  forward,
});

/** Every pattern of one host, the worst that a table can do. */
const regexRoute = (i: number): Route => ({
  id: `r${i}`,
  name: `route-${i}`,
  match: { pathRegex: `/service-${i}/items/[0-9]+(/[a-z]+)?` },
  forward,
});

const configuration = (routes: readonly Route[]): Configuration => ({
  listeners: [],
  destinations: [],
  groups: [],
  middlewares: [],
  routes,
});

const routesOf = (size: number, make: (i: number) => Route): Route[] => Array.from({ length: size }, (_, i) => make(i));

/** Strings that nobody has hashed yet, as they come from a socket. */
const fresh = (text: string): string => Buffer.from(text).toString('latin1');

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

interface Timed {
  readonly compiled: Compiled;
  readonly ms: number;
  readonly longestSliceMs: number;
}

/** As src/proxy/compile/slices.ts does it: 4 ms, and to the end of the step that is under way. */
function compileTimed(routes: readonly Route[], former?: Memory): Timed {
  const steps = compileInSteps(configuration(routes), { former, canRun: () => true });
  const start = cpuMs();
  let sliceStart = start;
  let longestSliceMs = 0;
  for (;;) {
    const { done, value } = steps.next();
    const now = cpuMs();
    if (done || now - sliceStart >= 4) {
      longestSliceMs = Math.max(longestSliceMs, now - sliceStart);
      sliceStart = now;
    }
    if (done) return { compiled: value, ms: now - start, longestSliceMs };
  }
}

function tableOf({ compiled: { table } }: Timed): RoutingTable {
  if (table === undefined) throw new Error('the benchmark made a table that is refused');
  return table;
}

function lookUp(table: RoutingTable, keys: readonly Key[]): number {
  const request = new BenchRequest();
  let hits = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key === undefined) continue;
    request.host = key.host;
    request.path = key.path;
    if (table.match(request) !== undefined) hits++;
  }
  return hits;
}

const keysOf = (count: number, make: () => Key): Key[] => Array.from({ length: count }, make);

/** Median over rounds, in microseconds of CPU per look-up; keys of one round are not seen in another. */
function lookUpUs(table: RoutingTable, make: () => Key, count = lookups): number {
  const times = Array.from({ length: rounds }, () => {
    const keys = keysOf(count, make);
    collectGarbage();
    const start = cpuMs();
    lookUp(table, keys);
    return ((cpuMs() - start) * 1000) / count;
  });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
}

/** Bytes that one look-up leaves behind; few enough look-ups that no collection comes between. */
function allocated(table: RoutingTable, make: () => Key): number {
  const count = 20_000;
  const keys = keysOf(count, make);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  lookUp(table, keys);
  return (process.memoryUsage().heapUsed - before) / count;
}

function heapPerRoute(size: number, make: (i: number) => Route, warm: (table: RoutingTable) => void): number {
  const routes = routesOf(size, make);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const timed = compileTimed(routes);
  warm(tableOf(timed));
  collectGarbage();
  const bytes = (process.memoryUsage().heapUsed - before) / size;
  return timed.compiled.memory.pairs.size === size ? bytes : Number.NaN;
}

const anyOf = (size: number): number => Math.floor(random() * size);
const hitOf = (size: number) => (): Key => {
  const i = anyOf(size);
  return { host: fresh(hostOfRoute(i)), path: fresh(`/service-${i}/api/orders/${anyOf(1e9)}`) };
};
const missOf = (size: number) => (): Key => ({
  host: fresh(hostOfRoute(anyOf(size))),
  path: fresh(`/nothing-${anyOf(1e9)}/api/orders`),
});
const regexHit = (): Key => ({ host: 'any.test', path: fresh(`/service-${anyOf(1000)}/items/${anyOf(1e9)}`) });

const rows: [what: string, value: string][] = [];
const row = (what: string, value: number, unit: string, digits = 2): void => {
  rows.push([what, `${value.toFixed(digits)} ${unit}`]);
};

/** Compiled code that has seen every size is what serves. */
for (const size of [10, 1000]) lookUpUs(tableOf(compileTimed(routesOf(size, prefixRoute))), hitOf(size));

for (const size of sizes) {
  const routes = routesOf(size, prefixRoute);
  const timed = compileTimed(routes);
  const table = tableOf(timed);
  const many = size.toLocaleString('en');
  row(`look-up, ${many} routes, hit`, lookUpUs(table, hitOf(size)), 'µs', 3);
  row(`look-up, ${many} routes, miss`, lookUpUs(table, missOf(size)), 'µs', 3);
  row(`allocated by a look-up, ${many} routes`, allocated(table, hitOf(size)), 'bytes', 1);
  row(`compile ${many} routes`, timed.ms, 'ms', 1);
  row(`compile ${many} routes, longest slice`, timed.longestSliceMs, 'ms', 1);
  const changed = routes.with(0, { ...prefixRoute(0), match: { pathPrefix: '/changed' } });
  const again = compileTimed(changed, timed.compiled.memory);
  row(`one of ${many} routes changed`, again.ms, 'ms', 1);
}

const patterns = compileTimed(routesOf(1000, regexRoute));
lookUp(tableOf(patterns), keysOf(20_000, regexHit));
row('look-up, 1,000 regex routes of one host, warm', lookUpUs(tableOf(patterns), regexHit, 10_000), 'µs');
row('compile 1,000 regex routes', patterns.ms, 'ms', 1);
row('compile 1,000 regex routes, longest slice', patterns.longestSliceMs, 'ms', 1);
row('memory per route', heapPerRoute(10_000, prefixRoute, () => {}) / 1024, 'KB');
const warmed = (table: RoutingTable): void => void lookUp(table, keysOf(20_000, regexHit));
const otherRegex = (i: number): Route => ({ ...regexRoute(i), match: { pathRegex: `/service-${i}/items/[0-9]+/x?` } });
row('memory per route with a regex, warm', heapPerRoute(1000, otherRegex, warmed) / 1024, 'KB');

process.stdout.write('| What | |\n|---|---|\n');
for (const [what, value] of rows) process.stdout.write(`| ${what} | ${value} |\n`);
