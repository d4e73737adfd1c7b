// Endpoints of a Service by its EndpointSlices, where the controller writes them into the destination.
import { keyFor } from '../../kubernetes/objects.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Service, ServicePort } from '../kubernetes-kinds.ts';

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Returns `endpoints` of a destination: those that are ready, in a stable order. */
export function serviceEndpointsOf(
  { store }: ControllerGraph,
  { metadata, spec }: Service,
  port: ServicePort,
): { readonly endpoints: readonly Endpoint[] } | object {
  if (spec?.type === 'ExternalName') return { host: spec.externalName ?? '' };
  const found = new Map<string, Endpoint>();
  for (const slice of store.members('EndpointSlice', `service:${keyFor(metadata.namespace, metadata.name)}`)) {
    const number = slice.ports?.find(({ name }) => (name ?? '') === (port.name ?? ''))?.port;
    if (typeof number !== 'number') continue;
    for (const { addresses, conditions } of slice.endpoints ?? []) {
      if (conditions?.ready === false) continue;
      for (const host of addresses ?? []) found.set(`${host} ${number}`, { host, port: number });
    }
  }
  return { endpoints: [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint) };
}
