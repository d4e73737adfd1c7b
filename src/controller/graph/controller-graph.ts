// The graph of the controller: objects of the cluster in, facts out. Its cells are the Gateways, the routes and what they
// share.
import { isDeepStrictEqual } from 'node:util';
import { keyFor } from '../../kubernetes/objects.ts';
import { entityId, idPrefixOf } from './entity-id.ts';
import type { Entity, GatewayFacts, PolicyFacts, PolicyKind, RouteFacts, RouteKind } from './facts.ts';
import { Incremental } from './incremental.ts';
import { ObjectStore } from './object-store.ts';

export interface GraphSettings {
  /** Owner of the entities in Sluice. */
  readonly owner: string;
  /** Name by which GatewayClasses choose this controller. */
  readonly controllerName: string;
  /** Endpoints of Services: found by the proxies, or written by the controller. */
  readonly endpoints: 'proxy' | 'controller';
  /** Domain of the cluster's names. */
  readonly clusterDomain: string;
  /** Service by which clients reach the proxies, in the place of a pool of addresses. */
  readonly service?: { readonly namespace: string; readonly name: string } | undefined;
}

/** Computations of the cells: what an object means, by its name. */
export interface Resolvers {
  gateway(graph: ControllerGraph, namespace: string, name: string): GatewayFacts | undefined;
  route(graph: ControllerGraph, kind: RouteKind, namespace: string, name: string): RouteFacts | undefined;
  policy(graph: ControllerGraph, kind: PolicyKind, namespace: string, name: string): PolicyFacts | undefined;
}

export interface Assignment {
  readonly addresses: readonly string[];
  /** First address that the Gateway asks for and cannot have. */
  readonly unusable?: string;
}

export class ControllerGraph {
  readonly settings: GraphSettings;
  /** Parts that ids of entities begin with. */
  readonly idPrefix: readonly string[];
  readonly incremental = new Incremental();
  readonly store = new ObjectStore(this.incremental);

  readonly #resolvers: Resolvers;
  readonly #assignments = new Map<string, Assignment>();

  constructor(settings: GraphSettings, resolvers: Resolvers) {
    this.settings = settings;
    this.idPrefix = idPrefixOf(settings.owner);
    this.#resolvers = resolvers;
  }

  /** Returns the id of an entity of Sluice. */
  entityId(...parts: readonly (string | number)[]): string {
    return entityId(...this.idPrefix, ...parts);
  }

  /** Returns an entity with a name that no other owner's has: names are unique in Sluice. */
  named(entity: Entity): Entity {
    if (this.idPrefix.length === 0) return entity;
    const { kind, body } = entity;
    return { kind, body: { ...body, name: `${body.name} (${this.idPrefix})` } };
  }

  /**
   * Notes the text of an entity that Sluice refuses and has no earlier version of; undefined: there is none any more.
   * @param key kind and id of the entity
   */
  refuse(key: string, text: string | undefined): void {
    this.incremental.set(`refused:${key}`, text);
  }

  /** Returns whether Sluice refuses an entity of this text, from within a cell. */
  isRefused(key: string, text: string): boolean {
    return this.incremental.read(`refused:${key}`) === text;
  }

  isOwnClass(name: string): boolean {
    return this.incremental.cell(
      `class:${name}`,
      () => this.store.read('GatewayClass', undefined, name)?.spec.controllerName === this.settings.controllerName,
    );
  }

  assignment(key: string): Assignment | undefined {
    return this.incremental.read(`assignment:${key}`);
  }

  /** Returns the assignment as it is now, without a dependency on it. */
  assigned(key: string): Assignment | undefined {
    return this.#assignments.get(key);
  }

  assign(key: string, assignment: Assignment | undefined): void {
    if (isDeepStrictEqual(this.#assignments.get(key), assignment)) return;
    if (assignment === undefined) this.#assignments.delete(key);
    else this.#assignments.set(key, assignment);
    this.incremental.set(`assignment:${key}`, assignment);
  }

  /** Keys of the Gateways from which routes lead to a Service, or whose routes have a Middleware. */
  gatewaysOf(kind: 'Service' | 'Middleware', key: string): readonly string[] {
    return this.incremental.read(`gateways-of:${kind}:${key}`) ?? [];
  }

  policy(kind: PolicyKind, namespace: string, name: string): PolicyFacts | undefined {
    return this.incremental.cell(policyCell(kind, keyFor(namespace, name)), () =>
      this.#resolvers.policy(this, kind, namespace, name),
    );
  }

  gateway(namespace: string, name: string): GatewayFacts | undefined {
    return this.incremental.cell(gatewayCell(keyFor(namespace, name)), () =>
      this.#resolvers.gateway(this, namespace, name),
    );
  }

  route(kind: RouteKind, namespace: string, name: string): RouteFacts | undefined {
    return this.incremental.cell(routeCell(kind, keyFor(namespace, name)), () =>
      this.#resolvers.route(this, kind, namespace, name),
    );
  }
}

export const gatewayCell = (key: string): string => `gateway:${key}`;
export const routeCell = (kind: RouteKind, key: string): string => `route:${kind}:${key}`;
export const policyCell = (kind: PolicyKind, key: string): string => `policy:${kind}:${key}`;
