// Ends of a client's connection, as a head of the PROXY protocol tells them to an upstream. One object per connection of
// a client: connections to upstreams that have such a head serve the client of one of them alone.
import { type ProxiedPlaces, type ProxiedTls, proxyHeader } from '../socket/proxy-header.ts';
import type { Security } from '../socket/security.ts';

export interface ClientEnds {
  /** Undefined once the connection is closed. */
  readonly places: ProxiedPlaces | undefined;
  /** Undefined: neither TLS nor a server name is known. */
  readonly proxiedTls: ProxiedTls | undefined;
  /** Calls `act` when the connection is closed. */
  onceClosed(act: () => void): void;
}

/** Returns the head for a connection of that client; of Sluice itself where there is none. */
export const headFor = (version: 'v1' | 'v2', client: ClientEnds | undefined): Buffer =>
  proxyHeader(version, client?.places, client?.proxiedTls);

/** Returns what TLVs say of TLS that was ended here. */
export function proxiedTlsOf({ serverName, protocol, version, client }: Security): ProxiedTls {
  return { serverName, protocol, version, commonName: client && commonNameIn(client.facts.peerCertificate.subject) };
}

/** Returns the first common name of a subject in the form of RFC 2253; empty: it has none. */
function commonNameIn(subject: string): string {
  const [, name = ''] = /(?:^|[,+])CN=((?:\\.|[^,+\\])*)/.exec(subject) ?? [];
  return name.replaceAll(/\\(.)/g, '$1');
}
