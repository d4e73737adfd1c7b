// The forward action of a rule: its backends with weights, edits and answers in the place of those that cannot be reached.

import { type Condition, isFalse } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Entity } from '../graph/facts.ts';
import { type BackendReference, type BackendSource, type BackendUse, destinationOf, findBackend } from './backend.ts';
import { type Filters, type HttpFilter, type MirrorFilter, readFilters, rewriteOf } from './filters.ts';

export interface RuleBackend extends BackendReference {
  readonly weight?: number;
  readonly filters?: readonly HttpFilter[];
}

export interface ForwardContext {
  readonly graph: ControllerGraph;
  readonly source: BackendSource;
  readonly use: BackendUse;
  readonly idParts: readonly (string | number)[];
  readonly path: { readonly type: string; readonly value: string };
}

export interface Shares {
  readonly destinations: readonly object[];
  readonly entities: readonly Entity[];
  readonly faults: readonly Condition[];
  /** Keys of the Services that are used. */
  readonly services: readonly string[];
}

/** Answer of a share without ready endpoints, where the controller writes them. */
const unavailable = { status: 503, body: '' };

const hasNoEndpoints = ({ body }: Entity): boolean =>
  (body as { endpoints?: readonly unknown[] }).endpoints?.length === 0;

/** Answer of a share whose backend cannot be had. */
const unresolved = { status: 500, body: '' };
export const unresolvedShare = { directResponse: unresolved, weight: 1 };

export function sharesOf(context: ForwardContext, backends: readonly RuleBackend[] = []): Shares {
  const { graph, source, use, idParts, path } = context;
  const entities: Entity[] = [];
  const faults: Condition[] = [];
  const services: string[] = [];
  const destinations = backends.map(({ filters, weight = 1, ...reference }) => {
    const { found, fault } = findBackend(graph, source, reference);
    if (fault !== undefined) {
      faults.push(fault);
      return { directResponse: unresolved, weight };
    }
    services.push(found.key);
    const destination = destinationOf(graph, found, use);
    if (destination === undefined) return { directResponse: unresolved, weight };
    const edits = readFilters(graph, { namespace: source.namespace, idParts }, filters);
    const unfit = edits.resolved ?? unfitFor(edits);
    if (unfit !== undefined) {
      faults.push(unfit);
      return { directResponse: unresolved, weight };
    }
    // A destination without endpoints would be connected to by the name of its Service.
    if (hasNoEndpoints(destination)) return { directResponse: unavailable, weight };
    entities.push(destination);
    return {
      destinationId: destination.body.id,
      weight,
      ...(edits.headers !== undefined && { headers: edits.headers }),
      ...(edits.rewrite !== undefined && { rewrite: rewriteOf(edits.rewrite, path) }),
    };
  });
  const isEmpty = destinations.every(({ weight }) => weight === 0);
  return {
    // A single entry takes everything, with any weight.
    destinations: isEmpty ? [unresolvedShare] : destinations,
    entities,
    faults,
    services,
  };
}

/** Filters of a backend that a share of Sluice cannot have: nothing passes without them. */
function unfitFor({ redirect, mirrors, middlewares }: Filters): Condition | undefined {
  if (redirect === undefined && mirrors.length === 0 && middlewares.length === 0) return undefined;
  const message = 'filters of a backend edit headers and URLs; others belong to the rule';
  return isFalse('ResolvedRefs', 'UnsupportedValue', message);
}

export interface Mirrors {
  readonly mirrors: readonly object[];
  readonly entities: readonly Entity[];
  readonly faults: readonly Condition[];
  readonly services: readonly string[];
}

export function mirrorsOf({ graph, source, use }: ForwardContext, filters: readonly MirrorFilter[]): Mirrors {
  const outcomes = filters.map((filter) => ({ filter, ...findBackend(graph, source, filter.backendRef) }));
  const faults = outcomes.flatMap(({ fault }) => fault ?? []);
  const found = outcomes.flatMap(({ filter, found: service }) => {
    const entity = service && destinationOf(graph, service, use);
    return entity === undefined || hasNoEndpoints(entity) ? [] : [{ filter, entity, key: service?.key ?? '' }];
  });
  return {
    faults,
    entities: found.map(({ entity }) => entity),
    services: found.map(({ key }) => key),
    mirrors: found.map(({ filter, entity }) => ({ destinationId: entity.body.id, ...shareOf(filter) })),
  };
}

function shareOf({ percent, fraction }: MirrorFilter): object {
  if (fraction !== undefined)
    return { fraction: { numerator: fraction.numerator, denominator: fraction.denominator ?? 100 } };
  return percent === undefined ? {} : { percentage: percent };
}
