// What a snapshot must be told before it is created: problems refuse it, warnings name what is accepted but not
// built yet (architecture.md §6.11, §6.19, §6.20). What dangles and listeners in each other's way are src/snapshot's
// to say. Pure; handed to the snapshot resource as a function.
import { RE2JS } from 're2js';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';
import { buildTable } from './table.ts';

export interface ConfigCheck {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Pointers name entities by id: `/routes/<id>/match/pathRegex`. */
export function checkConfig(configuration: Configuration): ConfigCheck {
  const found: Found = { problems: [], warnings: [] };
  checkListeners(configuration, found);
  checkDestinations(configuration, found);
  checkMatches(configuration, found);
  checkActions(configuration, found);
  checkMiddlewares(configuration, found);
  if (found.problems.length === 0) buildTable(configuration);
  return found;
}

interface Found {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

const notBuilt = (what: string): string => `${what} is not available in this version`;

function checkListeners({ listeners }: Configuration, { warnings }: Found): void {
  listeners.forEach((listener) => {
    if (listener.tls !== undefined)
      warnings.push({
        pointer: pointerOf('listeners', listener.id, 'tls'),
        message: `${notBuilt('TLS')}: the listener stays closed`,
      });
    if (listener.http2 === true)
      warnings.push({
        pointer: pointerOf('listeners', listener.id, 'http2'),
        message: `${notBuilt('HTTP/2')}: it has no effect`,
      });
    if (listener.metrics !== undefined)
      warnings.push({
        pointer: pointerOf('listeners', listener.id, 'metrics'),
        message: `${notBuilt('metrics')}: it has no effect`,
      });
  });
}

/** Options with no effect yet; each falls back to plain forwarding. */
const idleOptions = ['circuitBreaker', 'healthCheck', 'outlierDetection', 'discovery'] as const;

function checkDestinations({ destinations }: Configuration, { warnings }: Found): void {
  destinations.forEach(({ id, options }) => {
    const at = (...rest: string[]): string => pointerOf('destinations', id, 'options', ...rest);
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
  routes.forEach(({ id, match }) => {
    regex(pointerOf('routes', id, 'match', 'pathRegex'), match?.pathRegex);
    fields(pointerOf('routes', id, 'match', 'headers'), match?.headers);
    fields(pointerOf('routes', id, 'match', 'queryParams'), match?.queryParams);
    if (match?.cel !== undefined && match.cel !== '')
      problems.push({ pointer: pointerOf('routes', id, 'match', 'cel'), message: notBuilt('matching by CEL') });
  });
  groups.forEach((group) => {
    regex(pointerOf('groups', group.id, 'pathRegex'), group.pathRegex);
    fields(pointerOf('groups', group.id, 'headers'), group.headers);
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
  routes.forEach(({ id, forward }) => {
    if (forward === undefined) return;
    const warn = (field: string, message: string): void => {
      warnings.push({ pointer: `${pointerOf('routes', id, 'forward')}/${field}`, message });
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
  groups.forEach((group) => {
    if ((group.retryDefault?.attempts ?? 0) > 0)
      warnings.push({
        pointer: pointerOf('groups', group.id, 'retryDefault'),
        message: `${notBuilt('retry')}: it has no effect`,
      });
  });
}

function checkMiddlewares({ routes, groups, middlewares }: Configuration, found: Found): void {
  const known = new Set(middlewares.map(({ id }) => id));
  const protections = (kind: string, entity: string, ids: readonly string[] | undefined): void =>
    ids?.forEach((id, k) => {
      const pointer = pointerOf(kind, entity, 'middlewareIds', k);
      if (!known.has(id)) found.problems.push({ pointer, message: `names no middleware: ${id}` });
      else found.warnings.push({ pointer, message: `${notBuilt('the middleware')}: requests are answered 500` });
    });
  for (const { id, middlewareIds } of routes) protections('routes', id, middlewareIds);
  for (const { id, middlewareIds } of groups) protections('groups', id, middlewareIds);
}
