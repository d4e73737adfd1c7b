import { routeDefaults } from '../../model/defaults.ts';
import type { Group } from '../../model/group.ts';
import type { Match } from '../../model/match.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Route } from '../../model/route.ts';
import { compileErrorPages } from '../action/error-pages.ts';
import { compileDirectResponse, DirectResponseAction } from '../action/fixed-response.ts';
import { compileRedirect, RedirectAction } from '../action/redirect.ts';
import { compileRewrite } from '../action/target-rewrite.ts';
import type { CompileProblem } from '../compile-problem.ts';
import { destinationChoice } from '../forward/destination-choice.ts';
import { compileShares, hasEdits } from '../forward/share.ts';
import { celMatcher, grpcMatcher, headerMatcher, portMatcher, queryMatcher, schemeMatcher } from '../match/matchers.ts';
import { weightOf } from '../match/order.ts';
import { type Matcher, refusingAmong } from '../match/request-matcher.ts';
import type { Action, Ranked, RankedEntry } from '../match/route-entry.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { parseHostPattern } from '../target/host.ts';
import { composePath, type EntryPath, type PathProblem } from '../target/path.ts';
import { compileChain } from './chain.ts';
import { forwardOf } from './forward-of.ts';
import { type MakesAction, RouteEntry } from './lazy-entry.ts';
import type { SharedParts } from './shared-parts.ts';

/** Parts of an entry beside its route and group. */
export interface EntryContext {
  readonly middlewares: ReadonlyMap<string, Middleware>;
  /** Middlewares that cannot be built, or not in this version: entries that use one are closed. */
  readonly unavailable: ReadonlySet<string>;
  /** Services of middlewares; undefined where the table is not going to run, as in a check. */
  readonly services: MiddlewareServices | undefined;
  /** Parts that many entries have alike. */
  readonly parts: SharedParts;
}

export interface CompiledEntry {
  /** Undefined when the match cannot be compiled. */
  readonly entry: RankedEntry | undefined;
  readonly problems: readonly CompileProblem[];
}

export function compileEntry(
  route: Route,
  group: Group | undefined,
  position: number,
  { middlewares, unavailable, services, parts: shared }: EntryContext,
): CompiledEntry {
  const problems: CompileProblem[] = [];
  const path = composePath(group ?? {}, route.match ?? {});
  if (path.type === 'problem') problems.push(pathProblem(path));
  const matchers = compileMatchers(route, group, shared, problems);
  const chain = compileChain(group, route, middlewares, services);
  problems.push(...chain.problems);
  if (path.type === 'problem') return { entry: undefined, problems };
  const action = compileAction(route, group, path, shared, problems);
  if (problems.some(({ closes }) => closes === undefined)) return { entry: undefined, problems };
  const hosts = shared.hosts(hostnamesOf(route, group));
  const headers = matchers.filter(({ kind }) => kind === 'header').length;
  const missing = chain.links.some(({ id, disabled }) => !disabled && unavailable.has(id));
  const parts = {
    priority: route.priority ?? routeDefaults.priority,
    weight: weightOf(path, hosts, headers, route.match ?? {}, group),
    groupName: group?.name ?? '',
    position,
    route,
    group,
    path,
    bindings: shared.bindings(group?.listenerIds, route.listenerIds),
    hosts,
    matchers,
    chain: chain.links,
    links: chain.running,
    refusing: refusingAmong(matchers),
    errorPages: compileErrorPages(route.errorPages),
    bodyBytesMax: route.maxRequestBodyBytes,
    closed: problems[0]?.closes ?? (missing ? 'middleware_unavailable' : undefined),
  };
  return { entry: new RouteEntry(parts, action), problems };
}

/** Returns the rank of the entry of a route that compiles without a problem, otherwise undefined. */
export function rankOf(route: Route, group: Group | undefined, position: number): Ranked | undefined {
  const path = composePath(group ?? {}, route.match ?? {});
  if (path.type === 'problem') return undefined;
  const headers = (group?.headers?.length ?? 0) + (route.match?.headers?.length ?? 0);
  const weight = weightOf(path, hostnamesOf(route, group).map(parseHostPattern), headers, route.match ?? {}, group);
  return { priority: route.priority ?? routeDefaults.priority, weight, groupName: group?.name ?? '', position, route };
}

const hostnamesOf = (route: Route, group: Group | undefined): readonly string[] => [
  ...(group?.hostnames ?? []),
  ...(route.match?.hostnames ?? []),
];

const pathProblem = ({ of, field, message }: PathProblem): CompileProblem => ({
  of,
  path: of === 'route' ? ['match', field] : [field],
  message,
});

function compileMatchers(
  { match = {} }: Route,
  group: Group | undefined,
  parts: SharedParts,
  problems: CompileProblem[],
): readonly Matcher[] {
  if (group?.headers === undefined && asksForMethodsAlone(match)) return parts.methodsAlone(match.methods ?? []);
  const made: Matcher[] = [];
  const add = (of: CompileProblem['of'], path: CompileProblem['path'], make: () => Matcher): void => {
    try {
      made.push(make());
    } catch (error) {
      problems.push({ of, path, message: error instanceof Error ? error.message : String(error) });
    }
  };
  const { methods = [], headers = [], queryParams = [], grpc, scheme, port, cel } = match;
  if (methods.length > 0) made.push(parts.methods(methods));
  if (grpc === true) made.push(grpcMatcher);
  if (scheme !== undefined) made.push(schemeMatcher(scheme));
  if (port !== undefined) made.push(portMatcher(port));
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

const asksForMethodsAlone = ({ headers, queryParams, grpc, scheme, port, cel }: Match): boolean =>
  [headers, queryParams, scheme, port, cel].every((part) => part === undefined) && grpc !== true;

function compileAction(
  route: Route,
  group: Group | undefined,
  path: EntryPath,
  parts: SharedParts,
  problems: CompileProblem[],
): Action | MakesAction | undefined {
  const { forward, redirect, directResponse } = route;
  if (countOf(forward) + countOf(redirect) + countOf(directResponse) !== 1) {
    const message = 'must have exactly one of forward, redirect, directResponse';
    problems.push({ of: 'route', path: [], message, closes: 'middleware_unavailable' });
    return undefined;
  }
  if (redirect) return new RedirectAction(compileRedirect(redirect, problems), path);
  if (directResponse) return new DirectResponseAction(compileDirectResponse(directResponse));
  if (!forward) return undefined;
  const hasOwnEdits = forward.destinations.some(hasEdits);
  if (forward.rewrite === undefined && !hasOwnEdits) return parts.plainForward(parts.choice(forward));
  const rewrite = compileRewrite(forward.rewrite, problems);
  const choice = hasOwnEdits
    ? destinationChoice(forward, compileShares(forward, rewrite, problems))
    : parts.choice(forward);
  return forwardOf(route, group, path, choice, rewrite);
}

const countOf = (action: object | undefined): 0 | 1 => (action === undefined ? 0 : 1);
