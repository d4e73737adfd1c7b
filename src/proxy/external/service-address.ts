// Where an external service is: a destination's own host and port, past its endpoints and everything that guards them,
// with its TLS and its connection settings (contract.md §8.0).
import { isIP } from 'node:net';
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import { durationMs } from '../duration.ts';
import { UpstreamSecurity } from '../tls/upstream-security.ts';
import { type VersionOptions, versionOptions } from '../tls/versions.ts';
import type { OpeningOptions } from '../upstream/connect-attempt.ts';
import { addressOf, type EndpointAddress } from '../upstream/endpoint-address.ts';

export const isSecure = ({ options }: Destination): boolean =>
  (options?.tls?.mode ?? destinationDefaults.tls.mode) !== 'none';

/** `http://host:port`, without a path. */
export function originOf(destination: Destination): string {
  const host = destination.host.replace(/^\[(.*)\]$/, '$1');
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  return `${isSecure(destination) ? 'https' : 'http'}://${bracketed}:${destination.port}`;
}

export const connectMsOf = ({ options }: Destination): number =>
  durationMs(options?.timeouts?.connect, destinationDefaults.timeouts.connect);

/** For one connection of HTTP/2. */
export function openingOf(destination: Destination): { address: EndpointAddress; options: OpeningOptions } {
  const { connect, dualStackFallback, tlsHandshake } = destination.options?.timeouts ?? {};
  const { timeouts } = destinationDefaults;
  return {
    address: addressOf(destination),
    options: {
      connectMs: durationMs(connect, timeouts.connect),
      dualStackFallbackMs: durationMs(dualStackFallback, timeouts.dualStackFallback),
      security: UpstreamSecurity.of(destination, 'h2'),
      tlsHandshakeMs: durationMs(tlsHandshake, timeouts.tlsHandshake),
    },
  };
}

export interface TlsOptions extends Partial<VersionOptions> {
  readonly servername?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** For `tls.connect` and everything made on it; empty where the service is asked in plain text. */
export function tlsOptionsOf(destination: Destination): TlsOptions {
  const tls = destination.options?.tls;
  if (!isSecure(destination) || tls === undefined) return {};
  const name = (tls.sni ?? destination.host).replace(/^\[(.*)\]$/, '$1');
  return {
    ...(tls.mode === 'mtls' ? { cert: tls.cert ?? '', key: tls.key ?? '' } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...versionOptions(tls),
  };
}
