import { expect } from 'chai';
import { parseEntity } from '../../../src/model/validation.ts';
import { describeRows, forwardTo, problemsWith, routeBody } from '../../support/entities.ts';

const match = (value: object) => routeBody({ match: value });
const forward = (changes: object) => routeBody({ forward: { ...forwardTo('d'), ...changes } });
const weights = (...list: readonly (number | undefined)[]) =>
  routeBody({ forward: { destinations: list.map((weight) => ({ destinationId: 'd', weight })) } });
const shares = (...destinations: readonly object[]) => routeBody({ forward: { destinations } });
const redirect = (value: object) => ({ name: 'r', redirect: value });
const answer = (value: object) => ({ name: 'r', directResponse: value });
const override = (value: object) => routeBody({ middlewareOverrides: { m: value } });
const bool = 'request.method == "GET"';

describeRows('routes: exactly one action (contract.md §2.11)', 'routes', [
  ['none', { name: 'r' }, ['']],
  ['forward alone', routeBody()],
  ['redirect alone', redirect({ path: '/x' })],
  ['directResponse alone', answer({ status: 200 })],
  ['forward with redirect', routeBody({ redirect: { path: '/' } }), ['/redirect']],
  ['redirect with directResponse', { ...redirect({ path: '/' }), ...answer({ status: 200 }) }, ['/directResponse']],
  ['all three', routeBody({ redirect: { path: '/' }, directResponse: { status: 200 } }), ['/redirect']],
  ['an empty action beside another', routeBody({ redirect: {} }), ['/redirect', '/redirect']],
]);

const bound = (...listenerIds: readonly unknown[]) => routeBody({ listenerIds });

describeRows('routes: listenerIds', 'routes', [
  ['none', bound()],
  ['a listener, and a section of one', bound('public', 'internal/shop.v1')],
  ['ids of 512 characters', bound(`${'a'.repeat(512)}/${'b'.repeat(512)}`)],
  ['an empty section', bound('public/'), ['/listenerIds/0']],
  ['a section of no listener', bound('/shop'), ['/listenerIds/0']],
  ['two slashes', bound('ok', 'a/b/c'), ['/listenerIds/1']],
  ['a number', bound(7), ['/listenerIds/0']],
]);

describeRows('routes: match.port', 'routes', [
  ['a port', match({ port: 8443 })],
  ['port 0', match({ port: 0 }), ['/match/port']],
  ['port 65536', match({ port: 65_536 }), ['/match/port']],
  ['a text', match({ port: '80' }), ['/match/port']],
]);

describeRows('routes: match (contract.md §2.4.1)', 'routes', [
  ['each path matcher alone', match({ path: '/a' })],
  ['a path without leading /', match({ pathPrefix: 'products' })],
  ['a path beyond ASCII, with blanks', match({ path: '/größe/日 本' })],
  ['a path with a query', match({ path: '/a?b' }), ['/match/path']],
  ['a path with a fragment', match({ path: '/a#b' }), ['/match/path']],
  ['a path with NUL', match({ path: '/a%00' }), ['/match/path']],
  ['a path with half a character', match({ path: '/\ud800' }), ['/match/path']],
  ['a prefix with a query', match({ pathPrefix: '/a?b' }), ['/match/pathPrefix']],
  ['a prefix with a fragment', match({ pathPrefix: '/a#b' }), ['/match/pathPrefix']],
  ['path with pathPrefix', match({ path: '/a', pathPrefix: '/b' }), ['/match/pathPrefix']],
  ['pathPrefix with pathRegex', match({ pathPrefix: '/a', pathRegex: '/b' }), ['/match/pathRegex']],
  ['all three path matchers', match({ path: '/', pathPrefix: '/', pathRegex: '/' }), ['/match/pathPrefix']],
  ['a path matcher beside an empty one', match({ path: '/a', pathPrefix: '' })],
  ['RE2 syntax', match({ pathRegex: '/(?P<id>[0-9]+)\\z' })],
  ['a regex that does not end', match({ pathRegex: '/(' }), ['/match/pathRegex']],
  ['a look-ahead', match({ pathRegex: '/(?=a)' }), ['/match/pathRegex']],
  ['a back-reference', match({ pathRegex: '/(a)\\1' }), ['/match/pathRegex']],
  ['a regex of 4097 characters', match({ pathRegex: 'a'.repeat(4097) }), ['/match/pathRegex']],
  ['methods in any case', match({ methods: ['get', 'PURGE', 'M-SEARCH'] })],
  ['a method with a blank', match({ methods: ['GET '] }), ['/match/methods/0']],
  ['host names, suffixes and any', match({ hostnames: ['a.example', '*.example', '*', '10.0.0.1'] })],
  ['a host name with a port', match({ hostnames: ['a:80'] }), ['/match/hostnames/0']],
  ['a header by presence', match({ headers: [{ name: 'X-A' }] })],
  ['a header without name', match({ headers: [{ value: 'a' }] }), ['/match/headers/0/name']],
  ['a header of a name that is no token', match({ headers: [{ name: 'a b' }] }), ['/match/headers/0/name']],
  ['a header of a bad regex', match({ headers: [{ name: 'a', value: '(', regex: true }] }), ['/match/headers/0/value']],
  ['the same text when it is no regex', match({ headers: [{ name: 'a', value: '(' }] })],
  ['a query parameter without name', match({ queryParams: [{}] }), ['/match/queryParams/0/name']],
  [
    'a query parameter of a bad regex',
    match({ queryParams: [{ name: 'a b', value: '[', regex: true }] }),
    ['/match/queryParams/0/value'],
  ],
  ['CEL that yields bool', match({ cel: `${bool} && request.headers["x-a"] == "b"`, grpc: true })],
  ['CEL that does not parse', match({ cel: 'request.method ==' }), ['/match/cel']],
  ['CEL that yields a string', match({ cel: '"a" + "b"' }), ['/match/cel']],
  ['CEL of an unknown variable', match({ cel: 'reqest.method == "GET"' }), ['/match/cel']],
  ['CEL of 8193 characters', match({ cel: `${bool}${' '.repeat(8193)}` }), ['/match/cel']],
]);

describeRows('routes: destinations and weights (contract.md §2.4.2, §11 row 19)', 'routes', [
  ['no list', { name: 'r', forward: {} }, ['/forward/destinations']],
  ['an empty list', { name: 'r', forward: { destinations: [] } }, ['/forward/destinations']],
  [
    'an entry without id',
    { name: 'r', forward: { destinations: [{ weight: 1 }] } },
    ['/forward/destinations/0/destinationId'],
  ],
  ['one entry of any weight', weights(7)],
  ['100 and 0', weights(100, 0)],
  ['the same id twice', weights(60, 40)],
  ['a fixed answer', shares({ directResponse: { status: 503, body: 'x' }, weight: 1 }, { destinationId: 'd' })],
  ['a fixed answer alone', shares({ directResponse: { status: 503 } })],
  ['a fixed answer without status', shares({ directResponse: {} }), ['/forward/destinations/0/directResponse/status']],
  [
    'a fixed answer beside a destination',
    shares({ destinationId: 'd', directResponse: { status: 503 } }),
    ['/forward/destinations/0/directResponse'],
  ],
  [
    'a fixed answer with edits',
    shares({ directResponse: { status: 503 }, rewrite: { path: '/' } }),
    ['/forward/destinations/0/rewrite'],
  ],
  ['edits of an entry', shares({ destinationId: 'd', headers: {}, rewrite: { path: '/' } })],
  [
    'two path rewrites of an entry',
    shares({ destinationId: 'd', rewrite: { path: '/', pathRegex: { pattern: 'a', substitution: '' } } }),
    ['/forward/destinations/0/rewrite/pathRegex'],
  ],
  ['failover that is no flag', forward({ failover: 'no' }), ['/forward/failover']],
  ['weights of any sum', weights(1, 1, 1)],
  ['1 of a million', weights(999_999, 1)],
  ['a weight above a million', weights(1_000_001, 1), ['/forward/destinations/0/weight']],
  ['two of weight 0', weights(0, 0), ['/forward/destinations']],
  ['two without weights', weights(undefined, undefined), ['/forward/destinations']],
  ['100 and an absent one', weights(100, undefined)],
  ['a negative weight', weights(110, -10), ['/forward/destinations/1/weight']],
  ['a fractional weight', weights(99.5, 0.5), ['/forward/destinations/0/weight', '/forward/destinations/1/weight']],
]);

describeRows('routes: the rest of forward (contract.md §2.4.2–§2.4.4)', 'routes', [
  ['each balancing', forward({ destinationBalancing: { algorithm: 'WEIGHTED_CONSISTENT_HASH' } })],
  [
    'an unknown balancing',
    forward({ destinationBalancing: { algorithm: 'RANDOM' } }),
    ['/forward/destinationBalancing/algorithm'],
  ],
  [
    'a pin cookie of its own (§12 row 20)',
    forward({ destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 'pin', ttl: '1h' } } } }),
  ],
  [
    'a bad ttl',
    forward({ destinationBalancing: { algorithm: 'STICKY', sticky: { cookie: { ttl: 'x' } } } }),
    ['/forward/destinationBalancing/sticky/cookie/ttl'],
  ],
  [
    'every retry condition',
    forward({
      retry: {
        attempts: 2,
        on: ['server-error', 'connection-failure', 'gateway-error', 'retriable-codes'],
        retriableCodes: [100, 599],
      },
    }),
  ],
  [
    'a retry of gRPC codes, within a budget',
    forward({ retry: { on: ['retriable-codes'], grpcCodes: ['unavailable', 'cancelled'], budgetPercent: 100 } }),
  ],
  ['a retry of no budget', forward({ retry: { budgetPercent: 0 } })],
  ['a budget above 100 percent', forward({ retry: { budgetPercent: 101 } }), ['/forward/retry/budgetPercent']],
  [
    'gRPC codes that are none of the five',
    forward({ retry: { grpcCodes: ['UNAVAILABLE', 'ok'] } }),
    ['/forward/retry/grpcCodes/0', '/forward/retry/grpcCodes/1'],
  ],
  ['an unknown retry condition', forward({ retry: { on: ['server-error', 'always'] } }), ['/forward/retry/on/1']],
  [
    'codes out of range',
    forward({ retry: { retriableCodes: [99, 600] } }),
    ['/forward/retry/retriableCodes/0', '/forward/retry/retriableCodes/1'],
  ],
  [
    'a bad back-off',
    forward({ retry: { backoff: { base: '1', max: '2' } } }),
    ['/forward/retry/backoff/base', '/forward/retry/backoff/max'],
  ],
  [
    'two path rewrites',
    forward({ rewrite: { path: '/a', pathRegex: { pattern: 'a', substitution: 'b' } } }),
    ['/forward/rewrite/pathRegex'],
  ],
  [
    'a path rewrite without parts',
    forward({ rewrite: { pathRegex: {} } }),
    ['/forward/rewrite/pathRegex/pattern', '/forward/rewrite/pathRegex/substitution'],
  ],
  [
    'a path rewrite of a bad regex',
    forward({ rewrite: { pathRegex: { pattern: '(', substitution: '' } } }),
    ['/forward/rewrite/pathRegex/pattern'],
  ],
  [
    'host with hostFromHeader',
    forward({ rewrite: { host: 'a', hostFromHeader: 'x-h' } }),
    ['/forward/rewrite/hostFromHeader'],
  ],
  ['host with autoHost', forward({ rewrite: { host: 'a', autoHost: true } }), ['/forward/rewrite/autoHost']],
  ['host with autoHost false', forward({ rewrite: { host: 'a.example:8080', autoHost: false } })],
  ['a host that is none', forward({ rewrite: { host: 'a b' } }), ['/forward/rewrite/host']],
  ['a mirror of 0 percent', forward({ mirror: { destinationId: 'd', percentage: 0 } })],
  [
    'a mirror of 101 percent',
    forward({ mirror: { destinationId: 'd', percentage: 101 } }),
    ['/forward/mirror/percentage'],
  ],
  ['a mirror without destination', forward({ mirror: {} }), ['/forward/mirror/destinationId']],
  [
    'several mirrors',
    forward({
      mirrors: [
        { destinationId: 'd', fraction: { numerator: 1, denominator: 1000 } },
        { destinationId: 'e', percentage: 0 },
        { destinationId: 'f', fraction: { numerator: 5 } },
      ],
    }),
  ],
  ['mirrors beside mirror', forward({ mirror: { destinationId: 'd' }, mirrors: [] }), ['/forward/mirrors']],
  ['17 mirrors', forward({ mirrors: Array(17).fill({ destinationId: 'd' }) }), ['/forward/mirrors']],
  [
    'a mirror with percentage and fraction',
    forward({ mirrors: [{ destinationId: 'd', percentage: 1, fraction: { numerator: 1 } }] }),
    ['/forward/mirrors/0/fraction'],
  ],
  [
    'a fraction above one',
    forward({ mirrors: [{ destinationId: 'd', fraction: { numerator: 101 } }] }),
    ['/forward/mirrors/0/fraction/numerator'],
  ],
  [
    'a fraction of nothing',
    forward({ mirror: { destinationId: 'd', fraction: { numerator: 0, denominator: 0 } } }),
    ['/forward/mirror/fraction/denominator'],
  ],
  ['a limit of each try', forward({ timeouts: { perAttempt: '0' } })],
  [
    'a limit of each try that is no duration',
    forward({ timeouts: { perAttempt: '5' } }),
    ['/forward/timeouts/perAttempt'],
  ],
  [
    'fields of the route',
    forward({ headers: { interpolate: false, requestHeadersToAdd: [{ key: 'a', value: '${' }] } }),
  ],
  [
    'fields of the route with a bad name',
    forward({ headers: { requestHeadersToAdd: [{ key: 'a b', value: 'x' }] } }),
    ['/forward/headers/requestHeadersToAdd/0/key'],
  ],
  ['maxGrpcTimeout 0s', forward({ maxGrpcTimeout: '0s', timeouts: { request: '0s' } })],
  ['a bad maxGrpcTimeout', forward({ maxGrpcTimeout: '1' }), ['/forward/maxGrpcTimeout']],
]);

describeRows('routes: redirect (contract.md §2.4.5)', 'routes', [
  ['one that changes nothing', redirect({}), ['/redirect']],
  ['one that changes only the code', redirect({ code: 308, stripQuery: false }), ['/redirect']],
  ['stripQuery alone', redirect({ stripQuery: true })],
  ['scheme alone', redirect({ scheme: 'https' })],
  ['a url that needs no more', redirect({ url: 'https://example.com/x?y' })],
  ['a url that breaks the line', redirect({ url: 'https://a/\r\nSet-Cookie: b=c' }), ['/redirect/url']],
  ['an unknown scheme', redirect({ scheme: 'ftp' }), ['/redirect/scheme']],
  ['a host with a port', redirect({ host: 'a.example:8443' })],
  ['a host with a path', redirect({ host: 'a.example/x' }), ['/redirect/host']],
  ['code 0', redirect({ path: '/', code: 0 })],
  ['code 304', redirect({ path: '/', code: 304 }), ['/redirect/code']],
]);

describeRows('routes: paths and URLs have a canonical form (contract.md §6.1)', 'routes', [
  ['rewrite.path with a query', forward({ rewrite: { path: '/in?k=ü' } })],
  ['rewrite.path with a fragment', forward({ rewrite: { path: '/a#b' } }), ['/forward/rewrite/path']],
  ['rewrite.path with NUL', forward({ rewrite: { path: '/%00' } }), ['/forward/rewrite/path']],
  [
    'a substitution with a fragment',
    forward({ rewrite: { pathRegex: { pattern: 'a', substitution: '/b#c' } } }),
    ['/forward/rewrite/pathRegex/substitution'],
  ],
  ['redirect.path with a query', redirect({ path: '/in?k=日' })],
  ['redirect.path with a fragment', redirect({ path: '/#/login' }), ['/redirect/path']],
  ['redirect.url with a fragment', redirect({ url: 'https://a.test/#/login' })],
  ['redirect.url beyond ASCII', redirect({ url: 'https://bücher.example/日?k=ü' })],
  ['redirect.url with a host that DNS cannot know', redirect({ url: 'https://a b.test/' }), ['/redirect/url']],
  ['redirect.url with half a character', redirect({ url: 'https://a.test/\udc00' }), ['/redirect/url']],
]);

describeRows('routes: direct response (contract.md §2.4.6)', 'routes', [
  ['a missing status', answer({}), ['/directResponse/status']],
  ['status 199', answer({ status: 199 }), ['/directResponse/status']],
  ['status 600', answer({ status: 600 }), ['/directResponse/status']],
  ['status 599 with a body', answer({ status: 599, body: 'späť' })],
]);

describeRows('routes: middleware overrides (contract.md §2.6)', 'routes', [
  ['keys that are no ids', routeBody({ middlewareOverrides: { 'ns/name': { disabled: true } } })],
  ['skipWhen with onlyWhen', override({ skipWhen: [bool], onlyWhen: [bool] }), ['/middlewareOverrides/m/onlyWhen']],
  ['skipWhen with an empty onlyWhen', override({ skipWhen: [bool], onlyWhen: [] })],
  ['a bad condition', override({ skipWhen: [bool, 'nope('] }), ['/middlewareOverrides/m/skipWhen/1']],
  [
    'bad headers',
    override({ headers: { requestHeadersToAdd: [{ key: 'a' }] } }),
    ['/middlewareOverrides/m/headers/requestHeadersToAdd/0/value'],
  ],
  [
    'bad phases',
    override({ extProc: { phases: { requestBody: 'all' } } }),
    ['/middlewareOverrides/m/extProc/phases/requestBody'],
  ],
  ['an override that is no object', override([]), ['/middlewareOverrides/m']],
]);

describe('methods of the configuration', () => {
  it('are stored in upper case, references left alone', () => {
    const secret = '{{secret:value:m}}';
    const { entity } = parseEntity('routes', match({ methods: ['get', 'M-search', secret] }));
    expect(entity.match).to.deep.equal({ methods: ['GET', 'M-SEARCH', secret] });
    const cors = { name: 'c', type: 'cors', cors: { allowMethods: ['put'] } };
    expect(parseEntity('middlewares', cors).entity.cors).to.deep.equal({ allowMethods: ['PUT'] });
  });
});

describe('what is wrong with a route', () => {
  it('is said so that a person can mend it', () => {
    expect(problemsWith('routes', weights(0, 0))).to.deep.equal(['/forward/destinations must have a weight above 0']);
    expect(problemsWith('routes', match({ path: '/', pathRegex: '/' }))).to.deep.equal([
      '/match/pathRegex must not stand beside path',
    ]);
    expect(problemsWith('routes', redirect({ path: '/', code: 304 }))).to.deep.equal([
      '/redirect/code must be one of 0, 301, 302, 303, 307, 308',
    ]);
  });
});
