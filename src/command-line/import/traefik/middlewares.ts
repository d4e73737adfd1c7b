// Middlewares of Traefik: those that become middlewares of Sluice, and those that change what a route does.
import type { Fields } from '../fields.ts';
import type { ImportedMiddleware, ModelFields } from '../intermediate.ts';
import {
  allowing,
  celText,
  closed,
  destination,
  isCidr,
  literalHeader,
  middleware,
  regexProblem,
  seconds,
  urlParts,
} from '../shared/common.ts';
import { traefikSeconds } from './durations.ts';

/** Effect of a middleware on the route that names it. */
export interface Effect {
  readonly middlewares?: readonly ImportedMiddleware[];
  /** Prefixes that are removed from the path. */
  readonly strips?: readonly string[];
  /** Prefix that is added to the path. */
  readonly adds?: string;
  /** Part of the path to replace. */
  readonly pathRegex?: { readonly pattern: string; readonly substitution: string };
  readonly redirect?: ModelFields;
  readonly retry?: ModelFields;
  readonly maxRequestBodyBytes?: number;
}

type Mapper = (name: string, fields: Fields) => Effect | undefined;

const mappers: Readonly<Record<string, Mapper>> = {
  stripPrefix: (_, fields) => {
    fields.approximated('forceSlash', 'a path always begins with a slash');
    return { strips: fields.texts('prefixes') };
  },
  stripPrefixRegex: (_, fields) => {
    const [pattern = ''] = fields.texts('regex');
    return regexProblem(pattern) === undefined
      ? { pathRegex: { pattern: `^(?:${pattern.replace(/^\^/, '')})`, substitution: '' } }
      : undefined;
  },
  addPrefix: (_, fields) => ({ adds: fields.text('prefix') ?? '' }),
  replacePath: (_, fields) => ({
    pathRegex: { pattern: '^.*$', substitution: (fields.text('path') ?? '/').replaceAll('$', '$$$$') },
  }),
  replacePathRegex: (_, fields) => {
    const [pattern, replacement] = [fields.text('regex') ?? '', fields.text('replacement') ?? ''];
    return regexProblem(pattern) === undefined ? { pathRegex: { pattern, substitution: replacement } } : undefined;
  },
  redirectScheme: (_, fields) => {
    const [scheme, port] = [fields.text('scheme') ?? 'https', fields.number('port')];
    return { redirect: { scheme, ...(port !== undefined && { port }), code: fields.isTrue('permanent') ? 308 : 307 } };
  },
  redirectRegex: (_, fields) => {
    const [pattern, target] = [fields.text('regex') ?? '', fields.text('replacement') ?? ''];
    const code = fields.isTrue('permanent') ? 308 : 307;
    if (!target.includes('$')) return { redirect: { url: target, code } };
    // The path behind the host, whole, goes to another host.
    const host = /^(https?):\/\/([A-Za-z0-9.-]+)\/\$\{?1\}?$/.exec(target);
    return host !== null && /^\^https?\??:\/\/[^()]+\/\(\.\*\)\$?$/.test(pattern)
      ? { redirect: { scheme: host[1], host: host[2], code } }
      : undefined;
  },
  headers,
  rateLimit,
  ipAllowList: addresses,
  ipWhiteList: addresses,
  basicAuth: (name, fields) => {
    const users = fields.texts('users');
    const [file, realm, header] = [fields.text('usersFile'), fields.text('realm'), fields.text('headerField')];
    const keeps = fields.text('removeHeader') !== 'true';
    const text = file === undefined ? users.join('\n') : `{{secret:file:${file}}}`;
    return own(
      middleware(fields.statement, name, 'basicAuth', {
        users: text,
        ...(realm !== undefined && { realm }),
        ...(header !== undefined && { userHeader: header }),
        ...(keeps && { forwardAuthorization: true }),
      }),
    );
  },
  forwardAuth: (name, fields) => {
    const url = urlParts(fields.text('address') ?? '');
    const copied = fields.texts('authResponseHeaders');
    const shown = fields.texts('authRequestHeaders');
    for (const key of [
      'trustForwardHeader',
      'maxBodySize',
      'forwardBody',
      'preserveLocationHeader',
      'preserveRequestMethod',
      'headerField',
      'addAuthCookiesToResponse',
      'authResponseHeadersRegex',
    ])
      fields.approximated(key, 'the service is asked with the fields of onCheck');
    fields.notTaken('tls', 'certificates are not copied', 'options.tls of the destination');
    if (url === undefined) return undefined;
    if (shown.length === 0) fields.approximated('address', 'the service sees authorization and cookie alone');
    return own({
      ...middleware(fields.statement, name, 'extAuthz', {
        path: url.path,
        onCheck: { forwardHeaders: shown.length === 0 ? ['authorization', 'cookie'] : shown },
        ...(copied.length > 0 && { onAllow: { copyToUpstream: copied } }),
      }),
      uses: {
        field: 'destinationId',
        destination: destination(
          fields.statement,
          name,
          url.host,
          url.port,
          url.isSecure ? { tls: { mode: 'tls' } } : {},
        ),
      },
    });
  },
  compress: (name, fields) => {
    for (const key of ['excludedContentTypes', 'defaultEncoding'])
      fields.approximated(key, 'types are those of the middleware');
    const [types, minBytes, encodings] = [
      fields.texts('includedContentTypes'),
      fields.number('minResponseBodyBytes'),
      fields.texts('encodings'),
    ];
    return own(
      middleware(fields.statement, name, 'compress', {
        ...(types.length > 0 && { types }),
        ...(minBytes !== undefined && { minBytes }),
        ...(encodings.length > 0 && { algorithms: encodings }),
      }),
    );
  },
  retry: (_, fields) => {
    const attempts = fields.number('attempts') ?? 1;
    fields.approximated('initialInterval', 'waits grow from 100ms');
    return { retry: { attempts: Math.max(0, attempts - 1), on: ['connection-failure'] } };
  },
  buffering: (_, fields) => {
    const most = fields.number('maxRequestBodyBytes');
    for (const key of ['memRequestBodyBytes', 'memResponseBodyBytes'])
      fields.approximated(key, 'Sluice streams bodies and has no buffers to set');
    if ((fields.number('maxResponseBodyBytes') ?? 0) > 0)
      fields.notTaken('maxResponseBodyBytes', 'bodies of responses have no limit', 'the upstream');
    fields.notTaken('retryExpression', 'its language is not read', 'forward.retry');
    return most === undefined ? {} : { maxRequestBodyBytes: most };
  },
  contentType: (_, fields) => {
    if (fields.isTrue('autoDetect')) fields.notTaken('autoDetect', 'types are those of upstreams', 'headers');
    return {};
  },
  grpcWeb: (name, fields) => {
    fields.approximated('allowOrigins', 'origins are those of a middleware of type cors');
    return own(middleware(fields.statement, name, 'grpcWeb', {}));
  },
};

const own = (...middlewares: readonly ImportedMiddleware[]): Effect => ({ middlewares });

/** Middlewares that let only some requests pass: routes are closed where one cannot be taken. */
const guards = [
  'ipAllowList',
  'ipWhiteList',
  'basicAuth',
  'digestAuth',
  'forwardAuth',
  'passTLSClientCert',
  'plugin',
  'inFlightReq',
];

/** Effect of the middleware of a name, which has one key for its type. */
export function effectOf(name: string, fields: Fields): Effect {
  const [type = ''] = fields.keys;
  const settings = fields.child(type) ?? fields;
  const effect = mappers[type]?.(name, settings);
  if (effect !== undefined) return effect;
  const isGuard = guards.includes(type) && type !== 'inFlightReq';
  fields.ledger.notTaken(
    fields.statement,
    `${type} has no counterpart${isGuard ? '; its routes are closed (403)' : ''}`,
    insteadOf[type] ?? 'extProc',
  );
  return isGuard ? own(closed(fields.statement, `${name}-closed`)) : {};
}

const insteadOf: Readonly<Record<string, string>> = {
  digestAuth: 'basicAuth',
  errors: 'errorPages of the route',
  circuitBreaker: 'options.circuitBreaker of the destination',
  inFlightReq: 'options.circuitBreaker.maxRequests of the destination',
  redirectRegex: 'redirect of a route',
  passTLSClientCert: 'tls.clientAuth of the listener',
};

function addresses(name: string, fields: Fields): Effect | undefined {
  const ranges = fields.texts('sourceRange');
  fields.notTaken('ipStrategy', 'addresses are those of trustedProxies of the listener', 'trustedProxies');
  fields.approximated('rejectStatusCode', 'the status is 403');
  return ranges.length > 0 && ranges.every(isCidr) ? own(allowing(fields.statement, name, ranges)) : undefined;
}

function rateLimit(name: string, fields: Fields): Effect | undefined {
  const [average, burst] = [fields.number('average') ?? 0, fields.number('burst') ?? 1];
  const period = traefikSeconds(fields.text('period')) ?? 1;
  const criterion = fields.child('sourceCriterion');
  const header = criterion?.text('requestHeaderName');
  const byHost = criterion?.isTrue('requestHost') === true;
  criterion?.notTaken('ipStrategy', 'addresses are those of trustedProxies of the listener', 'trustedProxies');
  const isShared = fields.find('redis') !== undefined;
  fields.approximated('redis', 'the proxies of the cluster share the limits, and need no store');
  if (average <= 0) return {};
  const key =
    header !== undefined ? `request.headers[${celText(header.toLowerCase())}]` : byHost ? 'request.host' : undefined;
  const isWhole = Number.isInteger(average) && period >= 1 && period <= 86_400;
  return own(
    middleware(fields.statement, name, 'rateLimit', {
      ...(isWhole
        ? { limits: [{ requests: average, per: seconds(period), burst }] }
        : { requestsPerSecond: average / period, burst }),
      ...(key !== undefined && { key }),
      ...(isShared && { scope: 'cluster' }),
    }),
  );
}

const securityHeaders: Readonly<Record<string, (value: string) => [string, string] | undefined>> = {
  frameDeny: (value) => (value === 'true' ? ['X-Frame-Options', 'DENY'] : undefined),
  customFrameOptionsValue: (value) => ['X-Frame-Options', value],
  contentTypeNosniff: (value) => (value === 'true' ? ['X-Content-Type-Options', 'nosniff'] : undefined),
  browserXssFilter: (value) => (value === 'true' ? ['X-XSS-Protection', '1; mode=block'] : undefined),
  contentSecurityPolicy: (value) => ['Content-Security-Policy', value],
  referrerPolicy: (value) => ['Referrer-Policy', value],
  permissionsPolicy: (value) => ['Permissions-Policy', value],
};

function headers(name: string, fields: Fields): Effect {
  const { statement: from } = fields;
  const sides = (['customRequestHeaders', 'customResponseHeaders'] as const).map((key) => fields.map(key));
  const [request = [], response = []] = sides;
  const set = (pairs: readonly (readonly [string, string, unknown])[]) =>
    pairs.filter(([, value]) => value !== '').map(([key, value]) => literalHeader(key, value));
  const removed = (pairs: readonly (readonly [string, string, unknown])[]) =>
    pairs.filter(([, value]) => value === '').map(([key]) => key);
  const security = Object.entries(securityHeaders).flatMap(([key, made]) => {
    const value = fields.text(key);
    const pair = value === undefined ? undefined : made(value);
    return pair === undefined ? [] : [literalHeader(...pair)];
  });
  const age = fields.number('stsSeconds');
  const words = [
    fields.isTrue('stsIncludeSubdomains') ? '; includeSubDomains' : '',
    fields.isTrue('stsPreload') ? '; preload' : '',
  ];
  const isForced = fields.isTrue('forceSTSHeader');
  if (age !== undefined && age > 0)
    security.push({
      key: 'Strict-Transport-Security',
      value: `max-age=${age}${words.join('')}`,
      ...(!isForced && { when: 'request.scheme == "https"' }),
    });
  for (const key of [
    'allowedHosts',
    'hostsProxyHeaders',
    'sslProxyHeaders',
    'isDevelopment',
    'sslRedirect',
    'sslHost',
    'publicKey',
    'featurePolicy',
  ])
    fields.notTaken(key, 'has no counterpart', 'match.hostnames, redirects');
  const origins = fields.texts('accessControlAllowOriginList');
  const patterns = fields.texts('accessControlAllowOriginListRegex');
  const listOf = (key: string) => fields.texts(key);
  const [methods, allowed, exposed, maxAge] = [
    listOf('accessControlAllowMethods'),
    listOf('accessControlAllowHeaders'),
    listOf('accessControlExposeHeaders'),
    fields.number('accessControlMaxAge'),
  ];
  const credentials = fields.isTrue('accessControlAllowCredentials');
  fields.approximated('addVaryHeader', 'Vary is always set');
  const cors = middleware(from, `${name}-cors`, 'cors', {
    allowOrigins: [...origins.map((value) => ({ value })), ...patterns.map((value) => ({ value, regex: true }))],
    ...(methods.length > 0 && { allowMethods: methods }),
    ...(allowed.length > 0 && { allowHeaders: allowed }),
    ...(exposed.length > 0 && { exposeHeaders: exposed }),
    ...(maxAge !== undefined && { maxAge }),
    allowCredentials: credentials,
  });
  const added = [...set(response), ...security];
  const edits = {
    ...(set(request).length > 0 && { requestHeadersToAdd: set(request) }),
    ...(removed(request).length > 0 && { requestHeadersToRemove: removed(request) }),
    ...(added.length > 0 && { responseHeadersToAdd: added }),
    ...(removed(response).length > 0 && { responseHeadersToRemove: removed(response) }),
  };
  return {
    middlewares: [
      ...(origins.length + patterns.length > 0 ? [cors] : []),
      ...(Object.keys(edits).length > 0 ? [middleware(from, name, 'headers', edits)] : []),
    ],
  };
}
