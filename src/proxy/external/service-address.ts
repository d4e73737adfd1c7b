// Address of an external service: a destination's own host and port, without its endpoints and their protections, with
// its TLS and its connection settings (contract.md §8.0).
import { isIP } from 'node:net';
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import { durationMs } from '../parsed-duration.ts';
import { tlsOf } from '../tls/destination-material.ts';
import { UpstreamSecurity } from '../tls/upstream-security.ts';
import type { OpeningOptions } from '../upstream/connect-attempt.ts';
import { addressOf, type EndpointAddress } from '../upstream/endpoint-address.ts';
import { http2 } from '../upstream/protocol/http2.ts';

/** `http://host:port`, without a path. */
export function originOf(destination: Destination): string {
  const host = destination.host.replace(/^\[(.*)\]$/, '$1');
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  return `${tlsOf(destination) === undefined ? 'http' : 'https'}://${bracketed}:${destination.port}`;
}

/** Milliseconds; 0 = no limit, or no delay. */
export function openingTimes({ options }: Destination): Omit<OpeningOptions, 'security'> {
  const { connect, dualStackFallback, tlsHandshake } = options?.timeouts ?? {};
  const { timeouts } = destinationDefaults;
  return {
    connectMs: durationMs(connect, timeouts.connect),
    dualStackFallbackMs: durationMs(dualStackFallback, timeouts.dualStackFallback),
    tlsHandshakeMs: durationMs(tlsHandshake, timeouts.tlsHandshake),
    proxyProtocol: options?.proxyProtocol,
  };
}

/** Milliseconds; 0 = no limit. */
export const maxAgeOf = ({ options }: Destination): number =>
  durationMs(options?.maxConnectionAge, destinationDefaults.maxConnectionAge);

/** For one connection of HTTP/2. */
export const openingOf = (destination: Destination): { address: EndpointAddress; options: OpeningOptions } => ({
  address: addressOf(destination),
  options: { ...openingTimes(destination), security: UpstreamSecurity.of(destination, http2) },
});
