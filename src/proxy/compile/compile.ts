// ProxyConfig → RoutingTable or problems (architecture.md §1). Pure, and in steps: whoever compiles beside running
// traffic gives the thread back between two of them. What did not change since the former table is taken from it.
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Route } from '../../model/route.ts';
import type { CompileProblem } from '../compile-problem.ts';
import type { Entry } from '../match/entry.ts';
import { RoutingTable } from '../match/routing-table.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { type CompiledEntry, compileEntry, type EntryContext } from './entry.ts';
import { compareEntries } from './order.ts';
import { mergeSorted, sortInSteps } from './sort.ts';
import type { SoundRoutes } from './sound-routes.ts';

export interface Compiled {
  /** Undefined when a match cannot be compiled: nobody can say which requests it was for (architecture.md §6.19). */
  readonly table: RoutingTable | undefined;
  /** Everything that cannot be built. Pointers name entities by id: `/routes/<id>/match/cel`. At most one per place. */
  readonly problems: readonly Problem[];
  /** For the compilation that follows this one. */
  readonly memory: Memory;
}

/** Entries that were made without a problem, by route; an entry whose sources are the same objects is used again. */
export interface Memory {
  readonly entries: ReadonlyMap<Route, readonly Entry[]>;
  readonly table: RoutingTable | undefined;
}

export interface CompileOptions {
  readonly former?: Memory | undefined;
  /** Whether a middleware can be built and run; entries that need another are closed. */
  readonly canRun: (type: string) => boolean;
  /** What middlewares run with; absent where nothing is going to run. */
  readonly services?: MiddlewareServices | undefined;
}

export function compile(configuration: Configuration, options: CompileOptions): Compiled {
  const steps = compileInSteps(configuration, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** All problems that `compileInSteps` would name, without a table. What `sound` knows to be well is not compiled again. */
export function* problemsInSteps(
  { groups, routes, middlewares }: Configuration,
  { canRun, sound }: { readonly canRun: CompileOptions['canRun']; readonly sound: SoundRoutes },
): Generator<void, readonly Problem[]> {
  const context = contextOf(middlewares, canRun, undefined);
  const found = new Map<string, Problem>();
  let count = 0;
  for (const { route, group, position } of pairsOf(groups, yield* indexed(routes))) {
    if (++count % 64 === 0) yield;
    if (sound.has(route, group, context.middlewares)) continue;
    const { problems } = compileEntry(route, group, position, context);
    for (const problem of problems) note(found, problem, route, group);
    if (problems.length === 0) sound.add(route, group, context.middlewares);
  }
  return [...found.values()];
}

/** Steps take well under a millisecond, but for a set of patterns, which takes up to 30 ms. */
export function* compileInSteps(
  { groups, routes, middlewares }: Configuration,
  { former, canRun, services }: CompileOptions,
): Generator<void, Compiled> {
  const context = contextOf(middlewares, canRun, services);
  const sound = new Map<Route, Entry[]>();
  const found = new Map<string, Problem>();
  const entries: Entry[] = [];
  let refused = false;
  let count = 0;
  const byId = yield* indexed(routes);
  for (const source of pairsOf(groups, byId)) {
    const { route, group, position } = source;
    const known = again(former, context, source);
    const { entry, problems } = known ?? compileEntry(route, group, position, context);
    for (const problem of problems) note(found, problem, route, group);
    if (entry === undefined) refused = true;
    else entries.push(entry);
    if (entry !== undefined && problems.length === 0) keep(sound, entry);
    if (++count % 16 === 0) yield;
  }
  const memory = (table: RoutingTable | undefined): Memory => ({ entries: sound, table });
  if (refused) return { table: undefined, problems: [...found.values()], memory: memory(former?.table) };
  const table = new RoutingTable(yield* sorted(entries, former?.table));
  yield* table.build(former?.table);
  return { table, problems: [...found.values()], memory: memory(table) };
}

/** Entries that the former table has stand in its order already. */
function* sorted(entries: readonly Entry[], former: RoutingTable | undefined): Generator<void, Entry[]> {
  const left = new Set(entries);
  yield;
  const known = (former?.entries ?? []).filter((entry) => left.delete(entry));
  yield;
  const fresh = yield* sortInSteps([...left], compareEntries);
  return fresh.length === 0 ? known : yield* mergeSorted(known, fresh, compareEntries);
}

const contextOf = (
  middlewares: readonly Middleware[],
  canRun: CompileOptions['canRun'],
  services: MiddlewareServices | undefined,
): EntryContext => ({
  middlewares: new Map(middlewares.map((middleware) => [middleware.id, middleware])),
  unavailable: new Set(middlewares.filter(({ type }) => !canRun(type)).map(({ id }) => id)),
  services,
});

interface Source {
  readonly route: Route;
  readonly group: Group | undefined;
  readonly position: number;
}

function* indexed(routes: readonly Route[]): Generator<void, Map<string, Route>> {
  const byId = new Map<string, Route>();
  for (const route of routes) {
    byId.set(route.id, route);
    if (byId.size % 256 === 0) yield;
  }
  return byId;
}

/** One entry for each group and route pair, and one for a route that is in no group (contract.md §6.5). */
function* pairsOf(groups: readonly Group[], byId: ReadonlyMap<string, Route>): Generator<Source> {
  const grouped = new Set<string>();
  for (const group of groups) {
    const listed = new Set<string>();
    for (const id of group.routeIds ?? []) {
      if (listed.has(id)) continue;
      const position = listed.size;
      listed.add(id);
      const route = byId.get(id);
      if (route === undefined) continue;
      grouped.add(id);
      yield { route, group, position };
    }
  }
  for (const route of byId.values()) if (!grouped.has(route.id)) yield { route, group: undefined, position: 0 };
}

function again(
  former: Memory | undefined,
  { middlewares, unavailable }: EntryContext,
  { route, group, position }: Source,
): CompiledEntry | undefined {
  const entry = former?.entries.get(route)?.find((each) => each.group === group && each.position === position);
  if (entry === undefined) return undefined;
  const same = entry.chain.every(({ id, middleware }) => middlewares.get(id) === middleware);
  const wasClosed = entry.closed !== undefined;
  const isClosed = entry.chain.some(({ id, disabled }) => !disabled && unavailable.has(id));
  return same && wasClosed === isClosed ? { entry, problems: [] } : undefined;
}

function keep(sound: Map<Route, Entry[]>, entry: Entry): void {
  const known = sound.get(entry.route);
  if (known === undefined) sound.set(entry.route, [entry]);
  else known.push(entry);
}

/** A problem of a group or a middleware is found again with each of its routes and said once. */
function note(problems: Map<string, Problem>, problem: CompileProblem, route: Route, group: Group | undefined): void {
  const pointer = pointerOf(...placeOf(problem, route, group), ...problem.path);
  if (!problems.has(pointer)) problems.set(pointer, { pointer, message: problem.message });
}

function placeOf({ of }: CompileProblem, route: Route, group: Group | undefined): string[] {
  if (of === 'middleware') return ['middlewares'];
  return of === 'group' && group !== undefined ? ['groups', group.id] : ['routes', route.id];
}
