// Rows of the table of routes in the order in which the proxy asks them (contract.md §6.4): one for each route in each of
// its groups, and one for a route that stands alone.
import type { Entity, Json } from './types.ts';

export interface RouteRow {
  /** Unique in the table. */
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly hosts: string;
  readonly path: string;
  readonly pathType: PathType;
  readonly action: Action;
  readonly destinations: string;
  readonly owner: string;
  /** Lower case, of everything that a search finds. */
  readonly text: string;
}

type PathType = 'exact' | 'prefix' | 'regex';
export type Action = 'forward' | 'redirect' | 'direct response' | 'disabled';

interface Match {
  readonly path?: string;
  readonly pathPrefix?: string;
  readonly pathRegex?: string;
  readonly hostnames?: readonly string[];
  readonly headers?: readonly Json[];
  readonly queryParams?: readonly Json[];
  readonly methods?: readonly string[];
  readonly grpc?: boolean;
  readonly scheme?: string;
  readonly cel?: string;
}

interface RouteMirror {
  readonly compare?: Json;
}

export interface RouteEntity extends Entity {
  readonly match?: Match;
  readonly disabled?: boolean;
  readonly priority?: number;
  readonly forward?: {
    readonly destinations?: readonly { readonly destinationId: string; readonly weight?: number }[];
    readonly mirror?: RouteMirror;
    readonly mirrors?: readonly RouteMirror[];
  };
  readonly redirect?: Json;
  readonly directResponse?: { readonly status?: number };
  readonly middlewareIds?: readonly string[];
}

export interface GroupEntity extends Entity {
  readonly routeIds?: readonly string[];
  readonly pathPrefix?: string;
  readonly pathRegex?: string;
  readonly hostnames?: readonly string[];
  readonly headers?: readonly Json[];
  readonly middlewareIds?: readonly string[];
}

/** Keys of the order, the first difference decides; numbers ascending. */
type Rank = readonly (number | string)[];

const pathOf = ({ path, pathPrefix, pathRegex }: Match): [PathType, string] =>
  path !== undefined ? ['exact', path] : pathRegex !== undefined ? ['regex', pathRegex] : ['prefix', pathPrefix ?? '/'];

export function rowsOf(
  routes: readonly RouteEntity[],
  groups: readonly GroupEntity[],
  destinationName: (id: string) => string,
): RouteRow[] {
  const byId = new Map(routes.map((route) => [route.id, route]));
  const grouped = new Set<string>();
  const made: { row: RouteRow; rank: Rank }[] = [];
  for (const group of groups) {
    for (const [at, id] of (group.routeIds ?? []).entries()) {
      const route = byId.get(id);
      if (route === undefined) continue;
      grouped.add(id);
      made.push(entryOf(route, group, at, destinationName));
    }
  }
  for (const route of routes) if (!grouped.has(route.id)) made.push(entryOf(route, undefined, 0, destinationName));
  return made.sort((a, b) => compare(a.rank, b.rank)).map(({ row }) => row);
}

function entryOf(
  route: RouteEntity,
  group: GroupEntity | undefined,
  position: number,
  destinationName: (id: string) => string,
): { row: RouteRow; rank: Rank } {
  const match = route.match ?? {};
  const [type, own] = pathOf(match);
  const pathType: PathType = group?.pathRegex !== undefined ? 'regex' : type;
  const path =
    `${group?.pathPrefix ?? group?.pathRegex ?? ''}${group !== undefined && own === '/' && type === 'prefix' ? '' : own}` ||
    '/';
  const hostnames = [...new Set([...(group?.hostnames ?? []), ...(match.hostnames ?? [])])];
  const headers = (group?.headers?.length ?? 0) + (match.headers?.length ?? 0);
  const action: Action =
    route.disabled === true ? 'disabled' : route.forward ? 'forward' : route.redirect ? 'redirect' : 'direct response';
  const destinations = (route.forward?.destinations ?? []).map(({ destinationId }) => destinationName(destinationId));
  const hosts = hostnames.join(', ') || '*';
  const row: RouteRow = {
    key: group === undefined ? route.id : `${group.id}/${route.id}`,
    id: route.id,
    name: route.name,
    group: group?.name ?? '',
    hosts,
    path,
    pathType,
    action,
    destinations: destinations.join(', '),
    owner: route.owner ?? '',
    text: `${route.name}\n${hosts}\n${path}\n${group?.name ?? ''}\n${destinations.join('\n')}\n${route.id}`.toLowerCase(),
  };
  const rank: Rank = [
    -(route.priority ?? 0),
    ['exact', 'prefix', 'regex'].indexOf(pathType),
    pathType === 'prefix' ? -path.length : 0,
    -headers,
    hostClass(hostnames),
    -(match.queryParams?.length ?? 0),
    (match.methods?.length ?? 0) > 0 ? 0 : 1,
    match.grpc === true ? 0 : 1,
    match.scheme !== undefined ? 0 : 1,
    match.cel !== undefined ? 0 : 1,
    group === undefined ? 1 : 0,
    group?.name ?? '',
    position,
    route.name,
    route.id,
  ];
  return { row, rank };
}

function hostClass(hostnames: readonly string[]): number {
  if (hostnames.length === 0 || hostnames.includes('*')) return 2;
  return hostnames.some((host) => host.startsWith('*.')) ? 1 : 0;
}

function compare(a: Rank, b: Rank): number {
  for (let at = 0; at < a.length; at++) {
    const [left, right] = [a[at] ?? 0, b[at] ?? 0];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Returns the rows that hold every word of a search. */
export function searched(rows: readonly RouteRow[], search: string): readonly RouteRow[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return rows;
  return rows.filter(({ text }) => words.every((word) => text.includes(word)));
}

/** Returns the matchers of a route in words, one line each. */
export function matchersInWords({ match = {} }: RouteEntity): string[] {
  const [type, path] = pathOf(match);
  const words = { exact: `path is ${path}`, prefix: `path begins with ${path}`, regex: `path matches ${path}` };
  const named = (of: readonly Json[] | undefined, what: string): string[] =>
    (of ?? []).map((each) => {
      const { name, value, regex } = Object(each) as { name?: string; value?: string; regex?: boolean };
      return `${what} ${name} ${value === undefined ? 'is there' : regex === true ? `matches ${value}` : `is ${value}`}`;
    });
  return [
    words[type],
    ...(match.hostnames?.length ? [`host is ${match.hostnames.join(' or ')}`] : []),
    ...(match.methods?.length ? [`method is ${match.methods.join(' or ')}`] : []),
    ...named(match.headers, 'header'),
    ...named(match.queryParams, 'query parameter'),
    ...(match.grpc === true ? ['request is gRPC'] : []),
    ...(match.scheme !== undefined ? [`scheme is ${match.scheme}`] : []),
    ...(match.cel !== undefined ? [`expression holds: ${match.cel}`] : []),
  ];
}
