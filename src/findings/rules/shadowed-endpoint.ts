// shadowed-endpoint: endpoints and destinations that get no request.
import { destinationDefaults } from '../../model/defaults.ts';
import { referencedIds } from '../../snapshot/referenced-ids.ts';
import { placeIn, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

export function* shadowedEndpoints(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const destination of subject.configuration.destinations) {
    yield;
    const { endpoints = [], options } = destination;
    if (endpoints.length === 0 || options?.discovery !== undefined) continue;
    const priorityOf = (priority: number = destinationDefaults.endpoint.priority): number => priority;
    const first = Math.min(...endpoints.map(({ priority }) => priorityOf(priority)));
    // Only what takes endpoints out lets a later priority serve.
    const isWatched = options?.healthCheck !== undefined || options?.outlierDetection !== undefined;
    for (const [at, { host, port, weight, priority }] of endpoints.entries()) {
      const isLater = priorityOf(priority) > first && !isWatched;
      if (!isLater && weight !== 0) continue;
      const why = weight === 0 ? 'has weight 0' : 'has a later priority, and nothing takes out those of the first';
      found.push({
        severity: 'warning',
        ...placeIn('destinations', destination, `/endpoints/${at}`),
        message: `endpoint ${host}:${port} of destination "${destination.name}" gets no request: it ${why}`,
        witness: null,
        because: [],
      });
    }
  }
  found.push(...(yield* withoutWeight(subject)));
  return found;
}

/** Destinations that have the weight 0 in every route that names them. */
function* withoutWeight(subject: Subject): Generator<void, readonly RawFinding[]> {
  const { configuration } = subject;
  const reached = new Set<string>();
  const idle = new Map<string, { readonly route: (typeof configuration.routes)[number]; readonly at: number }>();
  for (const route of configuration.routes) {
    if (subject.isPause()) yield;
    if (route.disabled === true) continue;
    const { destinations = [], destinationBalancing, mirror, mirrors = [] } = route.forward ?? {};
    const isSticky = (destinationBalancing?.algorithm ?? 'WEIGHTED_RANDOM') !== 'WEIGHTED_RANDOM';
    for (const [at, { destinationId, weight = 0 }] of destinations.entries()) {
      if (destinationId === undefined) continue;
      if (weight > 0 || isSticky || destinations.length === 1) reached.add(destinationId);
      else if (!idle.has(destinationId)) idle.set(destinationId, { route, at });
    }
    for (const each of [mirror, ...mirrors]) if (each !== undefined) reached.add(each.destinationId);
  }
  for (const { forward } of configuration.streamRoutes ?? [])
    for (const { destinationId } of forward.destinations) reached.add(destinationId);
  for (const middleware of configuration.middlewares) {
    if (subject.isPause()) yield;
    for (const id of referencedIds(middleware, 'middlewares', 'destinations')) reached.add(id);
  }
  const found: RawFinding[] = [];
  for (const destination of configuration.destinations) {
    if (subject.isPause()) yield;
    const by = reached.has(destination.id) ? undefined : idle.get(destination.id);
    if (by === undefined) continue;
    const message = `destination "${destination.name}" gets no request: its weight is 0 in every route`;
    const because = [placeIn('routes', by.route, `/forward/destinations/${by.at}/weight`)];
    found.push({ severity: 'warning', ...placeIn('destinations', destination), message, witness: null, because });
  }
  return found;
}
