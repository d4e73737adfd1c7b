// Endpoints of a Service by its EndpointSlices (contract.md §7.12). Pure.
import type { EndpointSlice, KubernetesObject } from '../../../kubernetes/objects.ts';

export interface DiscoveredEndpoint {
  readonly host: string;
  readonly port: number;
}

interface Service extends KubernetesObject {
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number }[] | null;
  };
}

export const serviceLabel = 'kubernetes.io/service-name';

/** Returns the endpoints in a stable order; empty when nothing is known or no endpoint is ready. */
export function serviceEndpoints(
  service: KubernetesObject | undefined,
  slices: readonly KubernetesObject[],
  destinationPort: number,
): DiscoveredEndpoint[] {
  const { spec } = (service ?? {}) as Partial<Service>;
  if (spec?.type === 'ExternalName') {
    return spec.externalName ? [{ host: spec.externalName.replace(/\.$/, ''), port: destinationPort }] : [];
  }
  const servicePort = spec?.ports?.find(({ port }) => port === destinationPort);
  const found = new Map<string, DiscoveredEndpoint>();
  for (const slice of slices as readonly EndpointSlice[]) {
    const port = slicePort(slice, servicePort, destinationPort);
    for (const { addresses, conditions } of slice.endpoints ?? []) {
      if (conditions?.ready === false) continue;
      for (const host of addresses ?? []) found.set(`${host} ${port}`, { host, port });
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/** The slice's port of the service port's name, else its first with a number, else the destination's. */
function slicePort({ ports }: EndpointSlice, servicePort: { readonly name?: string } | undefined, otherwise: number) {
  const numbered = (ports ?? []).filter(({ port }) => typeof port === 'number');
  const named = servicePort && numbered.find(({ name }) => (name ?? '') === (servicePort.name ?? ''));
  return named?.port ?? numbered[0]?.port ?? otherwise;
}
