// The graph of the controller: objects of the cluster in, facts out. Its cells are the Gateways, the routes and what they
// share.
import { keyFor } from '../../kubernetes/objects.ts';
import type { GatewayFacts, PolicyFacts, PolicyKind, RouteFacts, RouteKind } from './facts.ts';
import { Incremental } from './incremental.ts';
import { ObjectStore } from './object-store.ts';

export interface GraphSettings {
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
  readonly incremental = new Incremental();
  readonly store = new ObjectStore(this.incremental);

  readonly #resolvers: Resolvers;
  readonly #assignments = new Map<string, string>();

  constructor(settings: GraphSettings, resolvers: Resolvers) {
    this.settings = settings;
    this.#resolvers = resolvers;
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

  assign(key: string, assignment: Assignment | undefined): void {
    const text = assignment && JSON.stringify(assignment);
    if (this.#assignments.get(key) === text) return;
    if (text === undefined) this.#assignments.delete(key);
    else this.#assignments.set(key, text);
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
