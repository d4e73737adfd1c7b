// Model of the cluster: takes in objects, keeps the facts that follow from them, and the entities that Sluice is to have.
import { isDeepStrictEqual } from 'node:util';
import { type KubernetesObject, keyOf } from '../kubernetes/objects.ts';
import { ControllerGraph, type GraphSettings, gatewayCell, policyCell, routeCell } from './graph/controller-graph.ts';
import {
  type GatewayFacts,
  type PolicyFacts,
  type PolicyKind,
  policyKinds,
  type RouteFacts,
  type RouteKind,
  routeKinds,
} from './graph/facts.ts';
import { EntitySet } from './publish/entity-set.ts';
import { Addresses, type AddressPool, statusAddresses } from './publish/gateway-addresses.ts';
import { resolvers } from './resolve/resolvers.ts';
import type { ResourceKindName } from './resource-kinds.ts';

export interface ClusterModelOptions extends GraphSettings {
  readonly pool: AddressPool;
}

export type Facts = GatewayFacts | RouteFacts | PolicyFacts;

export interface ClusterModelEvents {
  /** The status of an object may be different. */
  readonly onStatus: (kind: ResourceKindName, key: string) => void;
  /** Entities of a holder, named by their keys, are different. */
  readonly onEntities: (holder: string, keys: readonly string[]) => void;
  /** A holder is gone. */
  readonly onGone: (holder: string) => void;
  /** An object cannot be read: the others are served all the same, and this one as it was. */
  readonly onUnreadable: (kind: ResourceKindName, key: string, error: unknown) => void;
}

export class ClusterModel {
  readonly graph: ControllerGraph;
  readonly entities = new EntitySet();
  readonly #addresses: Addresses;
  readonly #events: ClusterModelEvents;
  readonly #facts = new Map<string, Facts>();
  /** Numbers of routes by the listener that they are attached to. */
  readonly #attached = new Map<string, number>();
  /** Gateways by the Service or Middleware that routes of theirs use, with the number of routes. */
  readonly #gatewaysOf = new Map<string, Map<string, number>>();

  constructor(options: ClusterModelOptions, events: ClusterModelEvents) {
    this.graph = new ControllerGraph(options, resolvers);
    this.#addresses = new Addresses(options.pool);
    this.#events = events;
  }

  /** Takes in a change of an object, as its watch tells it. */
  take(kind: ResourceKindName, key: string, object: KubernetesObject | undefined): void {
    const isChange = this.#put(kind, key, object);
    if (hasStatus.has(kind)) this.#events.onStatus(kind, key);
    if (!isChange) return;
    const cell = cellOf(kind, key);
    if (cell !== undefined) this.graph.incremental.want(cell);
  }

  #put(kind: ResourceKindName, key: string, object: KubernetesObject | undefined): boolean {
    try {
      return this.graph.store.put(kind, key, object);
    } catch (error) {
      this.#events.onUnreadable(kind, key, error);
      return false;
    }
  }

  factsOf(cell: string): Facts | undefined {
    return this.#facts.get(cell);
  }

  attachedRoutes(listenerId: string): number {
    return this.#attached.get(listenerId) ?? 0;
  }

  /** Computes what may be different. Returns false where `isTimeUp` broke it off and something is left. */
  settle(isTimeUp: () => boolean = () => false): boolean {
    const { incremental } = this.graph;
    for (let cells = incremental.takeStale(); cells.length > 0; cells = incremental.takeStale()) {
      for (const [at, cell] of cells.entries()) {
        this.#compute(cell);
        if (!isTimeUp()) continue;
        for (const later of cells.slice(at + 1)) incremental.want(later);
        return false;
      }
    }
    return true;
  }

  /** Gives an address to a Gateway of an own class, and takes it from one that is gone. */
  #assign(key: string): void {
    const gateway = this.graph.store.present('Gateway', key);
    const isOwn = gateway !== undefined && this.graph.isOwnClass(gateway.spec.gatewayClassName);
    const before = this.#addresses.knows(key) ? (this.graph.assigned(key)?.addresses ?? []) : statusAddresses(gateway);
    if (!isOwn) this.#addresses.release(key);
    const assignment = isOwn ? this.#addresses.assign(key, gateway, () => this.#awaited(key)) : undefined;
    this.graph.assign(key, assignment);
    if (gateway !== undefined && before.every((address) => assignment?.addresses.includes(address))) return;
    for (const other of this.#addresses.waiting()) if (other !== key) this.graph.incremental.want(gatewayCell(other));
  }

  /** Addresses that the statuses of Gateways have that this process has not looked at yet. */
  #awaited(key: string): ReadonlySet<string> {
    const addresses = new Set<string>();
    for (const gateway of this.graph.store.all('Gateway')) {
      const other = keyOf(gateway);
      if (other === key || this.#addresses.knows(other) || !this.graph.isOwnClass(gateway.spec.gatewayClassName))
        continue;
      for (const address of statusAddresses(gateway)) addresses.add(address);
    }
    return addresses;
  }

  #compute(cell: string): void {
    const { type, kind, key } = partsOf(cell);
    if (type === 'gateway') this.#assign(key);
    const before = this.#facts.get(cell);
    const after = this.#read(cell, before);
    if (after === undefined) this.#facts.delete(cell);
    else this.#facts.set(cell, after);
    // An object that is gone has no cell; one that is of another controller may become one of this.
    if (after === undefined && this.graph.store.present(kind, key) === undefined) this.graph.incremental.drop(cell);
    this.#events.onStatus(kind, key);
    if (before === after || (before !== undefined && isDeepStrictEqual(before, after))) return;
    const entities =
      after !== undefined && 'entities' in after ? after.entities.map((entity) => this.graph.named(entity)) : [];
    const changed = this.entities.put(cell, entities);
    if (changed.length > 0) this.#events.onEntities(cell, changed);
    if (after === undefined) this.#events.onGone(cell);
    this.#count(isRoute(before) ? before : undefined, isRoute(after) ? after : undefined);
    for (const facts of [before, after]) {
      if (!isGateway(facts)) continue;
      for (const { parent } of facts.sets) this.#events.onStatus('ListenerSet', `${parent.namespace}/${parent.name}`);
    }
  }

  /** Returns the facts of a cell, those that were known where its object cannot be read. */
  #read(cell: string, before: Facts | undefined): Facts | undefined {
    try {
      return this.#evaluate(cell);
    } catch (error) {
      const { kind, key } = partsOf(cell);
      this.#events.onUnreadable(kind, key, error);
      return before;
    }
  }

  #evaluate(cell: string): Facts | undefined {
    const { type, kind, key } = partsOf(cell);
    const [namespace = '', name = ''] = key.split('/');
    if (type === 'gateway') return this.graph.gateway(namespace, name);
    if (type === 'policy') return this.graph.policy(kind as PolicyKind, namespace, name);
    return this.graph.route(kind as RouteKind, namespace, name);
  }

  /** Counts a route at its listeners, and what it uses at its Gateways. */
  #count(before: RouteFacts | undefined, after: RouteFacts | undefined): void {
    for (const [facts, step] of [
      [before, -1],
      [after, 1],
    ] as const) {
      for (const listener of facts?.attached ?? [])
        this.#attached.set(listener, (this.#attached.get(listener) ?? 0) + step);
      const used = [
        ...(facts?.services ?? []).map((key) => `Service:${key}`),
        ...(facts?.middlewares ?? []).map((key) => `Middleware:${key}`),
      ];
      for (const object of used) this.#countGateways(object, facts?.gateways ?? [], step);
    }
    for (const listener of new Set([...(before?.attached ?? []), ...(after?.attached ?? [])])) {
      if (this.#attached.get(listener) === 0) this.#attached.delete(listener);
      const [kind, namespace, name] = listener.split('/');
      this.#events.onStatus(kind as 'Gateway' | 'ListenerSet', `${namespace}/${name}`);
    }
  }

  #countGateways(object: string, gateways: readonly string[], step: number): void {
    const counts = this.#gatewaysOf.get(object) ?? new Map<string, number>();
    const before = [...counts.keys()].sort();
    for (const gateway of gateways) {
      const n = (counts.get(gateway) ?? 0) + step;
      if (n === 0) counts.delete(gateway);
      else counts.set(gateway, n);
    }
    if (counts.size === 0) this.#gatewaysOf.delete(object);
    else this.#gatewaysOf.set(object, counts);
    const after = [...counts.keys()].sort();
    if (!isDeepStrictEqual(before, after))
      this.graph.incremental.set(`gateways-of:${object}`, after.length === 0 ? undefined : after);
  }

  /** Classes of this controller, and whether a Gateway uses them. */
  *ownClasses(): Iterable<{ readonly object: KubernetesObject; readonly isUsed: boolean }> {
    const { store, settings } = this.graph;
    const used = new Set([...store.all('Gateway')].map(({ spec }) => spec.gatewayClassName));
    for (const object of store.all('GatewayClass'))
      if (object.spec.controllerName === settings.controllerName)
        yield { object, isUsed: used.has(object.metadata.name) };
  }

  /** Has the status of the object of a cell written anew. */
  noteStatus(cell: string): void {
    const { kind, key } = partsOf(cell);
    this.#events.onStatus(kind, key);
  }

  /** Keys of all objects whose statuses follow from what proxies have. */
  *followingProxies(): Iterable<readonly ['Gateway' | 'ListenerSet', string]> {
    for (const kind of ['Gateway', 'ListenerSet'] as const)
      for (const object of this.graph.store.all(kind)) yield [kind, keyOf(object)];
  }
}

const hasStatus: ReadonlySet<ResourceKindName> = new Set([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  ...routeKinds,
  ...policyKinds,
]);

function cellOf(kind: ResourceKindName, key: string): string | undefined {
  if (kind === 'Gateway') return gatewayCell(key);
  if (policyKinds.some((each) => each === kind)) return policyCell(kind as PolicyKind, key);
  return routeKinds.some((each) => each === kind) ? routeCell(kind as RouteKind, key) : undefined;
}

export function partsOf(cell: string): {
  readonly type: string;
  readonly kind: ResourceKindName;
  readonly key: string;
} {
  const [type = '', ...rest] = cell.split(':');
  const key = rest.at(-1) ?? '';
  if (type === 'gateway') return { type, kind: 'Gateway', key };
  return { type, kind: rest[0] as RouteKind | PolicyKind, key };
}

const isRoute = (facts: Facts | undefined): facts is RouteFacts => facts !== undefined && 'attached' in facts;
const isGateway = (facts: Facts | undefined): facts is GatewayFacts => facts !== undefined && 'sets' in facts;
