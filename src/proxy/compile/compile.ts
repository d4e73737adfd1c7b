// ProxyConfig → RoutingTable or problems (architecture.md §1). Pure, and in steps: a caller that compiles beside
// running traffic yields the thread between two of them. Unchanged parts are taken from the former table.
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Route } from '../../model/route.ts';
import { pairChanges, pairsOf, type RoutePair, routesById } from '../../model/route-pairs.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { mergeSorted } from '../../util/sliced-sort.ts';
import type { CompileProblem } from '../compile-problem.ts';
import { compareEntries, sortedEntries } from '../match/order.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import { type Placed, RoutingTable } from '../match/routing-table.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type CompiledEntry, compileEntry, type EntryContext, rankOf } from './compiled-entry.ts';
import { SharedParts } from './shared-parts.ts';
import type { ValidatedRoutes } from './validated-route-cache.ts';

export interface Compiled {
  /** Undefined when a match cannot be compiled: the requests it was for are unknown (architecture.md §6.19). */
  readonly table: RoutingTable | undefined;
  /** Everything that cannot be built. Pointers name entities by id: `/routes/<id>/match/cel`. At most one per place. */
  readonly problems: readonly Problem[];
  /** For the compilation that follows this one. */
  readonly memory: Memory;
}

/** The last good table, and what it was made from: whose sources are the same objects is used again. */
export interface Memory {
  readonly table: RoutingTable | undefined;
  readonly source: Source;
  /** True when nothing in it is closed, so that unchanged parts have no problems. */
  readonly isComplete: boolean;
}

type Source = Pick<Configuration, 'routes' | 'groups' | 'middlewares'>;

export interface CompileOptions {
  readonly former?: Memory | undefined;
  /** Returns whether a middleware can be built and run; entries that need another are closed. */
  readonly canRun: (type: string) => boolean;
  /** Services of middlewares; absent where the table is not going to run. */
  readonly services?: MiddlewareServices | undefined;
  /** See `RoutingTable.revised`. */
  readonly layeredFrom?: number | undefined;
}

export function compile(configuration: Configuration, options: CompileOptions): Compiled {
  const steps = compileInSteps(configuration, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** All problems that `compileInSteps` would name, without a table. What `validated` contains is not compiled again. */
export function* problemsInSteps(
  { groups, routes, middlewares }: Configuration,
  { canRun, validated }: { readonly canRun: CompileOptions['canRun']; readonly validated: ValidatedRoutes },
): Generator<void, readonly Problem[]> {
  const context = contextOf(middlewares, canRun, undefined);
  const found = new Map<string, Problem>();
  let count = 0;
  for (const { route, group, position } of pairsOf(groups, yield* routesById(routes))) {
    if (++count % 64 === 0) yield;
    if (validated.has(route, group, context.middlewares)) continue;
    const { problems } = compileEntry(route, group, position, context);
    for (const problem of problems) note(found, problem, route, group);
    if (problems.length === 0) validated.add(route, group, context.middlewares);
  }
  return [...found.values()];
}

/** Steps take well under a millisecond, but for a set of patterns, which takes up to 30 ms. */
export function* compileInSteps(configuration: Configuration, options: CompileOptions): Generator<void, Compiled> {
  const { groups, routes, middlewares } = configuration;
  const context = contextOf(middlewares, options.canRun, options.services);
  const { former } = options;
  const revised = former && (yield* revise(configuration, former, context, options.layeredFrom));
  if (revised !== undefined) return revised;
  const known = yield* entriesByRoute(former?.table);
  const problems = new Map<string, Problem>();
  const reused = new ShardedMap<RankedEntry[]>();
  const fresh: RankedEntry[] = [];
  let refused = false;
  let count = 0;
  for (const source of pairsOf(groups, yield* routesById(routes))) {
    const { route, group, position } = source;
    if (++count % 16 === 0) yield;
    const kept = again(known, context, source);
    if (kept === undefined && isDisabled(source)) continue;
    const made = kept ?? compileEntry(route, group, position, context);
    const { entry } = made;
    for (const problem of made.problems) note(problems, problem, route, group);
    if (entry === undefined) refused = true;
    else if (kept === undefined) fresh.push(entry);
    else addTo(reused, entry);
  }
  const found = [...problems.values()];
  if (refused) return { table: undefined, problems: found, memory: former ?? noMemory };
  const table = yield* RoutingTable.of(yield* sorted(fresh, reused, former?.table), former?.table);
  const isComplete = found.length === 0 && context.unavailable.size === 0;
  return { table, problems: found, memory: { table, source: { groups, routes, middlewares }, isComplete } };
}

const noMemory: Memory = { table: undefined, source: { groups: [], routes: [], middlewares: [] }, isComplete: false };

/** A disabled route has no entry in any table. */
const isDisabled = ({ route }: RoutePair): boolean => route.disabled === true;

/** From the table before, where little has changed and nothing is wrong with it. It costs what has changed. */
function* revise(
  { groups, routes, middlewares }: Configuration,
  { table, source, isComplete }: Memory,
  context: EntryContext,
  layeredFrom: number | undefined,
): Generator<void, Compiled | undefined> {
  if (table === undefined || !isComplete || context.unavailable.size > 0) return undefined;
  const { length } = middlewares;
  if (length !== source.middlewares.length || middlewares.some((each, at) => each !== source.middlewares[at]))
    return undefined;
  const changes = yield* pairChanges(source, { groups, routes });
  if (changes === undefined) return undefined;
  const removed: Placed[] = [];
  const added: RankedEntry[] = [];
  for (const pair of changes.removed) {
    if (isDisabled(pair)) continue;
    const { route, group, position } = pair;
    const rank = rankOf(route, group, position);
    if (rank === undefined) return undefined;
    removed.push({ ...rank, group });
    if (removed.length % 16 === 0) yield;
  }
  for (const pair of changes.added) {
    if (isDisabled(pair)) continue;
    const { route, group, position } = pair;
    const { entry, problems } = compileEntry(route, group, position, context);
    // A full compilation reports the problems.
    if (entry === undefined || problems.length > 0) return undefined;
    added.push(entry);
    if (added.length % 16 === 0) yield;
  }
  const next = yield* table.revised(removed, added, layeredFrom);
  return (
    next && { table: next, problems: [], memory: { table: next, source: { groups, routes, middlewares }, isComplete } }
  );
}

/** Entries by id of the route. */
type EntriesByRoute = ShardedMap<RankedEntry[]>;

function addTo(byRoute: EntriesByRoute, entry: RankedEntry): void {
  const known = byRoute.get(entry.route.id);
  if (known === undefined) byRoute.set(entry.route.id, [entry]);
  else known.push(entry);
}

/** Entries between two pauses. */
const stride = 256;

/** Returns the entries of a table that may be used again. */
function* entriesByRoute(table: RoutingTable | undefined): Generator<void, EntriesByRoute> {
  const byRoute: EntriesByRoute = new ShardedMap();
  for (const [at, entry] of (table === undefined ? [] : yield* table.entriesInSteps()).entries()) {
    addTo(byRoute, entry);
    if (at % stride === 0) yield;
  }
  return byRoute;
}

/** Entries that the former table has stand in its order already. */
function* sorted(
  fresh: readonly RankedEntry[],
  reused: EntriesByRoute,
  former: RoutingTable | undefined,
): Generator<void, readonly RankedEntry[]> {
  const added = yield* sortedEntries(fresh);
  if (former === undefined) return added;
  const known: RankedEntry[] = [];
  for (const [at, entry] of (yield* former.entriesInSteps()).entries()) {
    if (reused.get(entry.route.id)?.includes(entry) === true) known.push(entry);
    if (at % stride === 0) yield;
  }
  return added.length === 0 ? known : yield* mergeSorted(known, added, compareEntries);
}

const contextOf = (
  middlewares: readonly Middleware[],
  canRun: CompileOptions['canRun'],
  services: MiddlewareServices | undefined,
): EntryContext => ({
  middlewares: new Map(middlewares.map((middleware) => [middleware.id, middleware])),
  unavailable: new Set(middlewares.filter(({ type }) => !canRun(type)).map(({ id }) => id)),
  services,
  parts: new SharedParts(),
});

/** An entry that was closed is made anew: it may be open now, or closed for another reason. */
function again(
  known: Pick<EntriesByRoute, 'get'>,
  { middlewares, unavailable }: EntryContext,
  { route, group, position }: RoutePair,
): CompiledEntry | undefined {
  const entry = known
    .get(route.id)
    ?.find((each) => each.route === route && each.group === group && each.position === position);
  if (entry === undefined || entry.closed !== undefined) return undefined;
  const same = entry.chain.every(({ id, middleware }) => middlewares.get(id) === middleware);
  const isClosed = entry.chain.some(({ id, disabled }) => !disabled && unavailable.has(id));
  return same && !isClosed ? { entry, problems: [] } : undefined;
}

/** Adds a problem once: one of a group or a middleware is found again with each of its routes. */
function note(problems: Map<string, Problem>, problem: CompileProblem, route: Route, group: Group | undefined): void {
  const pointer = pointerOf(...placeOf(problem, route, group), ...problem.path);
  if (!problems.has(pointer)) problems.set(pointer, { pointer, message: problem.message });
}

function placeOf({ of }: CompileProblem, route: Route, group: Group | undefined): string[] {
  if (of === 'middleware') return ['middlewares'];
  return of === 'group' && group !== undefined ? ['groups', group.id] : ['routes', route.id];
}
