import { middlewareTypes } from '../../../src/model/middleware.ts';
import { middlewareBody as body, describeRows } from '../../support/entities.ts';
import { secretHashes, weakLines } from '../../support/password-hashes.ts';

const jwt = (changes: object) => body('jwt', { issuer: 'i', jwksInline: '{}', ...changes });
const authz = (changes: object) => body('extAuthz', { destinationId: 'd', ...changes });
const proc = (changes: object) => body('extProc', { destinationId: 'd', ...changes });
const inline = (changes: object) => body('inlineAuthz', { rules: [{ cel: 'true', action: 'allow' }], ...changes });
const needed = [
  'rateLimit',
  'jwt',
  'extAuthz',
  'extProc',
  'accessLog',
  'inlineAuthz',
  'compress',
  'basicAuth',
  'apiKey',
];

describeRows('middlewares: type and block (contract.md §2.7, §2.11)', 'middlewares', [
  ['an unknown type', { name: 'm', type: 'waf' }, ['/type']],
  ['a missing type', { name: 'm' }, ['/type']],
  ['a type of another case', { name: 'm', type: 'CORS' }, ['/type']],
  ...needed.map((type) => [`${type} without its block`, { name: 'm', type }, [`/${type}`]] as const),
  ['cors without its block', { name: 'm', type: 'cors' }],
  ['headers without its block', { name: 'm', type: 'headers' }],
  ['unfinished blocks of other types', { name: 'm', type: 'cors', jwt: {}, inlineAuthz: { rules: [] } }],
  ['wrong types even in those', { name: 'm', type: 'cors', jwt: { issuer: 5 } }, ['/jwt/issuer']],
  ['no uint even in those', { name: 'm', type: 'cors', rateLimit: { burst: 0.5 } }, ['/rateLimit/burst']],
  ['numbers out of bounds in those', { name: 'm', type: 'cors', extProc: { statusOnError: 7 } }],
  ...middlewareTypes.map((type) => [`a ${type} block that is no object`, body(type, 'on'), [`/${type}`]] as const),
]);

describeRows('middlewares: cors (contract.md §8.1)', 'middlewares', [
  [
    'all fields',
    body('cors', {
      allowOrigins: [{ value: '*' }, { value: 'https://.*\\.example', regex: true }],
      allowMethods: ['GET'],
      allowHeaders: ['x-a', '*'],
      exposeHeaders: ['x-b'],
      maxAge: 0,
      allowCredentials: true,
    }),
  ],
  ['an origin without value', body('cors', { allowOrigins: [{}] }), ['/cors/allowOrigins/0/value']],
  [
    'an origin of a bad regex',
    body('cors', { allowOrigins: [{ value: '(', regex: true }] }),
    ['/cors/allowOrigins/0/value'],
  ],
  ['a negative maxAge', body('cors', { maxAge: -1 }), ['/cors/maxAge']],
  ['a method that breaks the line', body('cors', { allowMethods: ['GET\r\nX: y'] }), ['/cors/allowMethods/0']],
]);

const window = (more: object = {}) => ({ requests: 10, per: '1m', ...more });

describeRows('middlewares: rateLimit (contract.md §8.2)', 'middlewares', [
  ['an empty block', body('rateLimit', {})],
  ['fractions, zeros and less', body('rateLimit', { requestsPerSecond: 0.5, burst: 0 })],
  ['a rate below 0, which means the default', body('rateLimit', { requestsPerSecond: -1 })],
  [
    'an infinite rate',
    body('rateLimit', { requestsPerSecond: Number.POSITIVE_INFINITY }),
    ['/rateLimit/requestsPerSecond'],
  ],
  ['a fractional burst', body('rateLimit', { burst: 1.5 }), ['/rateLimit/burst']],
  ['a bare address and a range', body('rateLimit', { trustedProxies: ['10.0.0.1', 'fd00::/8'] })],
  [
    'a range that is none',
    body('rateLimit', { trustedProxies: ['10.0.0.0/8', '10.0.0.0/99'] }),
    ['/rateLimit/trustedProxies/1'],
  ],
  [
    'a key, a cost and limits',
    body('rateLimit', { key: 'request.path', cost: '2', limits: [window()], scope: 'process' }),
  ],
  ['a scope of Redis', body('rateLimit', { limits: [window()], scope: 'redis', failureMode: 'allow' })],
  ['an unknown failure mode', body('rateLimit', { scope: 'redis', failureMode: 'open' }), ['/rateLimit/failureMode']],
  ['the widest windows', body('rateLimit', { limits: [window({ per: '1s', burst: 0 }), window({ per: '24h' })] })],
  ['a window below a second', body('rateLimit', { limits: [window({ per: '999ms' })] }), ['/rateLimit/limits/0/per']],
  ['a window above a day', body('rateLimit', { limits: [window({ per: '24h1s' })] }), ['/rateLimit/limits/0/per']],
  ['a window without a period', body('rateLimit', { limits: [{ requests: 1 }] }), ['/rateLimit/limits/0/per']],
  ['a limit of 0', body('rateLimit', { limits: [window({ requests: 0 })] }), ['/rateLimit/limits/0/requests']],
  ['no limit', body('rateLimit', { limits: [] }), ['/rateLimit/limits']],
  [
    'limits beside a rate and a burst',
    body('rateLimit', { limits: [window()], requestsPerSecond: 1, burst: 1 }),
    ['/rateLimit/requestsPerSecond', '/rateLimit/burst'],
  ],
  ['a key that is no text', body('rateLimit', { key: 'size(request.path)' }), ['/rateLimit/key']],
  ['a key of any type', body('rateLimit', { key: 'request.body.json.user' })],
  ['a cost that is no number', body('rateLimit', { cost: 'request.path' }), ['/rateLimit/cost']],
  ['a cost of each type of number', body('rateLimit', { cost: 'size(request.path)' })],
  ['a cost that is a double', body('rateLimit', { cost: '0.5' })],
  ['an expression that is none', body('rateLimit', { key: 'request.' }), ['/rateLimit/key']],
  [
    'trusted proxies beside a key',
    body('rateLimit', { key: 'request.path', trustedProxies: ['10.0.0.1'] }),
    ['/rateLimit/trustedProxies'],
  ],
  ['a scope that is unknown', body('rateLimit', { scope: 'planet' }), ['/rateLimit/scope']],
]);

const addition = (when: string) => ({ key: 'x-a', value: 'b', when });

describeRows('middlewares: headers (contract.md §8.3)', 'middlewares', [
  ['a condition of a request field', body('headers', { requestHeadersToAdd: [addition('request.id != ""')] })],
  [
    'a condition of a response field',
    body('headers', { responseHeadersToAdd: [addition('response.status == 200 && request.path == "/"')] }),
  ],
  [
    'a condition over a response that is not there yet',
    body('headers', { requestHeadersToAdd: [addition('response.status == 200')] }),
    ['/headers/requestHeadersToAdd/0/when'],
  ],
  [
    'a condition that is no bool',
    body('headers', { responseHeadersToAdd: [addition('response.status')] }),
    ['/headers/responseHeadersToAdd/0/when'],
  ],
  [
    'a condition over a field that no response has',
    body('headers', { responseHeadersToAdd: [addition('response.code == 200')] }),
    ['/headers/responseHeadersToAdd/0/when'],
  ],
  [
    'all fields',
    body('headers', {
      requestHeadersToAdd: [{ key: 'X-A', value: 'b', append: true }],
      requestHeadersToRemove: ['x-b'],
      responseHeadersToAdd: [],
      responseHeadersToRemove: [],
    }),
  ],
  [
    'an addition without parts',
    body('headers', { responseHeadersToAdd: [{}] }),
    ['/headers/responseHeadersToAdd/0/key', '/headers/responseHeadersToAdd/0/value'],
  ],
  [
    'a name that is no token',
    body('headers', { requestHeadersToAdd: [{ key: 'a:', value: 'b' }] }),
    ['/headers/requestHeadersToAdd/0/key'],
  ],
  [
    'a value that breaks the line',
    body('headers', { requestHeadersToAdd: [{ key: 'a', value: 'b\nc' }] }),
    ['/headers/requestHeadersToAdd/0/value'],
  ],
  [
    'a removal of no name',
    body('headers', { requestHeadersToRemove: ['a', ''] }),
    ['/headers/requestHeadersToRemove/1'],
  ],
]);

describeRows('middlewares: jwt (contract.md §8.4)', 'middlewares', [
  ['keys of its own', jwt({ audiences: ['a'], forwardJwt: true, jwksRetrievalTimeout: '1s' })],
  ['keys of a destination', body('jwt', { issuer: 'i', jwksPath: '/jwks', jwksDestinationId: 'd' })],
  ['a missing issuer', body('jwt', { jwksInline: '{}' }), ['/jwt/issuer']],
  ['no source', body('jwt', { issuer: 'i' }), ['/jwt']],
  ['both sources', jwt({ jwksPath: '/jwks', jwksDestinationId: 'd' }), ['/jwt/jwksInline']],
  ['a path without destination', body('jwt', { issuer: 'i', jwksPath: '/jwks' }), ['/jwt/jwksDestinationId']],
  [
    'a path with a fragment',
    body('jwt', { issuer: 'i', jwksPath: '/jwks#a', jwksDestinationId: 'd' }),
    ['/jwt/jwksPath'],
  ],
  ['a path without /', body('jwt', { issuer: 'i', jwksPath: 'jwks', jwksDestinationId: 'd' }), ['/jwt/jwksPath']],
  ['claims of any type in a header', jwt({ claimToHeaders: [{ expr: 'claims.sub', header: 'x-user' }] })],
  [
    'a header without parts',
    jwt({ claimToHeaders: [{}] }),
    ['/jwt/claimToHeaders/0/expr', '/jwt/claimToHeaders/0/header'],
  ],
  [
    'a bad claim expression',
    jwt({ claimToHeaders: [{ expr: 'claims.', header: 'x' }] }),
    ['/jwt/claimToHeaders/0/expr'],
  ],
  ['assertions over claims and now', jwt({ assertClaims: ['claims.admin == true', 'claims.exp > now'] })],
  ['an assertion that yields a string', jwt({ assertClaims: ['"a"'] }), ['/jwt/assertClaims/0']],
  ['an assertion over the request', jwt({ assertClaims: ['request.method == "GET"'] }), ['/jwt/assertClaims/0']],
]);

describeRows('middlewares: extAuthz (contract.md §8.5)', 'middlewares', [
  [
    'all fields',
    authz({
      mode: 'grpc',
      path: '/check',
      decisionTimeout: '1s',
      failureModeAllow: true,
      includeBody: true,
      onCheck: { forwardHeaders: ['cookie'], injectHeaders: [{ key: 'x-p', value: 'b' }] },
      onAllow: { copyToUpstream: ['x-*'], copyToClient: ['x-a'] },
      onDeny: { copyToClient: ['*'] },
    }),
  ],
  ['a missing destination', body('extAuthz', {}), ['/extAuthz/destinationId']],
  ['a path with a query, beyond ASCII', authz({ path: 'prüfe?k=日' })],
  ['a path with a fragment', authz({ path: '/a#b' }), ['/extAuthz/path']],
  ['an unknown mode', authz({ mode: 'soap' }), ['/extAuthz/mode']],
  ['the protocol of envoy', authz({ protocol: 'envoy', mode: 'grpc' })],
  ['the protocol of envoy over http', authz({ protocol: 'envoy', mode: 'http' }), ['/extAuthz/mode']],
  ['the protocol of envoy over http by default', authz({ protocol: 'envoy' }), ['/extAuthz/mode']],
  ['the protocol of envoy over something unknown', authz({ protocol: 'envoy', mode: 'soap' }), ['/extAuthz/mode']],
  ['our own protocol over either', authz({ protocol: 'sluice', mode: 'http' })],
  ['an unknown protocol', authz({ protocol: 'xacml' }), ['/extAuthz/protocol']],
  ['a bad timeout', authz({ decisionTimeout: '5' }), ['/extAuthz/decisionTimeout']],
  [
    'an injected header without parts',
    authz({ onCheck: { injectHeaders: [{}] } }),
    ['/extAuthz/onCheck/injectHeaders/0/key', '/extAuthz/onCheck/injectHeaders/0/value'],
  ],
  [
    'a pattern that is no name',
    authz({ onAllow: { copyToUpstream: ['x y'] } }),
    ['/extAuthz/onAllow/copyToUpstream/0'],
  ],
]);

describeRows('middlewares: extProc (contract.md §8.6)', 'middlewares', [
  [
    'all fields',
    proc({
      mode: 'http',
      phaseTimeout: '1s',
      phases: {
        requestHeaders: 'skip',
        responseHeaders: 'send',
        requestBody: 'bufferedPartial',
        responseBody: 'streamed',
        maxBodyBytes: 1,
      },
      allowOnError: true,
      statusOnError: 503,
      allowedMutations: { allowHeaders: ['x-*'], denyHeaders: [] },
      forwardRules: { allowHeaders: [], denyHeaders: ['cookie'] },
      disableReject: true,
      observeMode: { enabled: true, workers: 1, queueSize: 1 },
      metricsPrefix: 'p',
    }),
  ],
  ['a missing destination', body('extProc', {}), ['/extProc/destinationId']],
  ['an unknown mode', proc({ mode: 'GRPC' }), ['/extProc/mode']],
  ['the protocol of envoy', proc({ protocol: 'envoy', allowModeOverride: true, maxPhaseTimeout: '5s' })],
  ['the protocol of envoy over http', proc({ protocol: 'envoy', mode: 'http' }), ['/extProc/mode']],
  ['an unknown protocol', proc({ protocol: 'icap' }), ['/extProc/protocol']],
  ['a bad maxPhaseTimeout', proc({ maxPhaseTimeout: '5' }), ['/extProc/maxPhaseTimeout']],
  [
    'full-duplex bodies',
    proc({ protocol: 'envoy', phases: { requestBody: 'fullDuplexStreamed' } }),
    ['/extProc/phases/requestBody'],
  ],
  ['body words for header phases', proc({ phases: { requestHeaders: 'none' } }), ['/extProc/phases/requestHeaders']],
  ['header words for body phases', proc({ phases: { responseBody: 'send' } }), ['/extProc/phases/responseBody']],
  ['statusOnError 399', proc({ statusOnError: 399 }), ['/extProc/statusOnError']],
  ['statusOnError 600', proc({ statusOnError: 600 }), ['/extProc/statusOnError']],
]);

describeRows('middlewares: accessLog (contract.md §8.7)', 'middlewares', [
  ['a path alone', body('accessLog', { path: 'stdout' })],
  [
    'templates, empty ones too',
    body('accessLog', { path: '/var/log/a', json: true, onResponse: { fields: { 'a-b': '', c: 'd' } } }),
  ],
  ['a missing path', body('accessLog', {}), ['/accessLog/path']],
  ...['a b', 'a=b', 'a"b', "a'b", 'a\nb', 'a\u00a0b', 'a\u0085b'].map(
    (name) =>
      [
        `a field named ${JSON.stringify(name)}`,
        body('accessLog', { path: 'x', onResponse: { fields: { [name]: 'v' } } }),
        [`/accessLog/onResponse/fields/${name}`],
      ] as const,
  ),
  [
    'a template that is no text',
    body('accessLog', { path: 'x', onRequest: { fields: { a: 5 } } }),
    ['/accessLog/onRequest/fields/a'],
  ],
  ['fields as a list', body('accessLog', { path: 'x', onRequest: { fields: ['a'] } }), ['/accessLog/onRequest/fields']],
]);

describeRows('middlewares: inlineAuthz (contract.md §8.8)', 'middlewares', [
  ['all fields', inline({ defaultAction: 'allow', denyStatus: 401, denyBody: '{}' })],
  ['no rules', body('inlineAuthz', {}), ['/inlineAuthz/rules']],
  ['an empty list of rules', body('inlineAuthz', { rules: [] }), ['/inlineAuthz/rules']],
  [
    'a rule without parts',
    body('inlineAuthz', { rules: [{}] }),
    ['/inlineAuthz/rules/0/cel', '/inlineAuthz/rules/0/action'],
  ],
  [
    'a rule that does not compile',
    body('inlineAuthz', { rules: [{ cel: '1 +', action: 'deny' }] }),
    ['/inlineAuthz/rules/0/cel'],
  ],
  [
    'an unknown action',
    body('inlineAuthz', { rules: [{ cel: 'true', action: 'log' }] }),
    ['/inlineAuthz/rules/0/action'],
  ],
  ['an unknown defaultAction', inline({ defaultAction: 'ask' }), ['/inlineAuthz/defaultAction']],
  ['denyStatus 200', inline({ denyStatus: 200 }), ['/inlineAuthz/denyStatus']],
]);

describeRows('middlewares: grpcWeb (contract.md §8.11)', 'middlewares', [
  ['no block', { name: 'm', type: 'grpcWeb' }],
  ['an empty block', body('grpcWeb', {})],
  ['a field in it', body('grpcWeb', { text: true }), ['/grpcWeb/text']],
]);

describeRows('middlewares: compress (contract.md §8.9)', 'middlewares', [
  ['an empty block', body('compress', {})],
  [
    'all fields',
    body('compress', {
      algorithms: ['gzip', 'br'],
      minBytes: 0,
      types: ['text/*', 'application/vnd.api+json', '*/*'],
      levels: { gzip: 9, br: 11, zstd: 19 },
      upstreamAcceptEncoding: 'strip',
      decompressRequest: { maxRatio: 20, maxBytes: 1024 },
    }),
  ],
  ['no algorithm', body('compress', { algorithms: [] }), ['/compress/algorithms']],
  ['an algorithm of another name', body('compress', { algorithms: ['deflate'] }), ['/compress/algorithms/0']],
  ['a type with parameters', body('compress', { types: ['text/html;q=1'] }), ['/compress/types/0']],
  ['a subtype of any type', body('compress', { types: ['*/json'] }), ['/compress/types/0']],
  ['a range within a subtype', body('compress', { types: ['text/x-*'] }), ['/compress/types/0']],
  ['a type without a slash', body('compress', { types: ['html'] }), ['/compress/types/0']],
  [
    'levels out of bounds',
    body('compress', { levels: { gzip: 0, br: 12, zstd: 20 } }),
    ['/compress/levels/gzip', '/compress/levels/br', '/compress/levels/zstd'],
  ],
  ['another choice', body('compress', { upstreamAcceptEncoding: 'drop' }), ['/compress/upstreamAcceptEncoding']],
  [
    'bounds of 0, which would refuse all',
    body('compress', { decompressRequest: { maxRatio: 0, maxBytes: 0 } }),
    ['/compress/decompressRequest/maxRatio', '/compress/decompressRequest/maxBytes'],
  ],
  ['an unknown field', body('compress', { level: 3 }), ['/compress/level']],
]);

const hashed = (users: string) => body('basicAuth', { users });
const { bcrypt, argon2id, scrypt, sha512Crypt } = secretHashes;
const usersProblem = ['/basicAuth/users'];

describeRows('middlewares: basicAuth (contract.md §8.10)', 'middlewares', [
  [
    'all fields',
    body('basicAuth', {
      users: ['# shop', '', `ann:${bcrypt}`, `bob:${argon2id}`, `cy:${scrypt}`, `dan:${sha512Crypt}`].join('\n'),
      realm: 'shop',
      userHeader: 'X-User',
      forwardAuthorization: true,
    }),
  ],
  ['a secret', hashed('{{secret:value:users}}')],
  ['no users', body('basicAuth', {}), usersProblem],
  ['consumers in place of users', body('basicAuth', { consumers: true })],
  ['neither', body('basicAuth', { consumers: false }), usersProblem],
  ['a comment alone', hashed('# none'), usersProblem],
  ...Object.entries(weakLines).map(([name, line]) => [`a hash of ${name}`, hashed(line), usersProblem] as const),
  ['a line without a name', hashed(`:${bcrypt}`), usersProblem],
  ['a line without a colon', hashed('ann'), usersProblem],
  ['a name twice', hashed(`ann:${bcrypt}\nann:${scrypt}`), usersProblem],
  ['argon2i', hashed(`ann:${argon2id.replace('argon2id', 'argon2i')}`), usersProblem],
  ['argon2id of an older version', hashed(`ann:${argon2id.replace('v=19', 'v=16')}`), usersProblem],
  ['argon2id of 1 GiB', hashed(`ann:${argon2id.replace('m=1024', 'm=1048576')}`), usersProblem],
  ['scrypt of 1 GiB', hashed(`ann:${scrypt.replace('ln=10', 'ln=20')}`), usersProblem],
  ['bcrypt of a cost beyond 14', hashed(`ann:${bcrypt.replace('$05$', '$15$')}`), usersProblem],
  ['a hash that was cut off', hashed(`ann:${bcrypt.slice(0, -1)}`), usersProblem],
  ['SHA-512-crypt of too many rounds', hashed(`ann:${sha512Crypt.replace('$6$', '$6$rounds=500001$')}`), usersProblem],
  ['a realm that breaks the line', body('basicAuth', { users: `a:${bcrypt}`, realm: 'a\r\nb' }), ['/basicAuth/realm']],
  [
    'a header name with a blank',
    body('basicAuth', { users: `a:${bcrypt}`, userHeader: 'x user' }),
    ['/basicAuth/userHeader'],
  ],
]);

const sources = (value: object) => body('apiKey', { sources: value });

describeRows('middlewares: apiKey (contract.md §8.12)', 'middlewares', [
  [
    'all fields',
    body('apiKey', {
      sources: { header: 'X-Api-Key', query: 'api key', cookie: 'k' },
      forwardKey: true,
      consumerHeader: 'X-Consumer',
    }),
  ],
  ['one source', sources({ query: 'k' })],
  ['no sources', body('apiKey', {}), ['/apiKey/sources']],
  ['sources of which there is none', sources({}), ['/apiKey/sources']],
  ['a header name with a blank', sources({ header: 'api key' }), ['/apiKey/sources/header']],
  ['a cookie name with a blank', sources({ cookie: 'api key' }), ['/apiKey/sources/cookie']],
  ['a list of sources', sources([{ header: 'k' }]), ['/apiKey/sources']],
  ['a misspelt source', sources({ header: 'k', cookies: 'k' }), ['/apiKey/sources/cookies']],
  ['a misspelt field', body('apiKey', { sources: { header: 'k' }, forward: true }), ['/apiKey/forward']],
]);
