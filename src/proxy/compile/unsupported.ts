// What a configuration uses that is accepted but not built yet (architecture.md §6.20): each place is named, so that
// nobody relies on it. Pointers name entities by id.

import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { buildOf } from '../middleware/registry.ts';

export function findUnsupported(configuration: Configuration): Problem[] {
  const warnings: Problem[] = [];
  checkDestinations(configuration, warnings);
  checkActions(configuration, warnings);
  checkMiddlewares(configuration, warnings);
  return warnings;
}

const notBuilt = (what: string): string => `${what} is not available in this version`;

/** Options with no effect yet; each falls back to plain forwarding. */
const idleOptions = ['circuitBreaker', 'healthCheck', 'outlierDetection', 'discovery'] as const;

function checkDestinations({ destinations }: Configuration, warnings: Problem[]): void {
  destinations.forEach(({ id, options, endpoints = [] }) => {
    endpoints.forEach((endpoint, index) => {
      for (const field of ['weight', 'priority'] as const)
        if (endpoint[field] !== undefined)
          warnings.push({
            pointer: pointerOf('destinations', id, 'endpoints', index, field),
            message: `${notBuilt('it')}: it has no effect`,
          });
    });
    const at = (...rest: string[]): string => pointerOf('destinations', id, 'options', ...rest);
    if (options === undefined) return;
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

function checkActions({ routes, groups }: Configuration, warnings: Problem[]): void {
  routes.forEach(({ id, forward }) => {
    if (forward === undefined) return;
    const warn = (field: string, message: string): void => {
      warnings.push({ pointer: `${pointerOf('routes', id, 'forward')}/${field}`, message });
    };
    if ((forward.retry?.attempts ?? 0) > 0) warn('retry', `${notBuilt('retry')}: it has no effect`);
    if (forward.mirror !== undefined) warn('mirror', `${notBuilt('mirroring')}: it has no effect`);
    if (forward.maxGrpcTimeout !== undefined) warn('maxGrpcTimeout', `${notBuilt('it')}: it has no effect`);
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

function checkMiddlewares({ routes, groups, middlewares }: Configuration, warnings: Problem[]): void {
  const closing = new Set(middlewares.filter(({ type }) => buildOf(type) === undefined).map(({ id }) => id));
  const check = (kind: 'routes' | 'groups', entity: string, ids: readonly string[] | undefined): void =>
    ids?.forEach((id, at) => {
      if (!closing.has(id)) return;
      const pointer = pointerOf(kind, entity, 'middlewareIds', at);
      warnings.push({ pointer, message: `${notBuilt('the middleware')}: requests are answered 500` });
    });
  for (const { id, middlewareIds } of routes) check('routes', id, middlewareIds);
  for (const { id, middlewareIds } of groups) check('groups', id, middlewareIds);
}
