import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import type { Match } from '../../../src/model/match.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { compileInSlices } from '../../../src/proxy/compile/compile-in-slices.ts';
import { settle } from '../../../src/proxy/explain/explain.ts';
import type { RankedEntry } from '../../../src/proxy/match/route-entry.ts';
import { seededRandom } from '../../support/random.ts';

class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

const paths = ['/', '/a', '/a/b', '/a/b/c', '/d'];
const hosts = ['x.test', 'a.x.test', '*.x.test', '*.test', '*'];
const methods = ['GET', 'POST', 'PUT'];
const values = ['1', '2'];

const nowMs = 0;
const found = async (made: Configuration) =>
  (await findingsOf(made, { nowMs })).filter(({ rule }) => rule === 'unreachable-route');

const asConfiguration = (routes: readonly object[]): Configuration =>
  ({ listeners: [], groups: [], middlewares: [], destinations: [], routes }) as unknown as Configuration;

function randomMatch(random: Random): Match {
  const some = <T>(all: readonly T[]): T[] => all.filter(() => random.below(2) === 0);
  const path = random.pick(paths);
  return {
    ...(random.below(3) === 0 ? { path } : { pathPrefix: path }),
    ...(random.below(2) === 0 && { hostnames: some(hosts).slice(0, 2) }),
    ...(random.below(2) === 0 && { methods: some(methods) }),
    ...(random.below(4) === 0 && {
      headers: [{ name: 'x-a', ...(random.below(2) === 0 && { value: random.pick(values) }) }],
    }),
    ...(random.below(4) === 0 && { queryParams: [{ name: 'q', value: random.pick(values) }] }),
  };
}

const randomTable = (random: Random): Configuration =>
  asConfiguration(
    Array.from({ length: 12 }, (_, at) => ({
      id: `r${String(at).padStart(2, '0')}`,
      name: `r${String(at).padStart(2, '0')}`,
      priority: random.below(3),
      match: randomMatch(random),
      directResponse: { status: 204 },
    })),
  );

/** A random request that satisfies the matchers of an entry. */
function requestFor({ route }: RankedEntry, random: Random) {
  const {
    path,
    pathPrefix = '/',
    hostnames = [],
    methods: allowed = [],
    headers = [],
    queryParams = [],
  } = route.match ?? {};
  const below =
    path ??
    `${pathPrefix}${random.pick(['', pathPrefix.endsWith('/') ? 'a/b' : '/b', pathPrefix.endsWith('/') ? 'z' : '/b/c'])}`;
  const pattern = hostnames.length === 0 ? '*' : random.pick(hostnames);
  const anyHost = random.pick(['x.test', 'a.x.test', 'b.x.test', 'y.test', 'other.example']);
  const host = pattern === '*' ? anyHost : pattern.replace('*', random.pick(['a', 'b', 'c.d']));
  const value = headers.length > 0 ? (headers[0]?.value ?? random.pick(['1', '2', '3'])) : random.pick(['', '1', '2']);
  const query = queryParams.length > 0 ? queryParams[0]?.value : random.pick([undefined, '1', '2']);
  return {
    method: allowed.length === 0 ? random.pick([...methods, 'DELETE']) : random.pick(allowed),
    url: `http://${host}${below}${query === undefined ? '' : `?q=${query}`}`,
    headers: (value === '' ? {} : { 'x-a': value }) as Readonly<Record<string, string>>,
    clientIp: '127.0.0.1',
  };
}

/** The model of subsumption by one entry, over the few values that random tables have. */
function covers(winner: RankedEntry, entry: RankedEntry): boolean {
  const [own, other] = [entry.route.match ?? {}, winner.route.match ?? {}];
  const inside = (path: string, prefix: string): boolean =>
    prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
  const path = own.path ?? own.pathPrefix ?? '/';
  const pathCovers = other.path !== undefined ? own.path === other.path : inside(path, other.pathPrefix ?? '/');
  const hostsOf = ({ hostnames = [] }: Match) => (hostnames.length === 0 ? ['*'] : hostnames);
  const hostCovers = (wide: string, host: string): boolean =>
    wide === '*' ||
    wide === host ||
    (wide.startsWith('*.') && host.replace(/^\*/, 'any').endsWith(wide.slice(1)) && host !== '*');
  const wanted = own.methods ?? [];
  const taken = other.methods ?? [];
  const sameFields = (mine: readonly { value?: string }[] = [], others: readonly { value?: string }[] = []) =>
    others.every((each) => mine.some(({ value }) => each.value === undefined || each.value === value));
  return (
    pathCovers &&
    hostsOf(own).every((host) => hostsOf(other).some((wide) => hostCovers(wide, host))) &&
    (taken.length === 0 || (wanted.length > 0 && wanted.every((method) => taken.includes(method)))) &&
    sameFields(own.headers, other.headers) &&
    sameFields(own.queryParams, other.queryParams)
  );
}

describe('unreachable-route', () => {
  it('is told of no route that any of 10,000 random requests reaches, and of every route that one earlier route covers', async () => {
    const random = new Random(2026);
    let told = 0;
    for (let table = 0; table < 6; table++) {
      const made = randomTable(random);
      const { table: compiled } = await compileInSlices(made);
      const entries = compiled?.entries ?? [];
      const lost = new Set((await found(made)).map(({ id }) => id));
      told += lost.size;
      for (const [at, entry] of entries.entries()) {
        const winner = entries.slice(0, at).find((each) => covers(each, entry));
        if (winner !== undefined) expect(lost, JSON.stringify([entry.route, winner.route])).to.include(entry.route.id);
        if (!lost.has(entry.route.id) || compiled === undefined) continue;
        for (let request = 0; request < 10_000; request++) {
          const asked = requestFor(entry, random);
          const { matched } = settle(compiled, asked);
          expect(matched, JSON.stringify(asked)).to.not.equal(undefined);
          expect(matched?.route.id, JSON.stringify([asked, entry.route])).to.not.equal(entry.route.id);
        }
      }
    }
    expect(told).to.be.greaterThan(5);
  });

  const answer = { directResponse: { status: 204 } };
  const two = (first: object, second: object): Configuration =>
    asConfiguration([
      { id: 'a', name: 'a', priority: 1, match: first, ...answer },
      { id: 'b', name: 'b', match: second, ...answer },
    ]);

  it('is decided for a pattern whose literal start lies under a prefix', async () => {
    expect(await found(two({ pathPrefix: '/api' }, { pathRegex: '/api/v[0-9]+' }))).to.have.length(1);
    expect(await found(two({ pathPrefix: '/api' }, { pathRegex: '/api(/v1)?' }))).to.have.length(0);
    expect(await found(two({ pathPrefix: '/api' }, { pathRegex: '/api|/other' }))).to.have.length(0);
  });

  it('says nothing where the earlier route has another expression or pattern', async () => {
    const cel = 'request.method == "GET"';
    expect(await found(two({ pathPrefix: '/', cel }, { path: '/a' }))).to.have.length(0);
    expect(await found(two({ pathPrefix: '/', cel }, { path: '/a', cel }))).to.have.length(1);
    expect(await found(two({ pathRegex: '/a.*' }, { path: '/ab' }))).to.have.length(0);
  });
});
