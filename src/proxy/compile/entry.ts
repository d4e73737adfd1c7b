import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Route } from '../../model/route.ts';
import { compileDirectResponse, DirectResponseAction } from '../action/direct-response.ts';
import { compileRedirect, RedirectAction } from '../action/redirect.ts';
import { compileRewrite } from '../action/rewrite.ts';
import type { CompileProblem } from '../compile-problem.ts';
import { compileForward } from '../forward/forward-plan.ts';
import { ForwardAction } from '../forward/forwarding.ts';
import { retryPlan } from '../forward/retry.ts';
import type { Action, Entry, Ranked } from '../match/entry.ts';
import {
  celMatcher,
  grpcMatcher,
  headerMatcher,
  type Matcher,
  methodsMatcher,
  queryMatcher,
} from '../match/matchers.ts';
import { weightOf } from '../match/order.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type HostPattern, parseHostPattern } from '../target/host.ts';
import { composePath, type EntryPath, type PathFault } from '../target/path.ts';
import { compileChain } from './chain.ts';

/** What entries are made from beside their route and group. */
export interface EntryContext {
  readonly middlewares: ReadonlyMap<string, Middleware>;
  /** Middlewares that cannot be built, or not in this version: entries that use one are closed. */
  readonly unavailable: ReadonlySet<string>;
  /** What middlewares run with; undefined where nothing is going to run, as in a check. */
  readonly services: MiddlewareServices | undefined;
}

export interface CompiledEntry {
  /** Undefined when the match cannot be compiled. */
  readonly entry: Entry | undefined;
  readonly faults: readonly CompileProblem[];
}

export function compileEntry(
  route: Route,
  group: Group | undefined,
  position: number,
  { middlewares, unavailable, services }: EntryContext,
): CompiledEntry {
  const faults: CompileProblem[] = [];
  const path = composePath(group ?? {}, route.match ?? {});
  if (isFault(path)) faults.push(pathFault(path));
  const matchers = compileMatchers(route, group, faults);
  const chain = compileChain(group, route, middlewares, services);
  faults.push(...chain.faults);
  if (isFault(path)) return { entry: undefined, faults };
  const action = compileAction(route, group, path, faults);
  if (faults.some(({ closes }) => closes === undefined)) return { entry: undefined, faults };
  const hosts = hostsOf(route, group);
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
    links: chain.running,
    closed: faults[0]?.closes ?? (missing ? 'middleware_unavailable' : undefined),
  };
  return { entry, faults };
}

/** Where the entry of a route that compiles without a fault stands. Undefined when it does not. */
export function rankOf(route: Route, group: Group | undefined, position: number): Ranked | undefined {
  const path = composePath(group ?? {}, route.match ?? {});
  if (isFault(path)) return undefined;
  const headers = (group?.headers?.length ?? 0) + (route.match?.headers?.length ?? 0);
  const weight = weightOf(path, hostsOf(route, group), headers, route.match ?? {}, group);
  return { weight, groupName: group?.name ?? '', position, route };
}

const hostsOf = (route: Route, group: Group | undefined): HostPattern[] =>
  [...(group?.hostnames ?? []), ...(route.match?.hostnames ?? [])].map(parseHostPattern);

const isFault = (path: EntryPath | PathFault): path is PathFault => 'message' in path;

const pathFault = ({ of, field, message }: PathFault): CompileProblem => ({
  of,
  path: of === 'route' ? ['match', field] : [field],
  message,
});

function compileMatchers({ match = {} }: Route, group: Group | undefined, faults: CompileProblem[]): Matcher[] {
  const made: Matcher[] = [];
  const add = (of: CompileProblem['of'], path: CompileProblem['path'], make: () => Matcher): void => {
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

function compileAction(
  route: Route,
  group: Group | undefined,
  path: EntryPath,
  faults: CompileProblem[],
): Action | undefined {
  const { forward, redirect, directResponse } = route;
  if ([forward, redirect, directResponse].filter((action) => action !== undefined).length !== 1) {
    const message = 'must have exactly one of forward, redirect, directResponse';
    faults.push({ of: 'route', path: [], message, closes: 'middleware_unavailable' });
    return undefined;
  }
  if (redirect) return new RedirectAction(compileRedirect(redirect, faults), path);
  if (directResponse) return new DirectResponseAction(compileDirectResponse(directResponse));
  if (!forward) return undefined;
  const rewrite = compileRewrite(forward.rewrite, faults);
  const retry = retryPlan(forward.retry, group?.retryDefault);
  return new ForwardAction(
    compileForward(forward, {
      routeId: route.id,
      path,
      rewrite,
      retry,
      attemptCount: group?.includeAttemptCount === true,
    }),
  );
}
