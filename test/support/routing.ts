// Routes, groups and the tables that are compiled from them, for tests of the routing table.
import type { Group } from '../../src/model/group.ts';
import type { Middleware } from '../../src/model/middleware.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { Match, Route } from '../../src/model/route.ts';
import { type Compiled, compile, type Memory } from '../../src/proxy/compile/compile.ts';
import type { RankedEntry } from '../../src/proxy/match/route-entry.ts';
import type { RoutingTable } from '../../src/proxy/match/routing-table.ts';
import { type Sent, TestRequest } from './routed-request.ts';

/** A route of that name, which is its id too unless `changes` say otherwise. */
export const aRoute = (name: string, match: Match = {}, changes: Partial<Route> = {}): Route => ({
  id: name,
  name,
  match,
  ...('redirect' in changes || 'directResponse' in changes
    ? {}
    : { forward: { destinations: [{ destinationId: 'd' }] } }),
  ...changes,
});

/** A group of the routes with these ids. */
export const aGroup = (name: string, routeIds: readonly string[], changes: Partial<Group> = {}): Group => ({
  id: name,
  name,
  routeIds,
  ...changes,
});

export interface Routing {
  readonly routes?: readonly Route[];
  readonly groups?: readonly Group[];
  readonly middlewares?: readonly Middleware[];
}

export const configurationOf = ({ routes = [], groups = [], middlewares = [] }: Routing): Configuration => ({
  listeners: [],
  destinations: [],
  routes,
  groups,
  middlewares,
});

/** Compiles with every type of middleware taken for runnable. */
export const compiled = (routing: Routing, former?: Memory, layeredFrom?: number): Compiled =>
  compile(configurationOf(routing), { canRun: () => true, former, layeredFrom });

/** The table; throws when there are problems. */
export function tableOf(routing: Routing): RoutingTable {
  const { table, problems } = compiled(routing);
  if (table === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return table;
}

const entryFor = (table: RoutingTable, sent: Sent): RankedEntry | undefined => table.match(new TestRequest(sent));

/** Name of the route that wins, or undefined. */
export const winner = (table: RoutingTable, sent: Sent): string | undefined => entryFor(table, sent)?.route.name;
