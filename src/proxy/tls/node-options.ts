// A destination's TLS for the connections that Node makes: to services that are asked over HTTP, to key sets, in probes.
// The material, the name and the judgement are those of the connections that requests go over.
import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { Destination } from '../../model/destination.ts';
import { contextOf, isFor, sentName, tlsOf, verifiedName } from './destination-material.ts';

/**
 * For `tls.connect`; undefined where bytes travel as they are. Reading `secureContext`, as copying the whole does, throws
 * MaterialProblem for text that cannot be used: Node would pass over an empty `ca`, or an empty certificate of our own.
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
