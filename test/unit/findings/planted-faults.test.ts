import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import type { Finding, Witness } from '../../../src/model/answers/finding-answers.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { Explainer } from '../../../src/proxy/explain/explainer.ts';
import {
  faultlessTable as configuration,
  forwardToShop as forward,
  routeTo as route,
} from '../../support/faultless-table.ts';
import { makeCertificate } from '../../support/made-certificates.ts';

const certificate = makeCertificate({ dnsNames: ['shop.test', '*.wild.test'] });
const jwt = { id: 'token', name: 'token', type: 'jwt', jwt: { issuer: 'i', jwks: '{"keys":[]}' } };

const apiKey = { id: 'keys', name: 'keys', type: 'apiKey', apiKey: { sources: { header: 'x-key' } } };

const find = (made: Configuration, nowMs = Date.now()) => findingsOf(made, { nowMs });
const explainer = new Explainer();

/** Winner of a witness, as `POST /explain` tells it. */
async function explained(made: Configuration, witness: Witness) {
  return await explainer.explain(undefined, () => made, { clientIp: '127.0.0.1', body: '', ...witness });
}

interface Planted {
  readonly rule: string;
  readonly id: string;
  readonly severity: string;
  readonly pointer: string;
  readonly made: Configuration;
  readonly because?: readonly string[];
  /** Route that wins the witness; null: there is no witness. */
  readonly winner: string | null;
  readonly nowMs?: number;
}

const tlsListener = (more: object = {}) => ({
  id: 'tls',
  name: 'tls',
  address: '127.0.0.1',
  port: 8443,
  tls: { cert: certificate.cert, key: certificate.key },
  ...more,
});

const planted: readonly Planted[] = [
  {
    rule: 'unreachable-route',
    id: 'lost',
    severity: 'error',
    pointer: '/match',
    made: configuration({
      routes: [
        route('all', { pathPrefix: '/shop', methods: ['GET'] }, { forward, priority: 1 }),
        route('posts', { pathPrefix: '/shop', methods: ['POST'] }, { forward, priority: 1 }),
        route('lost', { path: '/shop/cart', methods: ['GET', 'POST'], hostnames: ['a.test'] }),
      ],
    }),
    because: ['all', 'posts'],
    winner: 'all',
  },
  {
    rule: 'ambiguous-order',
    id: 'two',
    severity: 'warning',
    pointer: '/match',
    made: configuration({
      routes: [
        route('one', { pathPrefix: '/shop', headers: [{ name: 'x-a', value: '1' }] }),
        route('two', { pathPrefix: '/shop', headers: [{ name: 'x-b', value: '2' }] }),
      ],
    }),
    because: ['one'],
    winner: 'one',
  },
  {
    rule: 'unprotected-sibling',
    id: 'open',
    severity: 'warning',
    pointer: '/middlewareIds',
    made: configuration({
      middlewares: [jwt],
      destinations: [{ id: 'api', name: 'api', host: 'api.internal', port: 80 }],
      routes: ['a', 'b', 'open'].map((id) =>
        route(
          id,
          { path: `/${id}` },
          {
            forward: { destinations: [{ destinationId: 'api' }] },
            ...(id !== 'open' && { middlewareIds: ['token'] }),
          },
        ),
      ),
    }),
    because: ['a', 'b'],
    winner: 'open',
  },
  {
    rule: 'condition-never',
    id: 'never',
    severity: 'warning',
    pointer: '/match/cel',
    made: configuration({ routes: [route('never', { path: '/n', cel: 'request.method == "GET" && 1 > 2' })] }),
    winner: null,
  },
  {
    rule: 'condition-always',
    id: 'always',
    severity: 'warning',
    pointer: '/match/cel',
    made: configuration({ routes: [route('always', { path: '/n', cel: 'true || request.path == "/"' })] }),
    winner: null,
  },
  {
    rule: 'redirect-loop',
    id: 'there',
    severity: 'error',
    pointer: '/redirect',
    made: configuration({
      routes: [
        route('there', { path: '/there' }, { redirect: { path: '/back' } }),
        route('back', { path: '/back' }, { redirect: { path: '/there' } }),
      ],
    }),
    because: ['back'],
    winner: 'there',
  },
  {
    rule: 'overtaken-redirect',
    id: 'secure',
    severity: 'warning',
    pointer: '/redirect',
    made: configuration({
      listeners: [{ id: 'web', name: 'web', address: '127.0.0.1', port: 8080 }, tlsListener()],
      routes: [
        route('secure', { scheme: 'http', hostnames: ['shop.test'] }, { redirect: { scheme: 'https' } }),
        route('challenge', { pathPrefix: '/.well-known/acme-challenge', hostnames: ['shop.test'] }),
        route('moved', { pathPrefix: '/old', hostnames: ['shop.test'] }, { redirect: { path: '/new' } }),
        route('cart', { pathPrefix: '/cart', hostnames: ['shop.test'] }),
      ],
    }),
    because: ['base', 'cart'],
    winner: 'base',
  },
  {
    rule: 'rewrite-loses-path',
    id: 'flat',
    severity: 'info',
    pointer: '/forward/rewrite/pathRegex',
    made: configuration({
      routes: [
        route(
          'flat',
          { pathPrefix: '/flat' },
          {
            forward: { ...forward, rewrite: { pathRegex: { pattern: '^/flat/.*$', substitution: '/all' } } },
          },
        ),
      ],
    }),
    winner: 'flat',
  },
  {
    rule: 'host-without-certificate',
    id: 'bare',
    severity: 'error',
    pointer: '/match/hostnames',
    made: configuration({
      listeners: [tlsListener()],
      routes: [route('bare', { path: '/x', hostnames: ['other.test'] })],
    }),
    because: ['tls'],
    winner: 'bare',
  },
  {
    rule: 'certificate-expires',
    id: 'tls',
    severity: 'error',
    pointer: '/tls/cert',
    made: configuration({ listeners: [tlsListener()] }),
    winner: null,
    nowMs: Date.now() + 100 * 365 * 86_400_000,
  },
  {
    rule: 'protected-in-cleartext',
    id: 'plain',
    severity: 'warning',
    pointer: '/middlewareIds',
    made: configuration({
      middlewares: [jwt],
      listeners: [{ id: 'web', name: 'web', port: 8080 }],
      routes: [route('plain', { path: '/p' }, { forward, middlewareIds: ['token'] })],
    }),
    because: ['token', 'web'],
    winner: 'plain',
  },
  {
    rule: 'no-consumer',
    id: 'keyed',
    severity: 'warning',
    pointer: '/middlewareIds',
    made: configuration({
      middlewares: [apiKey],
      consumers: [{ id: 'ann', name: 'ann', credentials: [{ type: 'jwt', issuer: 'i', subject: 's' }] }],
      routes: [route('keyed', { path: '/k' }, { forward, middlewareIds: ['keys'] })],
    }),
    because: ['keys'],
    winner: 'keyed',
  },
  {
    rule: 'shadowed-endpoint',
    id: 'spare',
    severity: 'warning',
    pointer: '/endpoints/1',
    made: configuration({
      destinations: [
        {
          id: 'spare',
          name: 'spare',
          host: 'spare.internal',
          port: 80,
          endpoints: [
            { host: '10.0.0.1', port: 80 },
            { host: '10.0.0.2', port: 80, priority: 1 },
          ],
        },
      ],
      routes: [route('s', { path: '/s' }, { forward: { destinations: [{ destinationId: 'spare' }] } })],
    }),
    winner: null,
  },
  {
    rule: 'self-forward',
    id: 'own',
    severity: 'error',
    pointer: '/forward/destinations/0',
    made: configuration({
      destinations: [{ id: 'self', name: 'self', host: 'localhost', port: 8080 }],
      routes: [route('own', { pathPrefix: '/own' }, { forward: { destinations: [{ destinationId: 'self' }] } })],
    }),
    because: ['web'],
    winner: 'own',
  },
  {
    rule: 'retry-not-idempotent',
    id: 'again',
    severity: 'warning',
    pointer: '/forward/retry',
    made: configuration({
      routes: [
        route(
          'again',
          { path: '/again', methods: ['GET', 'POST'] },
          {
            forward: { ...forward, retry: { attempts: 2, on: ['gateway-error'] } },
          },
        ),
      ],
    }),
    winner: null,
  },
  {
    rule: 'timeouts-contradict',
    id: 'slow',
    severity: 'warning',
    pointer: '/forward/timeouts/perAttempt',
    made: configuration({
      routes: [
        route('slow', { path: '/slow' }, { forward: { ...forward, timeouts: { request: '1s', perAttempt: '2s' } } }),
      ],
    }),
    winner: null,
  },
  {
    rule: 'unused',
    id: 'idle',
    severity: 'info',
    pointer: '',
    made: configuration({ destinations: [{ id: 'idle', name: 'idle', host: 'idle.internal', port: 80 }] }),
    winner: null,
  },
];

const first = ({ witness }: Finding): Witness | null =>
  (Array.isArray(witness) ? (witness[0] ?? null) : witness) as Witness | null;

describe('findings of planted faults', () => {
  for (const { rule, id, severity, pointer, made, because = [], winner, nowMs } of planted) {
    it(`${rule} is found, with a witness that explain confirms`, async () => {
      const all = await find(made, nowMs);
      const found = all.filter((each) => each.rule === rule);
      expect([...new Set(all.map((each) => each.rule))], JSON.stringify(all)).to.deep.equal([rule]);
      const finding = found.find((each) => each.id === id) as Finding;
      expect(finding).to.include({ id, severity, pointer });
      expect(finding.because.map((each) => each.id)).to.deep.equal(because);
      const witness = first(finding);
      const won = witness === null ? null : (await explained(made, witness)).winner?.route.id;
      expect(won).to.equal(winner);
    });
  }

  for (const [type, block] of [
    ['jwt', jwt.jwt],
    ['basicAuth', { users: 'ann:$2y$05$be3HNIa1X6yfSHyD8WXsd.hGsAdslpabsyaEvtwZfvUQghcXq72kW' }],
    ['apiKey', apiKey.apiKey],
  ] as const)
    it(`protected-in-cleartext and unprotected-sibling know credentials of ${type}`, async () => {
      const made = configuration({
        listeners: [{ id: 'web', name: 'web', port: 8080 }],
        middlewares: [{ id: 'm', name: 'm', type, [type]: block }],
        routes: ['a', 'b', 'open'].map((id) =>
          route(id, { path: `/${id}` }, { forward, ...(id !== 'open' && { middlewareIds: ['m'] }) }),
        ),
      });
      const found = (await find({ ...made, routes: made.routes.filter(({ id }) => id !== 'base') })).map(
        ({ rule, id }) => `${rule} ${id}`,
      );
      expect(found).to.include.members(['protected-in-cleartext a', 'protected-in-cleartext b']);
      expect(found).to.include('unprotected-sibling open');
    });

  describe('no-consumer', () => {
    const ann = { id: 'ann', name: 'ann', credentials: [{ type: 'apiKey', key: `sha256:${'0'.repeat(64)}` }] };
    const authz = (cel: string) => ({
      ...{ id: 'who', name: 'who', type: 'inlineAuthz' },
      inlineAuthz: { rules: [{ cel, action: 'allow' }], defaultAction: 'deny' },
    });
    const told = async (middlewares: readonly object[], ids: readonly string[], more: object = {}) => {
      const routes = [route('a', { path: '/a' }, { forward, middlewareIds: ids, ...more })];
      const found = await find(configuration({ middlewares, consumers: [ann], routes }));
      return found.filter(({ rule }) => rule === 'no-consumer').map(({ because }) => because[0]?.id);
    };

    it('is told of expressions that no middleware before them finds a consumer for', async () => {
      const reading = authz('consumer.name == "ann"');
      expect(await told([apiKey, reading], ['keys', 'who'])).to.deep.equal([]);
      expect(await told([apiKey, reading], ['who', 'keys'])).to.deep.equal(['who']);
      expect(await told([jwt, reading], ['token', 'who']), 'no consumer has a token').to.deep.equal(['who']);
      expect(await told([reading], ['who'], { middlewareOverrides: { who: { disabled: true } } })).to.deep.equal([]);
      expect(await told([authz('has(consumer.name) && consumer.name == "ann"')], ['who'])).to.deep.equal([]);
      expect(await told([authz('request.host == "consumer.example"')], ['who'])).to.deep.equal([]);
      const limit = (key: string) => ({
        ...{ id: 'rate', name: 'rate', type: 'rateLimit', rateLimit: { requestsPerSecond: 1, key } },
      });
      expect(await told([limit('consumer.id')], ['rate'])).to.deep.equal(['rate']);
      expect(await told([limit('request.host')], ['rate'])).to.deep.equal([]);
      const onlyWhen = { middlewareOverrides: { rate: { onlyWhen: ['consumer.name != ""'] } } };
      expect(await told([limit('request.host')], ['rate'], onlyWhen)).to.deep.equal(['rate']);
    });

    it('is told of basicAuth for consumers alone, and not where it has users', async () => {
      const basicAuth = (block: object) => [{ id: 'b', name: 'b', type: 'basicAuth', basicAuth: block }];
      const hash = '$2y$05$be3HNIa1X6yfSHyD8WXsd.hGsAdslpabsyaEvtwZfvUQghcXq72kW';
      expect(await told(basicAuth({ consumers: true }), ['b'])).to.deep.equal(['b']);
      expect(await told(basicAuth({ consumers: true, users: `u:${hash}` }), ['b'])).to.deep.equal([]);
    });

    it('is told of a condition of a route, which is asked before any middleware', async () => {
      const routes = [route('a', { path: '/a', cel: 'consumer.name == "ann"' })];
      const found = await find(configuration({ routes, consumers: [ann] }));
      expect(found.map(({ rule, pointer }) => [rule, pointer])).to.deep.equal([['no-consumer', '/match/cel']]);
    });
  });

  it('a table without a fault has no finding', async () => {
    expect(await find(configuration({}))).to.deep.equal([]);
  });
});
