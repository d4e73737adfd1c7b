// Endpoint addresses of a destination: the discovered ones if there are any, else the listed ones, else its own host
// and port (contract.md §2.3, §7.12).
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import { hides } from '../../model/hidden.ts';
import { mask } from '../../model/secret-texts.ts';

export interface EndpointAddress {
  /** `host:port`, with brackets around an IPv6 address: its identity everywhere (contract.md §2.3). */
  readonly name: string;
  /** The name as it is shown: a host that came from a secret is `***`, with the number of the endpoint where it is listed. */
  readonly label: string;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly weight: number;
  readonly priority: number;
}

/** Address that discovery has found. */
export interface FoundAddress {
  readonly host: string;
  readonly port: number;
}

const { weight, priority } = destinationDefaults.endpoint;

/** Returns at least one, unless discovery has found none and `whenEmpty` is `none`. */
export function endpointsOf(destination: Destination, discovered: readonly FoundAddress[] = []): EndpointAddress[] {
  const { host, port, endpoints = [], options } = destination;
  if (discovered.length > 0) return discovered.map((found) => addressOf(found));
  if (options?.discovery?.type !== undefined && options.discovery.whenEmpty === 'none') return [];
  if (endpoints.length === 0) return [addressOf({ host, port }, hides(destination, '/host') ? mask : undefined)];
  const isHidden = hides(destination, '/endpoints');
  return endpoints.map((endpoint, at) => {
    const shown = isHidden && hides(destination, `/endpoints/${at}/host`) ? `${mask}-${at + 1}` : undefined;
    return addressOf(endpoint, shown);
  });
}

/** `shown`: in the place of a host that is not to be shown. */
export function addressOf(
  given: FoundAddress & { readonly weight?: number; readonly priority?: number },
  shown?: string,
): EndpointAddress {
  const host = given.host.replace(/^\[(.*)\]$/, '$1');
  const name = `${host.includes(':') ? `[${host}]` : host}:${given.port}`;
  return {
    name,
    label: shown === undefined ? name : `${shown}:${given.port}`,
    host,
    port: given.port,
    weight: given.weight ?? weight,
    priority: given.priority ?? priority,
  };
}
