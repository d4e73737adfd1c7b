// Random tables and requests out of few names, so that most requests meet several entries that differ in one matcher.
import type { Group } from '../../../../src/model/group.ts';
import type { Match, Route } from '../../../../src/model/route.ts';
import { ServedListener } from '../../../../src/proxy/match/served-listener.ts';
import type { Sent } from '../../../support/routed-request.ts';
import { aGroup, aRoute } from '../../../support/routing.ts';

export interface RandomRouting {
  readonly routes: readonly Route[];
  readonly groups: readonly Group[];
}

const hosts = [
  'shop.test',
  'SHOP.test',
  '*.test',
  '*.shop.test',
  '*',
  'a.shop.test',
  '[::1]',
  '*.b.a.shop.test',
  'other.org.',
];
const authorities = ['shop.test', 'Shop.Test:8080', 'a.shop.test', 'x.b.a.shop.test', 'b.a.shop.test', 'test', '.test'];
const moreAuthorities = ['', '[::1]:80', 'other.org', 'a..test', '.shop.test', 'shop.test.', 'other.org.'];
const literals = ['/', '/a', '/a/', '/a/b', '/a//b', '/ab', '/b/c/', 'a', '//a', '/a/%62', '/é', '/a/../b', ''];
const patterns = ['/a', '/a$', '^/(a|b)', '/[ab]/b', '.*', '/a/|/b', '(?i)/A', '/b?', 'a', '', '/a(b|$)', '^^/b/.+'];
const segments = ['a', 'b', 'ab', 'c', '', '.', '..', '%62', '%2F', 'A', '\\', ';x', '%C3%A9'];
const conditions = ['request.path.startsWith("/a")', 'request.headers["x-a"] == "1"', 'request.host == "shop.test"'];

const bindings = ['web', 'admin', 'web/shop', 'web/sub', 'web/rest', 'admin/x', 'gone'];

const listeners: readonly ServedListener[] = [
  new ServedListener({ id: 'plain', name: 'plain', port: 80 }),
  new ServedListener({ id: 'admin', name: 'admin', port: 443, sections: [{ name: 'x', hostnames: ['*.test'] }] }),
  new ServedListener({
    id: 'web',
    name: 'web',
    port: 443,
    sections: [
      { name: 'shop', hostnames: ['SHOP.test', 'other.org.'] },
      { name: 'sub', hostnames: ['*.shop.test'] },
      { name: 'deep', hostnames: ['*.b.a.shop.test'] },
      { name: 'rest' },
    ],
  }),
];

/** Draws from `random`, numbers in [0, 1). */
export class Draw {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  }

  some<T>(items: readonly T[], most: number): T[] {
    return Array.from({ length: this.below(most + 1) }, () => this.of(items));
  }

  shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.#random() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}

export function randomRouting(draw: Draw, size: number): RandomRouting {
  // Most tables have no priority, as those of most users.
  const ranked = draw.chance(0.3);
  const bound = draw.chance(0.5);
  const routes = Array.from({ length: 1 + draw.below(size) }, (_, i) =>
    aRoute(`r${i}`, randomMatch(draw), {
      ...(ranked && draw.chance(0.4) ? { priority: draw.below(4) } : {}),
      ...(bound && draw.chance(0.5) ? { listenerIds: draw.some(bindings, 3) } : {}),
    }),
  );
  const names = routes.map(({ id }) => id);
  const groups = Array.from({ length: draw.below(4) }, (_, i) =>
    aGroup(`g${i}`, [...new Set(draw.some(names, 6))], {
      ...randomGroupPart(draw),
      ...(bound && draw.chance(0.3) ? { listenerIds: draw.some(bindings, 2) } : {}),
    }),
  );
  return { routes, groups };
}

function randomMatch(draw: Draw): Match {
  return {
    ...randomPath(draw),
    ...(draw.chance(0.5) ? { hostnames: draw.some(hosts, 3) } : {}),
    ...(draw.chance(0.2) ? { methods: draw.some(['GET', 'post', 'OPTIONS'], 2) } : {}),
    ...(draw.chance(0.25) ? { headers: draw.some(headerMatchers, 2) } : {}),
    ...(draw.chance(0.2) ? { queryParams: draw.some(queryMatchers, 2) } : {}),
    ...(draw.chance(0.15) ? { grpc: draw.chance(0.7) } : {}),
    ...(draw.chance(0.1) ? { scheme: draw.of(['http', 'https'] as const) } : {}),
    ...(draw.chance(0.1) ? { port: draw.of([80, 443]) } : {}),
    ...(draw.chance(0.2) ? { cel: draw.of(conditions) } : {}),
  };
}

function randomPath(draw: Draw): Match {
  const kind = draw.below(4);
  if (kind === 0) return { path: draw.of(literals) };
  if (kind === 1) return { pathPrefix: draw.of(literals) };
  return kind === 2 ? { pathRegex: draw.of(patterns) } : {};
}

function randomGroupPart(draw: Draw): Partial<Group> {
  const kind = draw.below(3);
  return {
    ...(kind === 0 ? { pathPrefix: draw.of(literals) } : kind === 1 ? { pathRegex: draw.of(patterns) } : {}),
    ...(draw.chance(0.4) ? { hostnames: draw.some(hosts, 2) } : {}),
    ...(draw.chance(0.3) ? { headers: draw.some(headerMatchers, 1) } : {}),
  };
}

const headerMatchers = [
  { name: 'X-A', value: '1' },
  { name: 'x-a' },
  { name: 'x-b', value: '^[0-9]+$', regex: true },
  { name: 'host', value: 'shop', regex: true },
];

const queryMatchers = [{ name: 'q', value: '1' }, { name: 'q' }, { name: 'r', value: 'a b', regex: true }];

export function randomRequest(draw: Draw): Sent {
  const path = draw.chance(0.03) ? '*' : `/${draw.some(segments, 4).join('/')}`;
  const query = draw.of(['', '', '?q=1', '?q=&r=a+b', '?r=a%20b']);
  return {
    scheme: draw.of(['http', 'https'] as const),
    ...(draw.chance(0.9) ? { listener: draw.of(listeners) } : {}),
    target: path + query,
    authority: draw.of(draw.chance(0.7) ? authorities : moreAuthorities),
    method: draw.of(['GET', 'GET', 'POST', 'get', 'OPTIONS']),
    pathNormalization: draw.chance(0.5) ? 'enforce' : 'report',
    headers: {
      ...(draw.chance(0.4) ? { 'x-a': draw.of(['1', '2', '']) } : {}),
      ...(draw.chance(0.4) ? { 'x-b': draw.of(['77', 'b']) } : {}),
      ...(draw.chance(0.3) ? { 'content-type': draw.of(['application/grpc+proto', 'text/plain']) } : {}),
    },
  };
}
