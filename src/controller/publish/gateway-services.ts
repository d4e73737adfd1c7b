// Service of each Gateway, so that programs in the cluster reach it by a name, with the labels and annotations that the
// Gateway asks for. It selects no pods: an EndpointSlice of its own has the address of the Gateway.
import { createHash } from 'node:crypto';
import type { KubernetesApi } from '../../kubernetes/kubernetes-api.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Gateway } from '../gateway-api/gateway.ts';
import { canonicalText } from '../graph/canonical-text.ts';
import { allListeners, type GatewayFacts } from '../graph/facts.ts';
import { anyAddress } from './gateway-addresses.ts';

export interface GatewayServicesTools {
  readonly api: Pick<KubernetesApi, 'apply'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fieldManager: string;
  readonly gatewayOf: (key: string) => { readonly object: Gateway; readonly facts: GatewayFacts } | undefined;
}

const nameMax = 63;
const retryMs = 5_000;

/** Name of the Service of a Gateway: that of the Gateway and a suffix, shortened by a hash where it is too long. */
function gatewayServiceName(gateway: string): string {
  const name = `${gateway.replaceAll('.', '-')}-sluice`;
  if (name.length <= nameMax && !gateway.includes('.') && /^[a-z]/.test(name)) return name;
  const hash = createHash('sha256').update(gateway).digest('hex').slice(0, 10);
  return `gateway-${name.slice(0, nameMax - 26)}-${hash}`.replace(/-+/g, '-');
}

export class GatewayServices {
  readonly #tools: GatewayServicesTools;
  /** Text of what was applied last, by the key of the Gateway. */
  readonly #applied = new Map<string, string>();
  readonly #pending = new Set<string>();
  #isRunning = false;
  #isActive = false;
  #retry: Cancel | undefined;

  constructor(tools: GatewayServicesTools) {
    this.#tools = tools;
  }

  start(): void {
    this.#isActive = true;
    void this.#run();
  }

  stop(): void {
    this.#isActive = false;
    this.#applied.clear();
    this.#retry?.();
    this.#retry = undefined;
  }

  note(key: string): void {
    this.#pending.add(key);
  }

  /** Notes that the Service of a Gateway is not there any more. */
  lost(key: string): void {
    this.#applied.delete(key);
    this.note(key);
  }

  async #run(): Promise<void> {
    if (this.#isRunning || this.#retry !== undefined) return;
    this.#isRunning = true;
    try {
      for (const key of this.#pending) {
        if (!this.#isActive) return;
        await this.#apply(key);
        this.#pending.delete(key);
      }
    } catch (error) {
      this.#tools.logger.warn(
        { reason: reasonOf(error) },
        'the Service of a Gateway cannot be written: it is tried again',
      );
      this.#retry = this.#tools.clock.after(retryMs, () => {
        this.#retry = undefined;
        void this.#run();
      });
    } finally {
      this.#isRunning = false;
    }
  }

  async #apply(key: string): Promise<void> {
    const gateway = this.#tools.gatewayOf(key);
    // The owner reference has the Service collected with its Gateway.
    const isLeaving = gateway?.object.metadata.deletionTimestamp !== undefined;
    if (gateway === undefined || isLeaving || !gateway.facts.addresses.some((address) => address !== anyAddress))
      return void this.#applied.delete(key);
    const objects = this.#objectsOf(gateway.object, gateway.facts);
    const text = canonicalText(objects);
    if (this.#applied.get(key) === text) return;
    const namespace = encodeURIComponent(gateway.facts.namespace);
    const options = { fieldManager: this.#tools.fieldManager, force: true };
    const { service, slice } = objects;
    await this.#tools.api.apply(`/api/v1/namespaces/${namespace}/services/${service.metadata.name}`, service, options);
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${slice.metadata.name}`;
    await this.#tools.api.apply(path, slice, options);
    this.#applied.set(key, text);
  }

  #objectsOf({ metadata, spec }: Gateway, facts: GatewayFacts) {
    const name = gatewayServiceName(metadata.name);
    const labels = {
      ...spec.infrastructure?.labels,
      'app.kubernetes.io/managed-by': 'sluice-controller',
      'gateway.networking.k8s.io/gateway-name': metadata.name.slice(0, nameMax),
      'gateway.networking.k8s.io/gateway-class-name': spec.gatewayClassName.slice(0, nameMax),
    };
    const annotations = { ...spec.infrastructure?.annotations };
    const owner = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      name: metadata.name,
      uid: metadata.uid ?? '',
    };
    const about = { namespace: facts.namespace, annotations, ownerReferences: [owner] };
    const ports = [...new Set(allListeners(facts).map(({ port }) => port))].sort((a, b) => a - b);
    const named = ports.map((port) => ({ name: `port-${port}`, port, protocol: 'TCP' }));
    return {
      service: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, labels, ...about },
        spec: { type: 'ClusterIP', ports: named.map((each) => ({ ...each, targetPort: each.port })) },
      },
      slice: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, labels: { ...labels, 'kubernetes.io/service-name': name }, ...about },
        addressType: 'IPv4',
        endpoints: facts.addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
        ports: named,
      },
    };
  }
}
