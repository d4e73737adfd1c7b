// Routes of Kong: one for each path, ranked as Kong's router ranks them.
import type { Fields } from '../fields.ts';
import type { ImportedRoute, ModelFields, PathMatch } from '../intermediate.ts';
import { regexProblem } from '../shared/common.ts';
import { withoutEffect } from './kong-fields.ts';
import type { Plugins } from './plugins.ts';
import type { KongTarget } from './upstream-destinations.ts';

export interface KongService extends KongTarget {
  readonly name: string;
  readonly plugins: readonly Fields[];
}

export function kongRoutes(
  route: Fields,
  service: KongService | undefined,
  plugins: Plugins,
  hasSecure: boolean,
): ImportedRoute[] {
  withoutEffect(route);
  const { ledger, statement: from } = route;
  const name = route.text('name') ?? `${service?.name ?? 'kong'}-route`;
  for (const key of ['request_buffering', 'response_buffering', 'path_handling'])
    route.approximated(key, 'bodies are streamed, and paths joined with one slash');
  for (const key of ['snis', 'sources', 'destinations'])
    route.notTaken(
      key,
      'routes of http do not match it',
      'sections of a listener, streamRoutes, cel on request.clientIp',
    );
  if (route.find('expression') !== undefined) {
    route.notTaken('expression', "is of Kong's own language; the route is left out", 'match.cel');
    return [];
  }
  const protocols = route.texts('protocols');
  if (protocols.some((each) => !/^(https?|grpcs?)$/.test(each))) {
    ledger.notTaken(
      from,
      `protocols ${protocols.join(', ')} are not those of routes`,
      'streamRoutes on a listener of protocol tcp',
    );
    return [];
  }
  const hosts = route.texts('hosts');
  const methods = route.texts('methods');
  const headers = (route.child('headers')?.statement.children ?? []).map((each) =>
    headerMatcher(each.key, route.child('headers')?.texts(each.key) ?? []),
  );
  const paths = route.texts('paths');
  const priority = route.number('regex_priority') ?? 0;
  const strips = route.text('strip_path') !== 'false';
  const keepsHost = route.isTrue('preserve_host');
  const redirectCode = route.number('https_redirect_status_code');
  const onlyHttps = protocols.length > 0 && protocols.every((each) => each === 'https' || each === 'grpcs');
  const onlyHttp = protocols.length > 0 && protocols.every((each) => each === 'http' || each === 'grpc');
  if (onlyHttps && !hasSecure)
    route.approximated('protocols', 'no certificate stands in the files: add tls to a listener for it');
  const own = plugins.of(name, route.list('plugins'), service?.plugins ?? [], { route: name, service: service?.name });
  const rankOf = (path: PathMatch | undefined): number[] => [
    [hosts, methods, headers, paths].filter(({ length }) => length > 0).length,
    hosts.length > 0 && !hosts.some((host) => host.includes('*')) ? 1 : 0,
    headers.length,
    path?.is === 'regex' ? 1 : 0,
    path?.is === 'regex' ? priority : 0,
    path?.text.length ?? 0,
  ];
  const matches = (paths.length === 0 ? [undefined] : paths).flatMap((text): (PathMatch | undefined)[] => {
    if (text === undefined) return [undefined];
    const path = pathOf(text);
    const problem = path.is === 'regex' ? regexProblem(path.text) : undefined;
    if (problem !== undefined) route.notTaken('paths', problem, 'a path without it');
    return problem === undefined ? [path] : [];
  });
  return matches.flatMap((path): ImportedRoute[] => {
    const base = { from, name, hosts: hosts.map(hostPattern), ...(path !== undefined && { path }) };
    const match: ModelFields = {
      ...(methods.length > 0 && { methods }),
      ...(headers.length > 0 && { headers }),
      ...(onlyHttps && { scheme: 'https' }),
      ...(onlyHttp && { scheme: 'http' }),
    };
    const rewrite = rewriteOf(path, service?.path ?? '', strips, keepsHost, service?.hostHeader);
    const { maxRequestBodyBytes } = own;
    const bodyLimit = maxRequestBodyBytes === undefined ? {} : { maxRequestBodyBytes };
    const action: Partial<ImportedRoute> =
      own.directResponse !== undefined
        ? { directResponse: own.directResponse }
        : service?.destination === undefined
          ? { directResponse: { status: 503 } }
          : {
              forward: {
                shares: [{ destination: service.destination }],
                fields: {
                  ...(Object.keys(rewrite).length > 0 && { rewrite }),
                  ...(service.retries !== undefined && {
                    retry: { attempts: service.retries, on: ['connection-failure'] },
                  }),
                },
              },
            };
    const main: ImportedRoute = {
      ...base,
      match,
      rank: rankOf(path),
      middlewares: own.middlewares,
      ...action,
      ...bodyLimit,
    };
    if (!onlyHttps) return [main];
    const plain = {
      ...main,
      name: `${name}-plain`,
      match: { ...match, scheme: 'http' },
      middlewares: [],
      forward: undefined,
    };
    const { forward: _, ...answered } = plain;
    return [
      main,
      redirectCode === undefined || redirectCode === 426
        ? { ...answered, directResponse: { status: 426, body: '{"message":"Please use HTTPS protocol"}' } }
        : { ...answered, redirect: { scheme: 'https', code: redirectCode } },
    ];
  });
}

const pathOf = (text: string): PathMatch =>
  text.startsWith('~') ? { is: 'regex', text: text.slice(1).replace(/^\^/, '') } : { is: 'begins', text };

/** Wildcards of Kong at the end have no counterpart as a pattern of hosts; those in front have. */
const hostPattern = (host: string): string => host.replace(/:\d+$/, '');

function headerMatcher(name: string, values: readonly string[]): ModelFields {
  const [only = ''] = values;
  if (values.length === 1 && only.startsWith('~*')) return { name, value: `(?i)${only.slice(2)}`, regex: true };
  if (values.length === 1) return { name, value: only };
  const quoted = values.map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return { name, value: `^(?:${quoted.join('|')})$`, regex: true };
}

function rewriteOf(
  path: PathMatch | undefined,
  base: string,
  strips: boolean,
  keepsHost: boolean,
  host: string | undefined,
): ModelFields {
  const hostPart = keepsHost ? {} : host === undefined ? { autoHost: true } : { host };
  if (path !== undefined && strips && !(path.text === '/' && base === ''))
    return { path: base === '' ? '/' : base, ...hostPart };
  if (base !== '') return { pathRegex: { pattern: '^', substitution: base.replace(/\/$/, '') }, ...hostPart };
  return hostPart;
}
