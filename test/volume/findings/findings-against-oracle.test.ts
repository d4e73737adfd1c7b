// Property of the findings: for random tables over all fields of a match, on listeners with sections, none contradicts an
// oracle that asks the table every request of a small world.
import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import type { Finding, Witness } from '../../../src/model/answers/finding-answers.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { compileInSlices } from '../../../src/proxy/compile/compile-in-slices.ts';
import { settle } from '../../../src/proxy/explain/explain.ts';
import { ExplainedListener } from '../../../src/proxy/explain/explained-listener.ts';
import { Explainer } from '../../../src/proxy/explain/explainer.ts';
import { makeCertificate } from '../../support/made-certificates.ts';
import { seededRandom } from '../../support/random.ts';

const tablesCount = 40;
const { cert, key } = makeCertificate({ dnsNames: ['x.test', '*.x.test', '*.test'] });
const listeners = [
  { id: 'other', name: 'other', port: 81 },
  { id: 'tls', name: 'tls', port: 443, tls: { cert, key } },
  {
    ...{ id: 'web', name: 'web', port: 80 },
    sections: [
      { name: 'one', hostnames: ['*.x.test'] },
      { name: 'two', hostnames: ['x.test', 'y.test'] },
    ],
  },
];

const hosts = ['x.test', 'a.x.test', 'b.a.x.test', 'y.test', 'z.example'];
const paths = ['/', '/a', '/a/', '/a/b', '/a/b/c', '/a/7', '/d', '/d/e'];
const methods = ['GET', 'POST'];
const lines = [[], ['1'], ['2'], ['1', '2'], ['2', '1']];
const queries = ['', '?q=1', '?q=2', '?q=1&q=2', '?q='];

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly clientIp: string;
  readonly on: ExplainedListener;
}

const served = listeners.map(
  (each) => new ExplainedListener(each as never, { url: '/', headers: {}, listener: each.id }),
);

/** Every request of the small world. */
const world: readonly Asked[] = served.flatMap((on) =>
  hosts.flatMap((host) =>
    paths.flatMap((path) =>
      methods.flatMap((method) =>
        lines.flatMap((values) =>
          queries.map((query) => ({
            ...{ method, url: `${on.scheme}://${host}${path}${query}`, clientIp: '127.0.0.1', on },
            headers: { 'x-a': values },
          })),
        ),
      ),
    ),
  ),
);

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const some = <T>(random: Random, share: number, make: () => T): T | undefined =>
  random() < share ? make() : undefined;

function matcher(random: Random, name: string) {
  const value = some(random, 0.7, () => pick(random, ['1', '2']));
  const isRegex = value !== undefined && random() < 0.2;
  return {
    name,
    ...(value !== undefined && { value: isRegex ? '[12]' : value }),
    ...(isRegex && { regex: true }),
    ...some(random, 0.4, () => ({ multiple: pick(random, ['first', 'joined', 'any', 'reject']) })),
  };
}

const bindings = ['web', 'web/one', 'web/two', 'tls', 'other', 'gone'];
const patterns = ['/a/[0-9]+', '/a/.*', '/[a-z]/b', '/d.*', '.*', 'a/b'];

/** @param share factor of the shares of matchers: with few of them many routes have one rank */
function routeOf(random: Random, id: string, share: number): object {
  const form = pick(random, ['path', 'pathPrefix', 'pathPrefix', 'pathRegex']);
  const match = {
    [form]: pick(random, form === 'pathRegex' ? patterns : ['/', '/a', '/a/b', '/d']),
    ...some(random, 0.3 * share, () => ({
      hostnames: [pick(random, ['x.test', 'a.x.test', '*.x.test', '*.test', '*'])],
    })),
    ...some(random, 0.3 * share, () => ({ methods: [pick(random, methods)] })),
    ...some(random, 0.25 * share, () => ({ headers: [matcher(random, 'X-A')] })),
    ...some(random, 0.2 * share, () => ({ queryParams: [matcher(random, 'q')] })),
    ...some(random, 0.15 * share, () => ({ scheme: pick(random, ['http', 'https']) })),
    ...some(random, 0.15 * share, () => ({ port: pick(random, [80, 81, 443, 8080]) })),
    ...some(random, 0.1 * share, () => ({ cel: pick(random, ['request.method == "GET"', 'true', '1 > 2']) })),
  };
  return {
    ...{ id, name: id, priority: pick(random, [0, 0, 1]), match, directResponse: { status: 204 } },
    ...some(random, 0.3 * share, () => ({
      listenerIds: [...new Set([pick(random, bindings), pick(random, bindings)])],
    })),
    ...some(random, 0.1 * share, () => ({ disabled: true })),
  };
}

function tableOf(random: Random, share: number): Configuration {
  const routes = Array.from({ length: 10 }, (_, at) => routeOf(random, `r${at}`, share));
  const group = (id: string, more: object) => ({ id, name: id, routeIds: ['r0', 'r1'], ...more });
  const groups = [
    ...(random() < 0.3
      ? [group('g', { pathPrefix: '/a', ...some(random, 0.5, () => ({ listenerIds: ['web'] })) })]
      : []),
    ...(random() < 0.2 ? [group('h', { headers: [{ name: 'x-a', value: '1' }] })] : []),
  ];
  return { listeners, groups, middlewares: [], destinations: [], streamRoutes: [], routes } as unknown as Configuration;
}

describe('findings of random tables on listeners', () => {
  const explainer = new Explainer();
  const explained = (made: Configuration, witness: Witness) =>
    explainer.explain(undefined, () => made, { clientIp: '127.0.0.1', body: '', ...witness });

  it('contradict no request of a small world that is asked one by one, and are what explain says', async function () {
    this.timeout(240_000);
    const told = new Map<string, number>();
    let unreached = 0;
    for (let round = 0; round < tablesCount; round++) {
      const made = tableOf(seededRandom(9_000 + round), round % 2 === 0 ? 1 : 0.4);
      const { table, problems } = await compileInSlices(made);
      if (table === undefined) throw new Error(JSON.stringify(problems));
      const reached = new Set<string>();
      for (const asked of world) {
        const { matched } = settle(table, asked);
        if (matched !== undefined) reached.add(`${matched.group?.id ?? ''}/${matched.route.id}`);
      }
      unreached += table.entries.filter(({ group, route }) => !reached.has(`${group?.id ?? ''}/${route.id}`)).length;
      const found = await findingsOf(made, { nowMs: 0 });
      const off = made.routes.flatMap(({ id, disabled }) => (disabled === true ? [id] : []));
      for (const each of found) {
        const about = `table ${round}: ${JSON.stringify([each, made.routes, made.groups])}`;
        told.set(each.rule, (told.get(each.rule) ?? 0) + 1);
        if (entryRules.has(each.rule)) expect(off, about).to.not.include(each.id);
        if (each.rule === 'unreachable-route') expect(lostEntries(each, reached), about).to.equal(true);
        if (each.rule === 'condition-never' && each.kind === 'routes')
          expect(isNever(each, reached), about).to.equal(true);
        if (each.rule === 'ambiguous-order') await checkAmbiguous(made, each, about);
      }
    }
    for (const rule of ['unreachable-route', 'ambiguous-order', 'condition-never', 'condition-always'])
      expect(told.get(rule) ?? 0, rule).to.be.greaterThan(3);
    expect(told.get('unreachable-route')).to.be.lessThan(unreached);
  });

  /** Conditions of the route are for all of its entries, those of listeners for one. */
  const isNever = (finding: Finding, reached: ReadonlySet<string>): boolean =>
    finding.message.startsWith('route "')
      ? lostEntries(finding, reached)
      : ![...reached].some((entry) => entry.endsWith(`/${finding.id}`));

  /** The entry that the message names, by its group, is reached by no request. */
  function lostEntries({ id, message }: Finding, reached: ReadonlySet<string>): boolean {
    const [, group = ''] = /^route "[^"]+" of group "([^"]+)"/.exec(message) ?? [];
    return !reached.has(`${group}/${id}`);
  }

  async function checkAmbiguous(made: Configuration, { id, because, witness }: Finding, about: string): Promise<void> {
    const { winner, candidates } = await explained(made, witness as Witness);
    expect(winner?.route.id, about).to.equal(because[0]?.id);
    const matching = candidates.filter(({ matches }) => matches).map(({ route }) => route.id);
    expect(matching, about).to.include(id);
  }
});

/** Rules about entries that serve requests. */
const entryRules = new Set(['unreachable-route', 'ambiguous-order', 'unprotected-sibling', 'redirect-loop']);
