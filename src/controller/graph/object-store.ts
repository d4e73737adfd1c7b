// Objects of the cluster as inputs of the graph: each by its key, and sets of keys by what their objects refer to. A change
// of status alone is no change for the graph.
import { isDeepStrictEqual } from 'node:util';
import type { EndpointSlice } from '../../kubernetes/objects.ts';
import { type KubernetesObject, keyFor } from '../../kubernetes/objects.ts';
import type { BackendTLSPolicy } from '../gateway-api/backend-tls-policy.ts';
import type { Gateway } from '../gateway-api/gateway.ts';
import type { GatewayClass } from '../gateway-api/gateway-class.ts';
import type { GRPCRoute } from '../gateway-api/grpc-route.ts';
import type { HTTPRoute } from '../gateway-api/http-route.ts';
import type { ListenerSet } from '../gateway-api/listener-set.ts';
import type { ReferenceGrant } from '../gateway-api/reference-grant.ts';
import type { TCPRoute } from '../gateway-api/tcp-route.ts';
import type { TLSRoute } from '../gateway-api/tls-route.ts';
import type { ConfigMap, Namespace, Secret, Service } from '../kubernetes-kinds.ts';
import type { MiddlewarePolicy, UpstreamPolicy } from '../policies/policy-kinds.ts';
import type { ResourceKindName } from '../resource-kinds.ts';
import type { Incremental } from './incremental.ts';

export interface ObjectOf {
  GatewayClass: GatewayClass;
  Gateway: Gateway;
  ListenerSet: ListenerSet;
  HTTPRoute: HTTPRoute;
  GRPCRoute: GRPCRoute;
  TLSRoute: TLSRoute;
  TCPRoute: TCPRoute;
  BackendTLSPolicy: BackendTLSPolicy;
  ReferenceGrant: ReferenceGrant;
  Namespace: Namespace;
  Service: Service;
  Secret: Secret;
  ConfigMap: ConfigMap;
  EndpointSlice: EndpointSlice;
  Middleware: MiddlewarePolicy;
  UpstreamPolicy: UpstreamPolicy;
}

const serviceLabel = 'kubernetes.io/service-name';

/** Sets that an object belongs to, by kind. */
const memberships: { readonly [kind in ResourceKindName]?: (object: ObjectOf[kind]) => readonly string[] } = {
  Gateway: ({ spec }) => [`class:${spec.gatewayClassName}`],
  ListenerSet: ({ metadata, spec: { parentRef } }) => [
    `gateway:${keyFor(parentRef.namespace ?? metadata.namespace, parentRef.name)}`,
  ],
  ReferenceGrant: ({ metadata }) => [`namespace:${metadata.namespace}`],
  BackendTLSPolicy: ({ metadata, spec }) =>
    spec.targetRefs.map(({ kind, name }) => `target:${kind}:${keyFor(metadata.namespace, name)}`),
  UpstreamPolicy: ({ metadata, spec }) =>
    spec.targetRefs.map(({ kind = 'Service', name }) => `target:${kind}:${keyFor(metadata.namespace, name)}`),
  EndpointSlice: ({ metadata }) => [`service:${keyFor(metadata.namespace, metadata.labels?.[serviceLabel] ?? '')}`],
};

/** Kinds of which only the objects that others refer to are watched. */
export type ReferencedKind = 'Secret' | 'ConfigMap';

export class ObjectStore {
  /** Called for each read of an object of a referenced kind. */
  onReference: (kind: ReferencedKind, key: string) => void = () => {};
  readonly #graph: Incremental;
  /** By kind, then by key. */
  readonly #objects = new Map<ResourceKindName, Map<string, KubernetesObject>>();
  readonly #sets = new Map<string, ReadonlySet<string>>();

  constructor(graph: Incremental) {
    this.#graph = graph;
  }

  /** Takes in a change and returns whether it is one for the graph. */
  put(kind: ResourceKindName, key: string, object: KubernetesObject | undefined): boolean {
    const id = `${kind}:${key}`;
    const ofKind = this.#objects.get(kind) ?? new Map<string, KubernetesObject>();
    this.#objects.set(kind, ofKind);
    const before = ofKind.get(key);
    if (object === undefined) ofKind.delete(key);
    else ofKind.set(key, object);
    const facts = object && factsOf(kind, object);
    if (before !== undefined && facts !== undefined && isDeepStrictEqual(factsOf(kind, before), facts)) return false;
    this.#index(kind, key, before, object);
    // Without its status, which would be kept as it was at the last change of the rest.
    this.#graph.set(id, facts);
    return true;
  }

  /** Returns an object as it is now, without a dependency on it. */
  present<K extends ResourceKindName>(kind: K, key: string): ObjectOf[K] | undefined {
    return this.#objects.get(kind)?.get(key) as ObjectOf[K] | undefined;
  }

  all<K extends ResourceKindName>(kind: K): Iterable<ObjectOf[K]> {
    return (this.#objects.get(kind)?.values() ?? []) as Iterable<ObjectOf[K]>;
  }

  /** Returns an object, from within a cell, which depends on it from then on. */
  read<K extends ResourceKindName>(kind: K, namespace: string | undefined, name: string): ObjectOf[K] | undefined {
    const key = keyFor(namespace, name);
    if (kind === 'Secret' || kind === 'ConfigMap') this.onReference(kind, key);
    return this.#graph.read(`${kind}:${key}`);
  }

  /** Returns whether something depends on an object. */
  isRead(kind: ResourceKindName, key: string): boolean {
    return this.#graph.isRead(`${kind}:${key}`);
  }

  /** Returns the objects of a set, from within a cell, in the order of their keys. */
  members<K extends ResourceKindName>(kind: K, set: string): ObjectOf[K][] {
    const keys = this.#graph.read<ReadonlySet<string>>(`${kind}@${set}`) ?? new Set();
    const objects = [...keys].sort().map((key) => this.#graph.read<ObjectOf[K]>(`${kind}:${key}`));
    return objects.filter((object) => object !== undefined);
  }

  #index(
    kind: ResourceKindName,
    key: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
  ) {
    const setsOf = memberships[kind] as ((object: KubernetesObject) => readonly string[]) | undefined;
    if (setsOf === undefined) return;
    const was = new Set(before && setsOf(before));
    const is = new Set(after && setsOf(after));
    for (const set of was) if (!is.has(set)) this.#member(`${kind}@${set}`, key, false);
    for (const set of is) if (!was.has(set)) this.#member(`${kind}@${set}`, key, true);
  }

  #member(set: string, key: string, isMember: boolean): void {
    const members = new Set(this.#sets.get(set));
    if (isMember) members.add(key);
    else members.delete(key);
    if (members.size === 0) this.#sets.delete(set);
    else this.#sets.set(set, members);
    this.#graph.set(set, members.size === 0 ? undefined : members);
  }
}

/** Returns what of an object the graph depends on. */
function factsOf(kind: ResourceKindName, object: KubernetesObject): KubernetesObject {
  const { status: _, ...facts } = object as KubernetesObject & { status?: unknown };
  const { resourceVersion: __, ...metadata } = object.metadata;
  // The address that a Service of a Gateway has is a fact; other statuses are results.
  return { ...facts, metadata, ...(kind === 'Service' && { status: (object as { status?: unknown }).status }) };
}
