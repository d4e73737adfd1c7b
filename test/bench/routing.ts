// CPU, memory and allocation of the routing table: look-ups, compilation in slices, one change. Prints the table of
// docs/performance.md. `SIZES=10,10000` narrows a run.
//
// What a look-up costs depends on what the caches of the processor hold, so the requests are made as the proxy makes
// them, one at a time: bytes that lie hot in one small buffer, and host and path cut out of it as new, flat strings that
// nobody has hashed. Each request draws its route anew and uniformly from the whole table, so the part of the index that
// it needs is as cold as a table of that size makes it, and no order or repetition helps. Names have the same length and
// requests are as many and as different in every size; what differs is the table alone. The same loop without a look-up
// runs in turn with the one that is measured, and its time is taken off: making a request is not the table's work.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RequestView } from '../../src/expression/cel/view.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { Route } from '../../src/model/route.ts';
import { type Compiled, compileInSteps, type Memory } from '../../src/proxy/compile/compile.ts';
import { RoutingTable } from '../../src/proxy/match/routing-table.ts';
import type { RoutedRequest } from '../../src/proxy/request-head.ts';
import { seededRandom } from '../support/random.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const random = seededRandom(1);
const sizes = (process.env.SIZES ?? '10,10000,100000').split(',').map(Number);
const rounds = 16;
const lookups = 200_000;

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

/** Text with numbers in it, as bytes that are written anew for each request. */
class Bytes {
  readonly #bytes: Buffer;
  readonly #ends: readonly number[];

  /** Each `#` is a digit; each run of them a number. */
  constructor(form: string) {
    this.#bytes = Buffer.from(form);
    this.#ends = [...form.matchAll(/#+/g)].map(({ index, 0: { length } }) => index + length - 1);
  }

  /** A new string with the lowest digits of these numbers. */
  text(first: number, second = 0): string {
    this.#write(this.#ends[0], first);
    this.#write(this.#ends[1], second);
    return this.#bytes.toString('latin1');
  }

  #write(end: number | undefined, number: number): void {
    if (end === undefined) return;
    let left = number;
    for (let i = end; i > end - digits; i--) {
      this.#bytes[i] = 0x30 + (left % 10);
      left = Math.floor(left / 10);
    }
  }
}

const digits = 6;
const hosts = new Bytes('tenant-######.shop.test');
const hitPaths = new Bytes('/service-######/api/orders/######');
const missPaths = new Bytes('/nothing-######/api/orders/######');
const regexPaths = new Bytes('/service-######/items/######');
const number = (i: number): string => String(i).padStart(digits, '0');

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

const configuration = (routes: readonly Route[]): Configuration => ({
  listeners: [],
  destinations: [],
  groups: [],
  middlewares: [],
  routes,
});

const routesOf = (size: number, make: (i: number) => Route): Route[] => Array.from({ length: size }, (_, i) => make(i));

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

/** Makes `request` the next one. */
type Next = (request: BenchRequest) => void;

/** Looks at a request and says nothing: what a look-up costs beyond this is its own. */
const nothing: Pick<RoutingTable, 'match'> = {
  match: ({ host, path }) => (host.charCodeAt(0) === path.charCodeAt(0) ? RoutingTable.empty.entries[0] : undefined),
};

function lookUp(table: Pick<RoutingTable, 'match'>, next: Next, count: number): number {
  const request = new BenchRequest();
  let hits = 0;
  for (let i = 0; i < count; i++) {
    next(request);
    if (table.match(request) !== undefined) hits++;
  }
  return hits;
}

function cpuUs(table: Pick<RoutingTable, 'match'>, next: Next, count: number): number {
  const start = cpuMs();
  lookUp(table, next, count);
  return ((cpuMs() - start) * 1000) / count;
}

interface Case {
  readonly table: RoutingTable;
  readonly next: Next;
}

/**
 * What one look-up takes in each case, in microseconds: the mean over the middle half of the rounds, for the clock may
 * have steps of milliseconds. Every round runs all cases in turn, so that what else happens on the machine, and what the
 * compiler learns, falls on all of them alike.
 */
function lookUpUs(cases: readonly Case[], count = lookups): number[] {
  const round = (): number[] => cases.map(({ table, next }) => cpuUs(table, next, count) - cpuUs(nothing, next, count));
  round();
  const times = Array.from({ length: rounds }, round);
  return cases.map((_, i) => middle(times.map((each) => each[i] ?? Number.NaN)));
}

function middle(values: readonly number[]): number {
  const quarter = values.length >> 2;
  const kept = values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

/** Bytes that one look-up leaves behind, beside the request's own; few enough look-ups that no collection comes between. */
function allocated(table: RoutingTable, next: Next): number {
  const left = ([nothing, table] as const).map((each) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    lookUp(each, next, 2000);
    return process.memoryUsage().heapUsed - before;
  });
  return ((left[1] ?? 0) - (left[0] ?? 0)) / 2000;
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
const hitOf =
  (size: number): Next =>
  (request) => {
    const route = anyOf(size);
    request.host = hosts.text(Math.floor(route / 10));
    request.path = hitPaths.text(route, anyOf(1e6));
  };
const missOf =
  (size: number): Next =>
  (request) => {
    request.host = hosts.text(Math.floor(anyOf(size) / 10));
    request.path = missPaths.text(anyOf(1e6), anyOf(1e6));
  };
const regexHit: Next = (request) => {
  request.host = 'any.test';
  request.path = regexPaths.text(anyOf(1000), anyOf(1e6));
};

const rows: [what: string, value: string][] = [];
const row = (what: string, value: number, unit: string, digits = 2): void => {
  rows.push([what, `${value.toFixed(digits)} ${unit}`]);
};

const cases: Case[] = [];
for (const size of sizes) {
  const routes = routesOf(size, prefixRoute);
  const timed = compileTimed(routes);
  const table = tableOf(timed);
  const many = size.toLocaleString('en');
  cases.push({ table, next: hitOf(size) }, { table, next: missOf(size) });
  row(`compile ${many} routes`, timed.ms, 'ms', 1);
  row(`compile ${many} routes, longest slice`, timed.longestSliceMs, 'ms', 1);
  const changed = routes.with(0, { ...prefixRoute(0), match: { pathPrefix: '/changed' } });
  const again = compileTimed(changed, timed.compiled.memory);
  row(`one of ${many} routes changed`, again.ms, 'ms', 1);
}
lookUpUs(cases).forEach((us, i) => {
  const many = sizes[i >> 1]?.toLocaleString('en');
  row(`look-up, ${many} routes, ${i % 2 === 0 ? 'hit' : 'miss'}`, us, 'µs', 3);
});
for (const [i, { table, next }] of cases.entries()) {
  const many = sizes[i >> 1]?.toLocaleString('en');
  if (i % 2 === 0) row(`allocated by a look-up, ${many} routes`, allocated(table, next), 'bytes', 1);
}

const patterns = compileTimed(routesOf(1000, regexRoute));
lookUp(tableOf(patterns), regexHit, 20_000);
row(
  'look-up, 1,000 regex routes of one host, warm',
  lookUpUs([{ table: tableOf(patterns), next: regexHit }], 10_000)[0] ?? Number.NaN,
  'µs',
);
row('compile 1,000 regex routes', patterns.ms, 'ms', 1);
row('compile 1,000 regex routes, longest slice', patterns.longestSliceMs, 'ms', 1);
row('memory per route', heapPerRoute(10_000, prefixRoute, () => {}) / 1024, 'KB');
const warmed = (table: RoutingTable): void => void lookUp(table, regexHit, 20_000);
const otherRegex = (i: number): Route => ({
  ...regexRoute(i),
  match: { pathRegex: `/service-${number(i)}/items/[0-9]+/x?` },
});
row('memory per route with a regex, warm', heapPerRoute(1000, otherRegex, warmed) / 1024, 'KB');

process.stdout.write('| What | |\n|---|---|\n');
for (const [what, value] of rows) process.stdout.write(`| ${what} | ${value} |\n`);
