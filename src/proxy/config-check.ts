// What a snapshot must be told before it is created: problems refuse it, warnings name what is accepted but not
// built yet (architecture.md §6.11, §6.19, §6.20). Pure; handed to the snapshot resource as a function.
import { RE2JS } from 're2js';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';
import { buildTable } from './table.ts';

export interface ConfigCheck {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Pointers lead into the configuration: `/routes/3/match/pathRegex`. */
export function checkConfig(configuration: Configuration): ConfigCheck {
  const found: Found = { problems: [], warnings: [] };
  checkListeners(configuration, found);
  checkDestinations(configuration, found);
  checkMatches(configuration, found);
  checkActions(configuration, found);
  checkReferences(configuration, found);
  if (found.problems.length === 0) buildTable(configuration);
  return found;
}

interface Found {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

const notBuilt = (what: string): string => `${what} is not available in this version`;

function checkListeners({ listeners }: Configuration, { warnings }: Found): void {
  const taken = new Map<string, string>();
  listeners.forEach((listener, i) => {
    if (listener.tls !== undefined)
      warnings.push({
        pointer: pointerOf('listeners', i, 'tls'),
        message: `${notBuilt('TLS')}: the listener stays closed`,
      });
    if (listener.http2 === true)
      warnings.push({
        pointer: pointerOf('listeners', i, 'http2'),
        message: `${notBuilt('HTTP/2')}: it has no effect`,
      });
    if (listener.metrics !== undefined)
      warnings.push({
        pointer: pointerOf('listeners', i, 'metrics'),
        message: `${notBuilt('metrics')}: it has no effect`,
      });
    const place = `${listener.address ?? '0.0.0.0'}:${listener.port}`;
    const first = taken.get(place);
    if (first === undefined) taken.set(place, listener.name);
    else
      warnings.push({
        pointer: pointerOf('listeners', i, 'port'),
        message: `is taken by listener "${first}": the listener stays closed`,
      });
  });
}

/** Options with no effect yet; each falls back to plain forwarding. */
const idleOptions = ['circuitBreaker', 'healthCheck', 'outlierDetection', 'discovery'] as const;

function checkDestinations({ destinations }: Configuration, { warnings }: Found): void {
  destinations.forEach(({ options }, i) => {
    const at = (...rest: string[]): string => pointerOf('destinations', i, 'options', ...rest);
    if (options === undefined) return;
    if ((options.tls?.mode ?? 'none') !== 'none')
      warnings.push({ pointer: at('tls', 'mode'), message: `${notBuilt('TLS')}: requests are answered 502` });
    if (options.http2 === true)
      warnings.push({ pointer: at('http2'), message: `${notBuilt('HTTP/2')}: requests are answered 502` });
    for (const option of idleOptions)
      if (options[option] !== undefined)
        warnings.push({ pointer: at(option), message: `${notBuilt('it')}: it has no effect` });
    if ((options.endpointBalancing?.algorithm ?? 'ROUND_ROBIN') !== 'ROUND_ROBIN')
      warnings.push({
        pointer: at('endpointBalancing', 'algorithm'),
        message: `${notBuilt('it')}: acts as ROUND_ROBIN`,
      });
  });
}

function checkMatches({ routes, groups }: Configuration, { problems }: Found): void {
  const regex = (pointer: string, pattern: string | undefined): void => {
    const message = pattern === undefined ? undefined : regexFault(pattern);
    if (message !== undefined) problems.push({ pointer, message });
  };
  const fields = (base: string, list: readonly { value?: string; regex?: boolean }[] | undefined): void =>
    list?.forEach(({ value, regex: isRegex }, i) => {
      if (isRegex === true) regex(`${base}/${i}/value`, value);
    });
  routes.forEach(({ match }, i) => {
    regex(pointerOf('routes', i, 'match', 'pathRegex'), match?.pathRegex);
    fields(pointerOf('routes', i, 'match', 'headers'), match?.headers);
    fields(pointerOf('routes', i, 'match', 'queryParams'), match?.queryParams);
    if (match?.cel !== undefined && match.cel !== '')
      problems.push({ pointer: pointerOf('routes', i, 'match', 'cel'), message: notBuilt('matching by CEL') });
  });
  groups.forEach((group, i) => {
    regex(pointerOf('groups', i, 'pathRegex'), group.pathRegex);
    fields(pointerOf('groups', i, 'headers'), group.headers);
  });
}

function regexFault(pattern: string): string | undefined {
  try {
    RE2JS.compile(`(?:${pattern})`);
    return undefined;
  } catch (error) {
    return `is not a valid RE2 expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function checkActions({ routes, groups }: Configuration, { warnings }: Found): void {
  routes.forEach(({ forward }, i) => {
    if (forward === undefined) return;
    const warn = (field: string, message: string): void => {
      warnings.push({ pointer: pointerOf('routes', i, 'forward', field), message });
    };
    if ((forward.retry?.attempts ?? 0) > 0) warn('retry', `${notBuilt('retry')}: it has no effect`);
    if (forward.mirror !== undefined) warn('mirror', `${notBuilt('mirroring')}: it has no effect`);
    if (forward.maxGrpcTimeout !== undefined) warn('maxGrpcTimeout', `${notBuilt('it')}: it has no effect`);
    if (forward.rewrite?.pathRegex !== undefined)
      warn('rewrite/pathRegex', `${notBuilt('rewriting by regex')}: requests are answered 500`);
    const algorithm = forward.destinationBalancing?.algorithm ?? 'WEIGHTED_RANDOM';
    if (algorithm !== 'WEIGHTED_RANDOM')
      warn('destinationBalancing/algorithm', `${notBuilt(algorithm)}: acts as WEIGHTED_RANDOM`);
  });
  groups.forEach((group, i) => {
    if ((group.retryDefault?.attempts ?? 0) > 0)
      warnings.push({
        pointer: pointerOf('groups', i, 'retryDefault'),
        message: `${notBuilt('retry')}: it has no effect`,
      });
  });
}

function checkReferences({ destinations, routes, groups, middlewares }: Configuration, found: Found): void {
  const destinationIds = new Set(destinations.map(({ id }) => id));
  const routeIds = new Set(routes.map(({ id }) => id));
  const middlewareIds = new Set(middlewares.map(({ id }) => id));
  const protections = (kind: string, i: number, ids: readonly string[] | undefined): void =>
    ids?.forEach((id, k) => {
      const pointer = pointerOf(kind, i, 'middlewareIds', k);
      if (!middlewareIds.has(id)) found.problems.push({ pointer, message: `names no middleware: ${id}` });
      else found.warnings.push({ pointer, message: `${notBuilt('the middleware')}: requests are answered 500` });
    });
  routes.forEach((route, i) => {
    protections('routes', i, route.middlewareIds);
    route.forward?.destinations?.forEach(({ destinationId }: { destinationId: string }, k: number) => {
      if (!destinationIds.has(destinationId))
        found.warnings.push({
          pointer: pointerOf('routes', i, 'forward', 'destinations', k, 'destinationId'),
          message: `names no destination: ${destinationId}`,
        });
    });
  });
  groups.forEach((group, i) => {
    protections('groups', i, group.middlewareIds);
    group.routeIds?.forEach((id: string, k: number) => {
      if (!routeIds.has(id))
        found.warnings.push({ pointer: pointerOf('groups', i, 'routeIds', k), message: `names no route: ${id}` });
    });
  });
}
