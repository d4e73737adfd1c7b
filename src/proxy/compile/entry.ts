// One entry of the routing table: a group and route pair, or a route alone, with everything settled that can be settled
// before a request is there.
import type { ProxyErrorType } from '../../errors.ts';
import type { Forward } from '../../model/forward.ts';
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Route } from '../../model/route.ts';
import { compileDirectResponse, type DirectAnswer } from '../action/direct-response.ts';
import { compileRedirect, type RedirectPlan } from '../action/redirect.ts';
import { compileRewrite, type RewritePlan } from '../action/rewrite.ts';
import { type HostPattern, parseHostPattern } from '../match/host.ts';
import { type ChainLink, compileChain } from './chain.ts';
import type { Fault } from './fault.ts';
import { celMatcher, grpcMatcher, headerMatcher, type Matcher, methodsMatcher, queryMatcher } from './matchers.ts';
import { type Ranked, weightOf } from './order.ts';
import { composePath, type EntryPath, type PathFault } from './path.ts';
import { type RetryPlan, retryPlan } from './retry.ts';

export type Action =
  | { readonly kind: 'forward'; readonly forward: Forward; readonly rewrite: RewritePlan | undefined }
  | { readonly kind: 'redirect'; readonly redirect: RedirectPlan }
  | { readonly kind: 'directResponse'; readonly answer: DirectAnswer };

export interface Entry extends Ranked {
  readonly group: Group | undefined;
  readonly path: EntryPath;
  /** Empty: any host. */
  readonly hosts: readonly HostPattern[];
  /** What must agree beside host and path, in the order in which it is asked. */
  readonly matchers: readonly Matcher[];
  /** Undefined only for a closed entry. */
  readonly action: Action | undefined;
  /** Outermost first. */
  readonly chain: readonly ChainLink[];
  /** Undefined: nothing is retried. */
  readonly retry: RetryPlan | undefined;
  /** The upstream is told which try it sees. */
  readonly attemptCount: boolean;
  /** The entry wins its requests and answers this error: it could not be built whole (architecture.md §6.19). */
  readonly closed: ProxyErrorType | undefined;
}

/** What entries are made from beside their route and group. */
export interface EntryContext {
  readonly middlewares: ReadonlyMap<string, Middleware>;
  /** Middlewares that cannot be built, or not in this version: entries that use one are closed. */
  readonly unavailable: ReadonlySet<string>;
}

export interface CompiledEntry {
  /** Undefined when the match cannot be compiled. */
  readonly entry: Entry | undefined;
  readonly faults: readonly Fault[];
}

export function compileEntry(
  route: Route,
  group: Group | undefined,
  position: number,
  { middlewares, unavailable }: EntryContext,
): CompiledEntry {
  const faults: Fault[] = [];
  const path = composePath(group ?? {}, route.match ?? {});
  if (isFault(path)) faults.push(pathFault(path));
  const matchers = compileMatchers(route, group, faults);
  const chain = compileChain(group, route, middlewares);
  faults.push(...chain.faults);
  const action = compileAction(route, faults);
  if (isFault(path) || faults.some(({ closes }) => closes === undefined)) return { entry: undefined, faults };
  const hosts = [...(group?.hostnames ?? []), ...(route.match?.hostnames ?? [])].map(parseHostPattern);
  const headers = matchers.filter(({ kind }) => kind === 'header').length;
  const missing = chain.links.some(({ id, disabled }) => !disabled && unavailable.has(id));
  const entry: Entry = {
    weight: weightOf(path, hosts, headers, route.match ?? {}, group),
    groupName: group?.name ?? '',
    position,
    route,
    group,
    path,
    hosts,
    matchers,
    action,
    chain: chain.links,
    retry: retryPlan(route.forward?.retry, group?.retryDefault),
    attemptCount: group?.includeAttemptCount === true,
    closed: faults[0]?.closes ?? (missing ? 'middleware_unavailable' : undefined),
  };
  return { entry, faults };
}

const isFault = (path: EntryPath | PathFault): path is PathFault => 'message' in path;

const pathFault = ({ of, field, message }: PathFault): Fault => ({
  of,
  path: of === 'route' ? ['match', field] : [field],
  message,
});

function compileMatchers({ match = {} }: Route, group: Group | undefined, faults: Fault[]): Matcher[] {
  const made: Matcher[] = [];
  const add = (of: Fault['of'], path: Fault['path'], make: () => Matcher): void => {
    try {
      made.push(make());
    } catch (error) {
      faults.push({ of, path, message: error instanceof Error ? error.message : String(error) });
    }
  };
  const { methods = [], headers = [], queryParams = [], grpc, cel } = match;
  if (methods.length > 0) made.push(methodsMatcher(methods));
  if (grpc === true) made.push(grpcMatcher);
  group?.headers?.forEach((header, i) => {
    add('group', ['headers', i, 'value'], () => headerMatcher(header));
  });
  headers.forEach((header, i) => {
    add('route', ['match', 'headers', i, 'value'], () => headerMatcher(header));
  });
  queryParams.forEach((param, i) => {
    add('route', ['match', 'queryParams', i, 'value'], () => queryMatcher(param));
  });
  if (cel !== undefined) add('route', ['match', 'cel'], () => celMatcher(cel));
  return made;
}

function compileAction({ forward, redirect, directResponse }: Route, faults: Fault[]): Action | undefined {
  if ([forward, redirect, directResponse].filter((action) => action !== undefined).length !== 1) {
    const message = 'must have exactly one of forward, redirect, directResponse';
    faults.push({ of: 'route', path: [], message, closes: 'middleware_unavailable' });
    return undefined;
  }
  if (redirect) return { kind: 'redirect', redirect: compileRedirect(redirect, faults) };
  if (directResponse) return { kind: 'directResponse', answer: compileDirectResponse(directResponse) };
  return forward && { kind: 'forward', forward, rewrite: compileRewrite(forward.rewrite, faults) };
}
