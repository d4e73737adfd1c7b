// Discovery of the pods behind destinations with `discovery.type: kubernetes` (contract.md §7.12). One per process, in
// main; one pair of watches per namespace, for any number of destinations.

import type { ClusterAccess } from '../../../kubernetes/cluster-access.ts';
import { KubernetesApi } from '../../../kubernetes/kubernetes-api.ts';
import { type KubernetesObject, keyFor } from '../../../kubernetes/objects.ts';
import { Reflector, type ReflectorTools } from '../../../kubernetes/reflector.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../../util/clock.ts';
import { type DiscoveredEndpoint, serviceEndpoints, serviceLabel } from './service-endpoints.ts';

export interface DiscoveredDestination {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

export interface DiscoveryTools {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** Undefined when there is no cluster. */
  readonly findCluster: () => Promise<ClusterAccess | undefined>;
  /** Receives the endpoints of a destination from now on; empty: the configured ones. Called only for changes. */
  readonly onEndpoints: (destination: DiscoveredDestination, endpoints: readonly DiscoveredEndpoint[]) => void;
}

/** Changes are gathered for so long. */
const gatherMs = 100;

interface Followed extends DiscoveredDestination {
  readonly service: string;
  readonly namespace: string;
}

interface Namespace {
  readonly services: Reflector;
  readonly slices: Reflector;
  /** True once its lists have been reported. */
  isReported: boolean;
}

export class KubernetesDiscovery {
  readonly #tools: DiscoveryTools;
  readonly #namespaces = new Map<string, Namespace>();
  /** Endpoints reported last, as text, by destination and the service that it named then. */
  readonly #reported = new Map<string, string>();
  #followed: readonly Followed[] = [];
  #api: Promise<KubernetesApi | undefined> | undefined;
  #gathering: Cancel | undefined;
  #closed = false;

  constructor(tools: DiscoveryTools) {
    this.#tools = tools;
  }

  /** From now on these and no others. */
  follow(destinations: readonly DiscoveredDestination[]): void {
    this.#followed = destinations.flatMap((destination) => this.#located(destination));
    const followed = new Set(this.#followed.map(identity));
    for (const each of this.#reported.keys()) if (!followed.has(each)) this.#reported.delete(each);
    if (this.#followed.length > 0 || this.#namespaces.size > 0) void this.#watchNamespaces();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#gathering?.();
    for (const { services, slices } of this.#namespaces.values()) {
      services.close();
      slices.close();
    }
    await (await this.#api)?.close();
  }

  #located(destination: DiscoveredDestination): Followed[] {
    const [service = '', namespace = ''] = destination.host.split('.');
    if (service !== '' && namespace !== '') return [{ ...destination, service, namespace }];
    this.#tools.logger.warn(
      { destination: destination.id, host: destination.host },
      'discovery needs a host of service and namespace: the configured address is used',
    );
    return [];
  }

  async #watchNamespaces(): Promise<void> {
    this.#api ??= this.#connect();
    const api = await this.#api;
    // The next activation looks again: a service account or a kubeconfig may have come since.
    if (api === undefined) this.#api = undefined;
    if (api === undefined || this.#closed) return;
    const wanted = new Set(this.#followed.map(({ namespace }) => namespace));
    for (const [name, { services, slices }] of this.#namespaces) {
      if (wanted.has(name)) continue;
      services.close();
      slices.close();
      this.#namespaces.delete(name);
    }
    for (const name of wanted) {
      if (this.#namespaces.has(name)) continue;
      const tools: ReflectorTools = { ...this.#tools, api };
      const at = encodeURIComponent(name);
      const reflect = (path: string): Reflector => new Reflector(path, tools, { onRound: () => this.#onRound(name) });
      this.#namespaces.set(name, {
        services: reflect(`/api/v1/namespaces/${at}/services`),
        slices: reflect(`/apis/discovery.k8s.io/v1/namespaces/${at}/endpointslices`),
        isReported: false,
      });
    }
    // Requests for a new destination wait for nothing: what is known is reported at once.
    this.#report();
  }

  /** Reports what the first lists of a namespace say at once, and later changes together. */
  #onRound(name: string): void {
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined || namespace.isReported) {
      this.#gather();
    } else if (namespace.services.known && namespace.slices.known) {
      namespace.isReported = true;
      this.#report();
    }
  }

  async #connect(): Promise<KubernetesApi | undefined> {
    const { findCluster, logger } = this.#tools;
    try {
      const access = await findCluster();
      if (access === undefined) logger.debug({}, 'there is no Kubernetes: configured addresses are used');
      return access && new KubernetesApi(access);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ reason }, 'Kubernetes cannot be used: configured addresses are used');
      return undefined;
    }
  }

  #gather(): void {
    this.#gathering ??= this.#tools.clock.after(gatherMs, () => {
      this.#gathering = undefined;
      this.#report();
    });
  }

  #report(): void {
    const slicesOf = new Map<string, Map<string, KubernetesObject[]>>();
    for (const destination of this.#followed) {
      const { id, service, namespace, host, port } = destination;
      const known = this.#namespaces.get(namespace);
      if (known === undefined || !known.services.known || !known.slices.known) continue;
      const byService = slicesOf.get(namespace) ?? grouped(known.slices.objects.values());
      slicesOf.set(namespace, byService);
      const endpoints = serviceEndpoints(
        known.services.objects.get(keyFor(namespace, service)),
        byService.get(service) ?? [],
        port,
      );
      const text = JSON.stringify(endpoints);
      const one = identity(destination);
      if ((this.#reported.get(one) ?? '[]') === text) continue;
      this.#reported.set(one, text);
      this.#tools.onEndpoints({ id, host, port }, endpoints);
    }
  }
}

const identity = ({ id, host, port }: DiscoveredDestination): string => JSON.stringify([id, host, port]);

function grouped(slices: Iterable<KubernetesObject>): Map<string, KubernetesObject[]> {
  const groups = new Map<string, KubernetesObject[]>();
  for (const slice of slices) {
    const service = slice.metadata.labels?.[serviceLabel];
    if (service === undefined) continue;
    const group = groups.get(service);
    if (group === undefined) groups.set(service, [slice]);
    else group.push(slice);
  }
  return groups;
}
