// Routes of Caddy, flattened: handlers that only change the request go before those that answer it.
import type { Fields } from '../fields.ts';
import type { ImportedRoute } from '../intermediate.ts';
import { type Chain, emptyChain, handled } from './handlers.ts';
import { alternativesOf, anything, both, type CaddyMatch } from './matcher-sets.ts';

const depthMax = 16;
const alternativesMax = 256;

export function serverRoutes(name: string, server: Fields, listeners: readonly string[]): ImportedRoute[] {
  const found: Omit<ImportedRoute, 'rank'>[] = [];
  flatten(name, server.list('routes'), anything, emptyChain, found, 0);
  // Caddy answers 200 where no handler does.
  found.push({
    name: `${name}-otherwise`,
    from: server.statement,
    hosts: [],
    middlewares: [],
    directResponse: { status: 200 },
  });
  return found.map((route, at) => ({ ...route, listeners, rank: [found.length - at] }));
}

/** Returns what handlers without an answer leave for the routes behind. */
function flatten(
  name: string,
  routes: readonly Fields[],
  around: CaddyMatch,
  before: Chain,
  found: Omit<ImportedRoute, 'rank'>[],
  depth: number,
): Chain {
  let chain = before;
  for (const [at, route] of routes.entries()) {
    const label = `${name}-${at + 1}`;
    route.text('terminal');
    const group = route.text('group');
    const sets = alternativesOf(route.list('match'));
    if (sets === undefined || sets.length > alternativesMax || depth > depthMax) {
      route.ledger.notTaken(
        route.statement,
        'one of its matchers has no counterpart; the route is left out',
        'match.cel',
      );
      continue;
    }
    const matches = sets.map((each) => both(around, each));
    const { next, answers, nested } = handled(label, route.list('handle'), chain);
    for (const match of matches) {
      const base = routeOf(label, route, match);
      for (const answer of answers) found.push({ ...base, ...answer });
      // Requests that the routes within leave are for them alone.
      for (const { routes: inner, chain: own } of nested) flatten(label, inner, match, own, found, depth + 1);
    }
    const isChange = next !== chain;
    if (answers.length > 0 || !isChange) continue;
    const isForAll = route.list('match').length === 0 && group === undefined;
    if (isForAll) chain = next;
    else if (nested.length === 0)
      route.ledger.notTaken(
        route.statement,
        'it changes some requests and answers none',
        'the middleware in each route that it is for',
      );
  }
  return chain;
}

function routeOf(
  name: string,
  route: Fields,
  { hosts, path, methods, cels, headers, query }: CaddyMatch,
): Omit<ImportedRoute, 'rank'> {
  const cel = cels.length > 1 ? cels.map((each) => `(${each})`).join(' && ') : cels[0];
  return {
    name,
    from: route.statement,
    hosts,
    ...(path !== undefined && { path }),
    match: { ...(methods.length > 0 && { methods }), ...(cel !== undefined && { cel }) },
    middlewares: [],
    sample: { headers, query },
  };
}
