// Property of a replay (issue: check 2): for random changes under recorded traffic it tells what the proxy then does with the
// same requests, apart from those that it calls undecided.
import { Agent, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { RecordedPage, RecordedRequest } from '../../../../src/model/recent-request.ts';
import { compileInSlices } from '../../../../src/proxy/compile/compile-in-slices.ts';
import { replay } from '../../../../src/proxy/replay/replay.ts';
import { type ReplayTable, replayTable } from '../../../../src/proxy/replay/replay-table.ts';
import { type Change, Comparison } from '../../../../src/proxy/replay/replayed-outcome.ts';
import { drain } from '../../../../src/util/time-slice.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { seededRandom } from '../../../support/random.ts';

const rounds = 100;
const requestsEach = 24;

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

type Random = () => number;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const some = <T>(random: Random, share: number, make: () => T): T | undefined =>
  random() < share ? make() : undefined;

/** Paths of matchers and of requests, so that many meet. */
const paths = ['/', '/a', '/a/b', '/a/b/c', '/b', '/b/x', '/c%20d'];
const hosts = ['shop.test', 'pay.test', 'a.shop.test'];
const expressions = [
  'request.path.startsWith("/a")',
  'request.headers["x-kind"] == "gold"',
  'has(request.headers.accept) && request.headers["x-tenant"] == "a"',
  '"x-tenant" in request.headers || request.method == "POST"',
  'request.queryParams["page"] == "1"',
  '"sort" in request.queryParams',
  'request.queryValues["page"].size() > 1',
  'request.headerValues["x-kind"][0] == "gold"',
  '!has(request.tls) && request.host != "pay.test"',
  'cidr("127.0.0.0/8").containsIP(request.clientIp)',
  'request.headers.exists(name, name == "x-kind")',
  'request.body.raw.size() > 0 && request.path == "/b"',
  'request.listener.name == "edge" ? request.path != "/a" : false',
];

function matcher(random: Random, names: readonly string[], values: readonly string[]) {
  const multiple = some(random, 0.5, () => pick(random, ['first', 'joined', 'any', 'reject']));
  const value = some(random, 0.7, () => pick(random, values));
  const regex = value !== undefined && random() < 0.2;
  return {
    name: pick(random, names),
    ...(value !== undefined && { value: regex ? `^${value}` : value }),
    ...(regex && { regex }),
    ...(multiple !== undefined && { multiple }),
  };
}

function routeOf(random: Random, id: string, port: number): object {
  const path = pick(random, paths);
  const form = pick(random, ['path', 'pathPrefix', 'pathRegex']);
  const match = {
    [form]: form === 'pathRegex' ? `^${path.replace('%20', '.20')}.*$` : path,
    ...some(random, 0.25, () => ({ methods: [pick(random, ['GET', 'POST'])] })),
    ...some(random, 0.25, () => ({ hostnames: [pick(random, [...hosts, '*.test', '*.shop.test'])] })),
    ...some(random, 0.2, () => ({
      headers: [matcher(random, ['X-Kind', 'x-tenant', 'x-multi', 'host'], ['gold', 'a', 'shop.test'])],
    })),
    ...some(random, 0.2, () => ({ queryParams: [matcher(random, ['page', 'sort', 'flag'], ['1', '2', 'up'])] })),
    ...some(random, 0.2, () => ({ cel: pick(random, expressions) })),
    ...some(random, 0.15, () => ({ scheme: pick(random, ['http', 'http', 'https']) })),
    ...some(random, 0.15, () => ({ port: pick(random, [port, port, 1]) })),
  };
  const priority = pick(random, [0, 0, 0, 1, 2]);
  const bound = some(random, 0.2, () => ({ listenerIds: [pick(random, ['edge', 'edge/shop', 'edge/rest', 'gone'])] }));
  const disabled = some(random, 0.1, () => ({ disabled: true }));
  return { id, name: id, priority, match, ...bound, ...disabled, directResponse: { status: 200, body: id } };
}

/** Removes, replaces and adds one to three routes. */
function changed(random: Random, routes: readonly object[], round: number, port: number): readonly object[] {
  const list = [...routes];
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const at = Math.floor(random() * list.length);
    const old = list[at] as { readonly id: string } | undefined;
    const what = pick(random, ['remove', 'replace', 'replace', 'add']);
    if (what === 'add' || old === undefined) list.push(routeOf(random, `n${round}-${left}`, port));
    else if (what === 'remove') list.splice(at, 1);
    else list[at] = routeOf(random, old.id, port);
  }
  return list;
}

function requestOf(random: Random): Sent {
  const query = pick(random, ['', '?page=1', '?page=2&page=1', '?sort=up', '?flag', '?flag&sort=1&page=', '?%70age=1']);
  const kind = pick(random, [undefined, 'gold', 'lead', 'gold, a', 'größe']);
  const headers = {
    host: pick(random, hosts),
    ...(kind !== undefined && { 'x-kind': Buffer.from(kind).toString('latin1') }),
    ...some(random, 0.3, () => ({ 'x-tenant': pick(random, ['a', 'b']) })),
    ...some(random, 0.5, () => ({ 'x-multi': ['a', 'gold'] })),
  };
  return { method: pick(random, ['GET', 'GET', 'POST']), target: `${pick(random, paths)}${query}`, headers };
}

const sections = [{ name: 'shop', hostnames: ['shop.test', '*.shop.test'] }, { name: 'rest' }];

const configOf = (port: number, routes: readonly object[], hasSections: boolean): Configuration =>
  ({
    listeners: [{ id: 'edge', name: 'edge', port, ...(hasSections && { sections }) }],
    ...{ destinations: [], groups: [], middlewares: [], streamRoutes: [], routes },
  }) as unknown as Configuration;

async function comparisonOf(from: Configuration, to: Configuration): Promise<Comparison> {
  const [before, after] = (await Promise.all(
    [from, to].map(async (configuration) => {
      const { table, problems } = await compileInSlices(configuration);
      if (table === undefined) throw new Error(JSON.stringify(problems));
      return drain(replayTable(configuration, table));
    }),
  )) as [ReplayTable, ReplayTable];
  return drain(Comparison.of(before, after));
}

describe('a replay', () => {
  let bed: ProxyBed;
  let port: number;
  let agent: Agent;

  before(async () => {
    bed = new ProxyBed({ recent: { slots: 1_000, headers: ['x-number', 'x-kind', 'x-multi'], query: ['page'] } });
    port = await freePort();
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  after(async () => {
    agent.destroy();
    await bed.end();
  });

  /** Returns the id of the route that answered; undefined: none did. */
  const send = ({ method, target, headers }: Sent, number: number): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        { agent, port, host: '127.0.0.1', method, path: target, headers: { ...headers, 'x-number': String(number) } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece) => {
            text += piece;
          });
          // A repeated field that a matcher rejects is answered 400 by the route that it belongs to.
          response.on('end', () => {
            if (response.statusCode === 200) resolve(text);
            else resolve(response.statusCode === 400 ? 'refused' : undefined);
          });
        },
      );
      request.on('error', reject).end();
    });

  /** Records; with many requests a second those of a share of them. */
  const recorded = async (first: number, seen: number): Promise<RecordedPage> => {
    await eventually(() => expect(bed.proxy.recent.counts.seen).to.equal(seen));
    return await bed.proxy.recent.page(1_000, ({ headers }) => Number(headers['x-number']) >= first);
  };

  it('of random changes tells what the proxy then does, but for requests that it calls undecided', async function () {
    this.timeout(240_000);
    const counts: Record<Change['is'], number> = { same: 0, undecided: 0, moved: 0, lost: 0, gained: 0, changed: 0 };
    for (let round = 0; round < rounds; round++) {
      const random = seededRandom(4_000 + round);
      const first = round * requestsEach;
      const routes = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, at) => routeOf(random, `r${at}`, port));
      const later = changed(random, routes, round, port);
      const [from, to] = [configOf(port, routes, random() < 0.5), configOf(port, later, random() < 0.5)];
      const requests = Array.from({ length: requestsEach }, () => requestOf(random));
      await bed.install(from);
      const before: (string | undefined)[] = [];
      for (const [at, request] of requests.entries()) before.push(await send(request, first + at));
      const page = await recorded(first, 2 * first + requestsEach);
      await bed.install(to);
      const after: (string | undefined)[] = [];
      for (const [at, request] of requests.entries()) after.push(await send(request, -1 - at));
      const comparison = await comparisonOf(from, to);
      const told = { same: 0, undecided: 0, moved: 0, lost: 0, gained: 0, changed: 0 };
      for (const record of page.requests) {
        const at = Number(record.headers['x-number']) - first;
        const change = comparison.changeOf(record, page);
        told[change.is]++;
        counts[change.is]++;
        check(change, record, before[at], after[at], `round ${round}: ${JSON.stringify([requests[at], from, to])}`);
      }
      const report = await replay(from, to, batchesOf(page));
      const sum = (list: readonly { readonly requests: number }[]) =>
        list.reduce((all, each) => all + each.requests, 0);
      expect(report).to.include({ requests: page.requests.length, same: told.same });
      for (const is of ['moved', 'lost', 'gained', 'changed', 'undecided'] as const)
        expect(sum(report[is]), is).to.equal(told[is]);
    }
    for (const is of ['same', 'undecided', 'moved', 'lost', 'gained'] as const)
      expect(counts[is], `${is} of ${JSON.stringify(counts)}`).to.be.greaterThan(5);
    expect(counts.undecided).to.be.lessThan((rounds * requestsEach) / 3);
  });
});

async function* batchesOf(page: RecordedPage): AsyncGenerator<RecordedPage> {
  yield { ...page, requests: page.requests.slice(0, 7) };
  yield { ...page, requests: page.requests.slice(7) };
}

function check(
  change: Change,
  record: RecordedRequest,
  before: string | undefined,
  after: string | undefined,
  about: string,
): void {
  if (change.is === 'undecided') return;
  // The record names the route that refused it.
  const was = before === 'refused' ? record.routeId : before;
  if (change.is === 'same' || change.is === 'changed') {
    if (after !== 'refused') expect(after, about).to.equal(was);
    return;
  }
  const from = 'from' in change ? change.from?.route.id : undefined;
  const to = 'to' in change ? change.to?.route.id : undefined;
  expect(was, about).to.equal(from);
  if (after !== 'refused') expect(after, about).to.equal(to);
  expect(from, about).to.not.equal(to);
}
