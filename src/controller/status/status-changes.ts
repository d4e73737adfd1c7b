// Differences between the statuses that are stored and those that follow from the graph and the proxies.
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import type { Clock } from '../../util/clock.ts';
import type { ClusterModel } from '../cluster-model.ts';
import { canonicalText } from '../graph/canonical-text.ts';
import { isFalse, isTrue, type StoredCondition, stampOf, storedConditions } from '../graph/condition.ts';
import { gatewayCell, policyCell, routeCell } from '../graph/controller-graph.ts';
import type { GatewayFacts, PolicyFacts, PolicyKind, RouteFacts, RouteKind } from '../graph/facts.ts';
import type { Publisher } from '../publish/publisher.ts';
import { policyEntityKeys } from '../translate/policy-entities.ts';
import { turnedConditions } from './events.ts';
import { supportedFeatures } from './features.ts';
import { gatewayStatus, listenerSetStatus, type StatusContext } from './gateway-status.ts';
import { ancestorsOf, parentsOf, type StoredEntry } from './route-status.ts';
import { hasAll, type StatusChange, type StatusTask } from './status-writer.ts';

export interface StatusSources {
  readonly model: Pick<ClusterModel, 'graph' | 'factsOf' | 'attachedRoutes'>;
  readonly publisher: Pick<Publisher, 'isInstalled' | 'refusalOf' | 'refusalBelow' | 'rolloutProgress' | 'fleet'>;
  readonly clock: Clock;
}

type Conditions = readonly StoredCondition[] | undefined;

export class StatusChanges {
  readonly #sources: StatusSources;

  constructor(sources: StatusSources) {
    this.#sources = sources;
  }

  /** Returns what is to be written; undefined when the stored status is right, or is none of this controller. */
  of({ kind, key }: StatusTask): StatusChange | undefined {
    switch (kind) {
      case 'GatewayClass':
        return this.#ofClass(key);
      case 'Gateway':
        return this.#ofGateway(key);
      case 'ListenerSet':
        return this.#ofListenerSet(key);
      case 'BackendTLSPolicy':
      case 'UpstreamPolicy':
      case 'Middleware':
        return this.#ofPolicy(kind, key);
      default:
        return this.#ofRoute(kind as RouteKind, key);
    }
  }

  #ofClass(name: string): StatusChange | undefined {
    const { graph } = this.#sources.model;
    const object = graph.store.present('GatewayClass', name);
    if (object === undefined || object.spec.controllerName !== graph.settings.controllerName) return undefined;
    const stored = object.status as { conditions?: Conditions; supportedFeatures?: unknown } | undefined;
    const { parametersRef } = object.spec;
    const accepted =
      parametersRef === undefined
        ? isTrue('Accepted', 'Accepted', 'Gateways of this class are served by Sluice')
        : isFalse('Accepted', 'InvalidParameters', `parameters of kind ${parametersRef.kind} have no effect`);
    const generation = object.metadata.generation ?? 0;
    return applied(object, stored, {
      conditions: storedConditions([accepted], stored?.conditions, generation, this.#now()),
      supportedFeatures: supportedFeatures.map((feature) => ({ name: feature })),
    });
  }

  #ofGateway(key: string): StatusChange | undefined {
    const { model } = this.#sources;
    const { graph } = model;
    const cell = gatewayCell(key);
    const facts = model.factsOf(cell) as GatewayFacts | undefined;
    const object = graph.store.present('Gateway', key);
    if (facts === undefined || object === undefined || facts.generation !== object.metadata.generation)
      return undefined;
    const stored = object.status as Parameters<typeof gatewayStatus>[1];
    return applied(object, stored, gatewayStatus(facts, stored, cell, this.#context()));
  }

  #ofListenerSet(key: string): StatusChange | undefined {
    const { model } = this.#sources;
    const { graph } = model;
    const object = graph.store.present('ListenerSet', key);
    if (object === undefined) return undefined;
    const { parentRef } = object.spec;
    const cell = gatewayCell(`${parentRef.namespace ?? object.metadata.namespace}/${parentRef.name}`);
    const gateway = model.factsOf(cell) as GatewayFacts | undefined;
    const set = gateway?.sets.find(({ parent }) => `${parent.namespace}/${parent.name}` === key);
    if (gateway === undefined || set === undefined) return undefined;
    const stored = object.status as Parameters<typeof gatewayStatus>[1];
    const generation = object.metadata.generation ?? 0;
    return applied(object, stored, listenerSetStatus(gateway, set, generation, stored, cell, this.#context()));
  }

  #ofRoute(kind: RouteKind, key: string): StatusChange | undefined {
    const { model } = this.#sources;
    const { graph } = model;
    const object = graph.store.present(kind, key);
    const facts = model.factsOf(routeCell(kind, key)) as RouteFacts | undefined;
    if (object === undefined || (facts !== undefined && facts.generation !== object.metadata.generation))
      return undefined;
    const stored = (object.status?.parents ?? []) as unknown as readonly StoredEntry[];
    const { controllerName } = graph.settings;
    const refusal = this.#sources.publisher.refusalOf(routeCell(kind, key));
    const told = facts && refusal !== undefined ? refusedFacts(facts, refusal) : facts;
    const parents = parentsOf(told, stored, { controllerName, now: this.#now() });
    return merged(object, 'parents', stored, parents);
  }

  #ofPolicy(kind: PolicyKind, key: string): StatusChange | undefined {
    const { model, publisher } = this.#sources;
    const { graph } = model;
    const object = graph.store.present(kind, key);
    const facts = model.factsOf(policyCell(kind, key)) as PolicyFacts | undefined;
    if (object === undefined || (facts !== undefined && facts.generation !== object.metadata.generation))
      return undefined;
    const stored = (object.status?.ancestors ?? []) as unknown as readonly StoredEntry[];
    const { controllerName } = graph.settings;
    const keys = policyEntityKeys(graph, kind, object);
    const refusal = keys.map((each) => publisher.refusalBelow(each)).find((reason) => reason !== undefined);
    const told = facts && refusal !== undefined ? refusedPolicy(facts, refusal) : facts;
    const ancestors = ancestorsOf(told, stored, { controllerName, now: this.#now() });
    return merged(object, 'ancestors', stored, ancestors);
  }

  #context(): StatusContext {
    const { publisher, model } = this.#sources;
    return {
      attachedRoutes: (listener) => model.attachedRoutes(listener),
      now: this.#now(),
      installed: {
        isInstalled: (holder) => publisher.isInstalled(holder),
        refusalOf: (holder) => publisher.refusalOf(holder),
        closedReason: (listener) => publisher.fleet.closedReason(listener),
        rolloutProgress: publisher.rolloutProgress,
        fleetRefusal: publisher.fleet.refusal,
      },
    };
  }

  #now(): string {
    return stampOf(this.#sources.clock.nowMs());
  }
}

/** Facts of a route of which Sluice refuses an entity: it is not accepted as a whole. */
const refusedFacts = (facts: RouteFacts, refusal: string): RouteFacts => ({
  ...facts,
  parents: facts.parents.map((parent) => ({
    ...parent,
    conditions: parent.conditions.map((condition) =>
      condition.type === 'Accepted' && condition.status === 'True'
        ? isFalse('Accepted', 'UnsupportedValue', `Sluice refuses it: ${refusal}`)
        : condition,
    ),
  })),
});

const refusedPolicy = (facts: PolicyFacts, refusal: string): PolicyFacts => ({
  ...facts,
  conditions: facts.conditions.map((condition) =>
    condition.type === 'Accepted' ? isFalse('Accepted', 'Invalid', `Sluice refuses it: ${refusal}`) : condition,
  ),
});

/** Conditions that are said only while they hold: stored and not wanted, they are to go. */
const passing = new Set(['InsecureFrontendValidationMode', 'ResolvedRefs']);

function applied(object: KubernetesObject, stored: object | undefined, wanted: object): StatusChange | undefined {
  if (hasAll(stored, wanted) && !hasMore(stored, wanted)) return undefined;
  return { by: 'apply', status: wanted, object, turned: turnedConditions(stored, wanted) };
}

function hasMore(stored: object | undefined, wanted: object): boolean {
  const before = (stored ?? {}) as {
    conditions?: readonly { type: string }[];
    listeners?: readonly { name: string }[];
  };
  const after = wanted as typeof before;
  const types = new Set((after.conditions ?? []).map(({ type }) => type));
  const names = new Set((after.listeners ?? []).map(({ name }) => name));
  return (
    (before.conditions ?? []).some(({ type }) => passing.has(type) && !types.has(type)) ||
    (before.listeners ?? []).some(({ name }) => !names.has(name))
  );
}

function merged(
  object: KubernetesObject,
  field: 'parents' | 'ancestors',
  stored: readonly StoredEntry[],
  wanted: readonly StoredEntry[],
): StatusChange | undefined {
  if (sameEntries(stored, wanted)) return undefined;
  const { resourceVersion } = object.metadata;
  const turned = turnedConditions(stored, wanted);
  return { by: 'merge', metadata: { resourceVersion }, status: { [field]: wanted }, object, turned };
}

const sameEntries = (stored: readonly StoredEntry[], wanted: readonly StoredEntry[]): boolean =>
  canonicalText(stored.map(timeless)) === canonicalText(wanted.map(timeless));

/** An entry without times, its conditions in one order. */
const timeless = ({ conditions = [], ...entry }: StoredEntry): object => ({
  ...entry,
  conditions: conditions
    .map(({ lastTransitionTime: _, ...condition }) => condition)
    .sort((a, b) => (a.type < b.type ? -1 : 1)),
});
