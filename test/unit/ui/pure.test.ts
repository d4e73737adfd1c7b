// Functions of the dashboard that need no browser.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { differingPointers, faultsOf, valueAt, withValue } from '../../../ui/editor/json-values.ts';
import { diskNeeds } from '../../../ui/lib/disk-needs.ts';
import { refersTo } from '../../../ui/lib/entity-references.ts';
import { ago, bytes, counted, ms, percent, rate, shown } from '../../../ui/lib/format.ts';
import { type GroupEntity, matchersInWords, type RouteEntity, rowsOf, searched } from '../../../ui/lib/route-rows.ts';
import { graphOf, nodesMax, pathThrough } from '../../../ui/lib/topology.ts';

const nameOf = (id: string): string => `name of ${id}`;
const route = (name: string, match: RouteEntity['match'] = {}, more: Partial<RouteEntity> = {}): RouteEntity => ({
  id: name,
  name,
  match: match ?? {},
  forward: { destinations: [{ destinationId: 'd' }] },
  ...more,
});

describe('needs of disks', () => {
  const disk = (state: 'fine' | 'low' | 'full') => ({ path: '/data', freeBytes: 1 << 20, totalBytes: 1 << 30, state });
  const texts = (disks: readonly ReturnType<typeof disk>[] | null, problem: string | null) =>
    diskNeeds([{ nodeId: 'a', disks, problem }]).map(({ text }) => text);

  it('name a full disk once, with what the store says of it', () => {
    const full = 'The disk of node a is full: 1.0 MiB of 1.0 GiB free at /data';
    expect(texts([disk('full')], null)).to.deep.equal([full]);
    expect(texts([disk('full')], 'disk full')).to.deep.equal([`${full} (disk full)`]);
  });

  it('name a store that takes no write for another reason beside a disk with little room', () => {
    expect(texts([disk('low')], 'no quorum')).to.deep.equal([
      'Node a: no quorum',
      'The disk of node a is nearly full: 1.0 MiB of 1.0 GiB free at /data',
    ]);
    expect(texts(null, null)).to.deep.equal([]);
  });
});

describe('rows of routes', () => {
  const order = (routes: readonly RouteEntity[], groups: readonly GroupEntity[] = []): string[] =>
    rowsOf(routes, groups, nameOf).map(({ key }) => key);

  it('stand in the order in which the proxy asks: priority, path, hosts, then names', () => {
    const routes = [
      route('regex', { pathRegex: '/.*' }),
      route('short', { pathPrefix: '/a' }),
      route('long', { pathPrefix: '/a/b' }),
      route('exact', { path: '/a' }),
      route('first', { pathPrefix: '/' }, { priority: 1 }),
      route('host', { pathPrefix: '/a', hostnames: ['a.test'] }),
      route('wild', { pathPrefix: '/a', hostnames: ['*.test'] }),
    ];
    expect(order(routes)).to.deep.equal(['first', 'exact', 'long', 'host', 'wild', 'short', 'regex']);
  });

  it('have one entry for each group of a route, before those that stand alone, with the path composed', () => {
    const groups = [
      { id: 'g2', name: 'b', routeIds: ['r'], pathPrefix: '/v2' },
      { id: 'g1', name: 'a', routeIds: ['r'], pathPrefix: '/v1' },
    ];
    const routes = [route('r', { pathPrefix: '/x' }), route('s', { pathPrefix: '/v9/x' })];
    const rows = rowsOf(routes, groups, nameOf);
    expect(rows.map(({ key, path }) => [key, path])).to.deep.equal([
      ['g1/r', '/v1/x'],
      ['g2/r', '/v2/x'],
      ['s', '/v9/x'],
    ]);
  });

  it('are found by every word of a search in either case, within 100 ms of 100,000', () => {
    const routes = Array.from({ length: 100_000 }, (_, i) => route(`route ${i}`, { pathPrefix: `/Shop/${i}` }));
    const rows = rowsOf(routes, [], nameOf);
    searched(rows, 'warm up');
    const before = process.cpuUsage();
    const found = searched(rows, 'SHOP/77777 route');
    const { user } = process.cpuUsage(before);
    expect(found.map(({ name }) => name)).to.deep.equal(['route 77777']);
    expect(user / 1_000).to.be.below(100);
    expect(searched(rows, ' ')).to.equal(rows);
  });

  it('are explained in words', () => {
    const words = matchersInWords(
      route('r', {
        path: '/a',
        methods: ['GET', 'POST'],
        headers: [{ name: 'x', value: 'y', regex: true }],
        scheme: 'https',
      }),
    );
    expect(words).to.deep.equal(['path is /a', 'method is GET or POST', 'header x matches y', 'scheme is https']);
  });
});

describe('references between resources', () => {
  const entity = (more: object) => ({ id: 'x', name: 'x', ...more });

  it('are found by the fields that hold them, wherever they are, and not by equal names', () => {
    const route = entity({
      name: 'shop',
      forward: { destinations: [{ destinationId: 'shop' }], mirror: { destinationId: 'copy' } },
      middlewareIds: ['auth'],
      listenerIds: ['public/eu'],
    });
    expect(refersTo(route, 'destinations', 'shop')).to.equal(true);
    expect(refersTo(route, 'destinations', 'copy')).to.equal(true);
    expect(refersTo(route, 'destinations', 'auth')).to.equal(false);
    expect(refersTo(route, 'middlewares', 'auth')).to.equal(true);
    expect(refersTo(route, 'listeners', 'public')).to.equal(true);
    expect(refersTo(route, 'listeners', 'pub')).to.equal(false);
    expect(refersTo(route, 'routes', 'shop')).to.equal(false);
    expect(refersTo(entity({ routeIds: ['shop'] }), 'routes', 'shop')).to.equal(true);
    expect(refersTo(entity({ jwt: { jwksDestinationId: 'keys' } }), 'destinations', 'keys')).to.equal(true);
  });

  it('of secrets are found in every text that embeds them', () => {
    const listener = entity({ tls: { cert: 'a{{secret:value:cert}}', key: '{{secret:value:key}}' } });
    expect(['cert', 'key', 'ke', 'value'].map((id) => refersTo(listener, 'secrets', id))).to.deep.equal([
      ...[true, true, false, false],
    ]);
    const stored = entity({ directResponse: { bodyFrom: { secret: 'page' } } });
    expect(refersTo(stored, 'secrets', 'page')).to.equal(true);
  });
});

describe('faults of an answer', () => {
  it('are read by field', () => {
    expect(faultsOf('/match/pathRegex: must compile; /port must be a number')).to.deep.equal([
      { pointer: '/match/pathRegex', message: 'must compile' },
      { pointer: '/port', message: 'must be a number' },
    ]);
    expect(faultsOf('route "a" exists')).to.deep.equal([{ pointer: '', message: 'route "a" exists' }]);
  });
});

describe('values of the editor', () => {
  it('are replaced, removed and made on the way', () => {
    expect(withValue({ a: { b: 1 } }, ['a', 'c'], 2)).to.deep.equal({ a: { b: 1, c: 2 } });
    expect(withValue({ a: [1, 2, 3] }, ['a', 1], undefined)).to.deep.equal({ a: [1, 3] });
    expect(withValue(undefined, ['a', 'b'], true)).to.deep.equal({ a: { b: true } });
  });

  it('differ by field', () => {
    const [mine, theirs] = [
      { a: { b: 1, c: [1] }, d: 1 },
      { a: { b: 2, c: [1] }, 'e/f': 1 },
    ];
    expect(differingPointers(mine, theirs)).to.deep.equal(['/a/b', '/d', '/e~1f']);
    expect(valueAt(theirs, '/e~1f')).to.equal(1);
    expect(valueAt(mine, '/a/c/0')).to.equal(1);
  });
});

describe('the graph of a configuration', () => {
  const destinations = [{ id: 'd', name: 'D', host: 'h', port: 80 }];
  const listeners = [{ id: 'l', name: 'L' }];

  it('leads from listeners over routes and middlewares to endpoints', () => {
    const routes = [route('r', {}, { middlewareIds: ['m'] }), route('s')];
    const graph = graphOf({ listeners, routes, groups: [], middlewares: [{ id: 'm', name: 'M' }], destinations });
    expect([...pathThrough(graph, '2/m')].sort()).to.deep.equal(['0/l', '1/r', '2/m', '3/d', '4/d/h:80']);
  });

  it('collapses routes to groups where there are too many', () => {
    const routes = Array.from({ length: nodesMax + 1 }, (_, i) => route(`r${i}`));
    const groups = [{ id: 'g', name: 'G', routeIds: routes.slice(0, 50).map(({ id }) => id) }];
    const { nodes } = graphOf({ listeners, routes, groups, middlewares: [], destinations });
    expect(nodes.filter(({ column }) => column === 1).map(({ label }) => label)).to.deep.equal([
      'G (50)',
      `Routes without a group (${nodesMax - 49})`,
    ]);
  });
});

describe('figures of the pages', () => {
  it('read like figures', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    expect([0, 1_023, 1_536, 100 * 2 ** 20, 50 * 2 ** 40].map(bytes)).to.deep.equal([
      ...['0 B', '1023 B', '1.5 KiB', '100 MiB', '50 TiB'],
    ]);
    expect([undefined, null, 'a', ['b']].map(shown)).to.deep.equal(['(absent)', '(absent)', 'a', '["b"]']);
    expect([rate(0), rate(0.5), rate(1_234.5), percent(0.1234), percent(0.00001), ms(1_500), ms(null)]).to.deep.equal([
      ...['0/s', '0.5/s', '1,235/s', '12 %', '< 0.1 %', '1.5 s', '–'],
    ]);
    expect(ago(new Date(nowMs - 90_000).toISOString(), nowMs)).to.equal('90 s ago');
    expect([counted(1, 'change'), counted(2, 'proxy'), counted(1_000, 'route')]).to.deep.equal([
      ...['1 change', '2 proxies', '1,000 routes'],
    ]);
  });
});

describe('the sources of the dashboard', () => {
  it('import nothing of the program, and put no markup into the document by themselves', () => {
    const files = readdirSync('ui', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
    expect(files.length).to.be.above(20);
    for (const file of files) {
      const text = readFileSync(join('ui', file), 'utf8');
      expect(text, file).not.to.match(/from '(?:\.\.\/)+(?:src|raft|disk|program)\//);
      expect(text, file).not.to.match(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|eval\(/);
    }
  });
});
