// Filters of rules and backends: what of them a route of Sluice says itself, and what becomes a middleware.
import { keyFor } from '../../kubernetes/objects.ts';
import type { HTTPRoute } from '../gateway-api/http-route.ts';
import { type Condition, isFalse } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { entityId } from '../graph/entity-id.ts';
import type { Entity } from '../graph/facts.ts';
import { policyGroup } from '../policies/policy-kinds.ts';
import { firstOfEachName } from './header-names.ts';
import { policyEntities } from './middleware-policy.ts';

type HttpRule = HTTPRoute['spec']['rules'][number];
export type HttpFilter = NonNullable<HttpRule['filters']>[number];
export type MirrorFilter = NonNullable<HttpFilter['requestMirror']>;
export type RedirectFilter = NonNullable<HttpFilter['requestRedirect']>;
type RewriteFilter = NonNullable<HttpFilter['urlRewrite']>;
type HeaderFilter = NonNullable<HttpFilter['requestHeaderModifier']>;
type CorsFilter = NonNullable<HttpFilter['cors']>;

export interface Filters {
  /** Edits of header fields, in the form of `forward.headers`. */
  readonly headers: Readonly<Record<string, unknown>> | undefined;
  readonly rewrite: RewriteFilter | undefined;
  readonly redirect: RedirectFilter | undefined;
  readonly mirrors: readonly MirrorFilter[];
  /** Middlewares, outermost first. */
  readonly middlewares: readonly Entity[];
  /** Destinations that they call. */
  readonly services: readonly Entity[];
  /** Reason why the rule cannot be served as it is written. */
  readonly accepted: Condition | undefined;
  readonly resolved: Condition | undefined;
}

interface FilterPlace {
  /** Namespace of the route, and the first parts of ids of what the filters become. */
  readonly namespace: string;
  readonly idParts: readonly (string | number)[];
}

export function readFilters(graph: ControllerGraph, place: FilterPlace, filters: readonly HttpFilter[] = []): Filters {
  const ofType = <K extends keyof HttpFilter>(name: K): NonNullable<HttpFilter[K]>[] =>
    filters.flatMap((filter) => (filter[name] === undefined ? [] : [filter[name] as NonNullable<HttpFilter[K]>]));
  const [request] = ofType('requestHeaderModifier');
  const [response] = ofType('responseHeaderModifier');
  const [rewrite] = ofType('urlRewrite');
  const [redirect] = ofType('requestRedirect');
  const extensions = ofType('extensionRef').map((reference) => extensionOf(graph, place, reference));
  const resolved = extensions.find(({ fault }) => fault !== undefined)?.fault;
  const middlewares = [
    ...ofType('cors').map((cors) => corsEntity(place, cors)),
    ...extensions.flatMap(({ entities }) => entities.slice(0, 1)),
  ];
  const accepted =
    rewrite !== undefined && redirect !== undefined
      ? isFalse('Accepted', 'IncompatibleFilters', 'a rule cannot redirect and rewrite')
      : undefined;
  return {
    headers: headersOf(request, response),
    rewrite,
    redirect,
    mirrors: ofType('requestMirror'),
    middlewares,
    services: extensions.flatMap(({ entities }) => entities.slice(1)),
    accepted,
    resolved,
  };
}

function headersOf(
  request: HeaderFilter | undefined,
  response: HeaderFilter | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (request === undefined && response === undefined) return undefined;
  const added = ({ set = [], add = [] }: HeaderFilter) => [
    ...firstOfEachName(set).map(({ name, value }) => ({ key: name, value })),
    ...firstOfEachName(add).map(({ name, value }) => ({ key: name, value, append: true })),
  ];
  return {
    interpolate: false,
    ...(request && filled('requestHeadersToAdd', added(request))),
    ...(request && filled('requestHeadersToRemove', request.remove ?? [])),
    ...(response && filled('responseHeadersToAdd', added(response))),
    ...(response && filled('responseHeadersToRemove', response.remove ?? [])),
  };
}

const filled = (name: string, list: readonly unknown[]): object => (list.length === 0 ? {} : { [name]: list });

/** Returns a middleware that edits header fields, for answers that come from no upstream. */
export function headersEntity({ idParts }: FilterPlace, headers: Readonly<Record<string, unknown>>): Entity {
  const id = entityId(...idParts, 'headers');
  return { kind: 'middlewares', body: { id, name: id, type: 'headers', headers } };
}

function corsEntity({ idParts }: FilterPlace, cors: CorsFilter): Entity {
  const {
    allowOrigins = [],
    allowMethods = [],
    allowHeaders = [],
    exposeHeaders = [],
    maxAge,
    allowCredentials,
  } = cors;
  const id = entityId(...idParts, 'cors');
  return {
    kind: 'middlewares',
    body: {
      id,
      name: id,
      type: 'cors',
      cors: {
        ...filled('allowOrigins', allowOrigins.map(originOf)),
        ...filled('allowMethods', allowMethods),
        ...filled('allowHeaders', allowHeaders),
        ...filled('exposeHeaders', exposeHeaders),
        ...(maxAge !== undefined && { maxAge }),
        ...(allowCredentials !== undefined && { allowCredentials }),
      },
    },
  };
}

/** An origin of the Gateway API may have a wildcard in the place of its first labels. */
function originOf(origin: string): object {
  if (origin === '*' || !origin.includes('*')) return { value: origin };
  const pattern = origin
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/]+');
  return { value: pattern, regex: true };
}

function extensionOf(
  graph: ControllerGraph,
  { namespace }: FilterPlace,
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
): { readonly entities: readonly Entity[]; readonly fault: Condition | undefined } {
  const fault = (reason: string, message: string) => ({
    entities: [],
    fault: isFalse('ResolvedRefs', reason, message),
  });
  const key = keyFor(namespace, name);
  if (group !== policyGroup || kind !== 'Middleware')
    return fault('InvalidKind', `filters of kind ${group}/${kind} are not supported`);
  const policy = graph.store.read('Middleware', namespace, name);
  if (policy === undefined) return fault('BackendNotFound', `there is no Middleware ${key}`);
  return policyEntities(graph, policy);
}

interface PathMatch {
  readonly type: string;
  readonly value: string;
}

/** Returns `rewrite` of a route or a destination. */
export function rewriteOf({ hostname, path }: RewriteFilter, match: PathMatch): object {
  return { ...(hostname !== undefined && { host: hostname }), ...(path !== undefined && pathRewrite(path, match)) };
}

function pathRewrite(path: NonNullable<RewriteFilter['path']>, match: PathMatch): object {
  if (path.type === 'ReplacePrefixMatch' && match.type === 'PathPrefix')
    return { path: path.replacePrefixMatch || '/' };
  const whole = path.type === 'ReplaceFullPath' ? path.replaceFullPath : path.replacePrefixMatch;
  return { pathRegex: { pattern: '^.*$', substitution: (whole || '/').replace(/\\/g, '\\\\').replace(/\$/g, '$$$$') } };
}

/** Returns `redirect` of a route. Without a port of its own it leads to the port of the listener, or that of the scheme. */
export function redirectOf(
  { scheme, hostname, port, path, statusCode }: RedirectFilter,
  listener: { readonly port: number; readonly scheme: string },
): object {
  const schemePort = scheme === 'https' ? 443 : 80;
  return {
    ...(scheme !== undefined && { scheme }),
    ...(hostname !== undefined && { host: hostname }),
    port: port ?? (scheme === undefined ? listener.port : schemePort),
    ...(path?.type === 'ReplaceFullPath' && { path: path.replaceFullPath || '/', pathMode: 'full' }),
    ...(path?.type === 'ReplacePrefixMatch' && { path: path.replacePrefixMatch || '/', pathMode: 'prefix' }),
    code: Number(statusCode ?? 302),
  };
}
