// Listen addresses as the settings spell them: `[host]:port`, an empty host for all interfaces (contract.md §1.3).
import { isIPv6 } from 'node:net';

export interface Address {
  /** Without brackets; empty: all interfaces. */
  readonly host: string;
  readonly port: number;
}

/** Throws a RangeError for text that is no address. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw new RangeError(`not an address of the form host:port: ${text}`);
  return { host: match[1] ?? match[2] ?? '', port };
}

/** `host:port`, an IPv6 host in brackets. */
export const formatAddress = ({ host, port }: Address): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
