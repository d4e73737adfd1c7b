// Access to a location of nginx: rates, addresses, passwords, a service that decides; and compression.
import type { ImportedMiddleware, ModelFields } from '../intermediate.ts';
import { clientIn, closed, destination, isCidr, middleware, urlParts } from '../shared/common.ts';
import type { LocationContext } from './location-context.ts';
import { Scope } from './scope.ts';

export function accessOf(scope: Scope, context: LocationContext, name: string): ImportedMiddleware[] {
  const guards = [
    ...withoutCounterpart(scope, name),
    ...addresses(scope, name),
    ...passwords(scope, name),
    ...service(scope, context, name),
  ];
  const satisfy = scope.one('satisfy');
  if (satisfy?.words[0] === 'any' && guards.length > 1)
    scope.ledger.notTaken(satisfy, 'all of its conditions have to hold', 'inlineAuthz, or onlyWhen of the middlewares');
  return [...compression(scope, name), ...rates(scope, name), ...guards];
}

/** Directives that let only some requests pass and have no counterpart close their routes. */
function withoutCounterpart(scope: Scope, name: string): ImportedMiddleware[] {
  const found = ['auth_jwt', 'secure_link', 'access_by_lua_block', 'access_by_lua_file', 'js_access'].flatMap(
    (key) => scope.one(key) ?? [],
  );
  const [first] = found.filter(({ words }) => words[0] !== 'off');
  if (first === undefined) return [];
  return [closed(first, `${name}-closed`)];
}

function addresses(scope: Scope, name: string): ImportedMiddleware[] {
  const own = scope.statements.filter(({ key }) => key === 'allow' || key === 'deny');
  if (own.length === 0) return scope.around === undefined ? [] : addresses(scope.around, name);
  const [first] = own;
  const bad = own.find(({ words: [text = ''] }) => text !== 'all' && !isCidr(text));
  if (bad !== undefined) {
    scope.ledger.notTaken(bad, 'is no address range; the route is closed (403)', 'inlineAuthz');
    return [closed(bad, `${name}-closed`)];
  }
  const end = own.findIndex(({ words }) => words[0] === 'all');
  const rules = (end < 0 ? own : own.slice(0, end)).map(({ key, words }) => ({
    cel: clientIn([words[0] ?? '']),
    action: key,
  }));
  const defaultAction = end < 0 ? 'allow' : own[end]?.key;
  if (rules.length === 0) rules.push({ cel: 'true', action: defaultAction ?? 'deny' });
  return first === undefined ? [] : [middleware(first, `${name}-addresses`, 'inlineAuthz', { rules, defaultAction })];
}

function passwords(scope: Scope, name: string): ImportedMiddleware[] {
  const realm = scope.one('auth_basic');
  const file = scope.one('auth_basic_user_file');
  if (realm === undefined || realm.words[0] === 'off') return [];
  if (file === undefined || file.words[0]?.includes('$')) {
    scope.ledger.notTaken(realm, 'there is no file of users; the route is closed (403)', 'basicAuth');
    return [closed(realm, `${name}-closed`)];
  }
  scope.ledger.approximated(file, 'put it on each node; hashes of MD5, SHA-1 and crypt must be made anew');
  const block = { users: `{{secret:file:${file.words[0]}}}`, realm: realm.words[0], forwardAuthorization: true };
  return [middleware(realm, `${name}-users`, 'basicAuth', block)];
}

function service(scope: Scope, { locations, scope: server }: LocationContext, name: string): ImportedMiddleware[] {
  const request = scope.one('auth_request');
  if (request === undefined || request.words[0] === 'off') return [];
  const place = locations.find(({ words }) => words.at(-1) === request.words[0]);
  const inner = place === undefined ? undefined : new Scope(place, scope.ledger, server);
  const url = urlParts(inner?.own('proxy_pass')[0]?.words[0] ?? '');
  if (url === undefined) {
    scope.ledger.notTaken(
      request,
      'its location has no proxy_pass to a fixed URL; the route is closed (403)',
      'extAuthz',
    );
    return [closed(request, `${name}-closed`)];
  }
  scope.ledger.approximated(request, 'the service sees authorization and cookie alone');
  return [
    {
      ...middleware(request, `${name}-auth`, 'extAuthz', {
        path: url.path,
        onCheck: { forwardHeaders: ['authorization', 'cookie'] },
      }),
      uses: {
        field: 'destinationId',
        destination: destination(
          request,
          `${name}-auth`,
          url.host,
          url.port,
          url.isSecure ? { tls: { mode: 'tls' } } : {},
        ),
      },
    },
  ];
}

function rates(scope: Scope, name: string): ImportedMiddleware[] {
  return scope.all('limit_req').flatMap((statement) => {
    const text = (key: string) => statement.words.find((each) => each.startsWith(`${key}=`))?.slice(key.length + 1);
    const zone = zoneNamed(scope, text('zone') ?? '');
    if (zone === undefined) {
      scope.ledger.notTaken(statement, 'there is no such zone', 'rateLimit');
      return [];
    }
    const burst = Number(text('burst') ?? 0) + 1;
    const delays = !statement.words.includes('nodelay') && burst > 1;
    scope.ledger.approximated(statement, `requests over the limit get 429${delays ? ', and none is delayed' : ''}`);
    const block: ModelFields = {
      limits: [{ requests: zone.requests, per: zone.per, burst }],
      ...(zone.key !== undefined && { key: zone.key }),
    };
    return [middleware(statement, `${name}-rate`, 'rateLimit', block)];
  });
}

function zoneNamed(
  scope: Scope,
  name: string,
): { readonly requests: number; readonly per: string; readonly key?: string } | undefined {
  const statement = scope
    .all('limit_req_zone')
    .find(({ words }) => words.some((each) => each.startsWith(`zone=${name}:`) || each === `zone=${name}`));
  const [, count, unit] =
    /^rate=(\d+)r\/([sm])$/.exec(statement?.words.find((each) => each.startsWith('rate=')) ?? '') ?? [];
  if (statement === undefined || count === undefined) return undefined;
  const [variable = ''] = statement.words;
  const header = /^\$http_([a-z0-9_]+)$/.exec(variable)?.[1]?.replaceAll('_', '-');
  const isAddress = /^\$(binary_)?remote_addr$/.test(variable);
  if (header === undefined && !isAddress) scope.ledger.approximated(statement, 'the address of the client is the key');
  return {
    requests: Number(count),
    per: unit === 's' ? '1s' : '1m',
    ...(header !== undefined && { key: `request.headers[${JSON.stringify(header)}]` }),
  };
}

function compression(scope: Scope, name: string): ImportedMiddleware[] {
  const gzip = scope.one('gzip');
  if (gzip?.words[0] !== 'on') return [];
  const types = scope.all('gzip_types').flatMap(({ words }) => words);
  const [least, level] = [Number(scope.word('gzip_min_length') ?? 20), Number(scope.word('gzip_comp_level') ?? 1)];
  const all = types.includes('*') ? ['*/*'] : [...new Set(['text/html', ...types])];
  return [
    middleware(gzip, `${name}-gzip`, 'compress', {
      algorithms: ['gzip'],
      minBytes: least,
      types: all,
      levels: { gzip: level },
    }),
  ];
}
