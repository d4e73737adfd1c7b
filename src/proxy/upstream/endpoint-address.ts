// Where the endpoints of a destination are: the discovered ones if there are any, else the listed ones, else its own
// host and port (contract.md §2.3, §7.12).
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';

export interface EndpointAddress {
  /** `host:port`, with brackets around an IPv6 address: its identity everywhere (contract.md §2.3). */
  readonly name: string;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly weight: number;
  readonly priority: number;
}

/** What discovery says of one. */
export interface FoundAddress {
  readonly host: string;
  readonly port: number;
}

const { weight, priority } = destinationDefaults.endpoint;

/** At least one. */
export function endpointsOf(
  { host, port, endpoints = [] }: Destination,
  discovered: readonly FoundAddress[] = [],
): EndpointAddress[] {
  if (discovered.length > 0) return discovered.map((found) => addressOf(found));
  return endpoints.length > 0 ? endpoints.map(addressOf) : [addressOf({ host, port })];
}

export function addressOf(
  given: FoundAddress & { readonly weight?: number; readonly priority?: number },
): EndpointAddress {
  const host = given.host.replace(/^\[(.*)\]$/, '$1');
  return {
    name: `${host.includes(':') ? `[${host}]` : host}:${given.port}`,
    host,
    port: given.port,
    weight: given.weight ?? weight,
    priority: given.priority ?? priority,
  };
}
