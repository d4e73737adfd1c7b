// TLS options of a destination for the connections that Node makes: to services that are called over HTTP, to key
// sets, in probes. Material, name and verification are those of the connections that carry requests.
import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { Destination } from '../../model/destination.ts';
import { contextOf, isFor, sentName, tlsOf, verifiedName } from './destination-material.ts';

/**
 * Returns options for `tls.connect`; undefined for a destination without TLS. Reading `secureContext`, as copying the
 * whole does, throws MaterialProblem for unusable text: Node would ignore an empty `ca`, or an empty certificate of
 * our own.
 */
export function nodeOptions(destination: Destination): ConnectionOptions | undefined {
  const tls = tlsOf(destination);
  if (tls === undefined) return undefined;
  const name = verifiedName(destination, tls);
  const servername = sentName(name);
  return {
    get secureContext() {
      return contextOf(tls);
    },
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(servername !== undefined && { servername }),
    rejectUnauthorized: true,
    checkServerIdentity: (_, { raw }) =>
      isFor(new X509Certificate(raw), name) ? undefined : new Error(`its certificate is not for ${name}`),
  };
}
