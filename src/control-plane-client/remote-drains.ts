// Drained endpoints that a control plane names to this proxy (fleet.md §3). They last until the stream says otherwise, or
// the process ends: a proxy without a control plane keeps what it heard last.
import { type DrainedEndpoint, type Drains, noDrains } from '../model/drained-endpoint.ts';
import { isObject } from '../model/json-object.ts';

export class RemoteDrains {
  readonly #subscribers = new Set<(drains: Drains) => void>();
  #drains = noDrains;
  #clusterId = '';

  subscribe(subscriber: (drains: Drains) => void): () => void {
    this.#subscribers.add(subscriber);
    if (this.#drains.index > 0) subscriber(this.#drains);
    return () => this.#subscribers.delete(subscriber);
  }

  /** A stream of that cluster is open. Drains of another cluster are over. */
  opened(clusterId: string): void {
    const isOther = this.#clusterId !== '' && this.#clusterId !== clusterId;
    this.#clusterId = clusterId;
    if (isOther && this.#drains.index > 0) this.#take(noDrains);
  }

  /** Takes an event; one of a node that lags behind, and one that cannot be read, changes nothing. */
  onEvent(data: string): void {
    const drains = drainsOf(data);
    if (drains !== undefined && drains.index >= this.#drains.index) this.#take(drains);
  }

  #take(drains: Drains): void {
    this.#drains = drains;
    for (const subscriber of [...this.#subscribers]) subscriber(drains);
  }
}

function drainsOf(data: string): Drains | undefined {
  try {
    const read: unknown = JSON.parse(data);
    if (!isObject(read) || typeof read.index !== 'number' || !Array.isArray(read.endpoints)) return undefined;
    return { index: read.index, endpoints: read.endpoints.filter(isDrained) };
  } catch {
    return undefined;
  }
}

const isDrained = (value: unknown): value is DrainedEndpoint =>
  isObject(value) && typeof value.destinationId === 'string' && typeof value.endpoint === 'string';
