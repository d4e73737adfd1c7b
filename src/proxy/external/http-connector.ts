// How HTTP connections to a destination's own address are made: with its TLS, under the name that its settings say.
import type { buildConnector } from 'undici';
import type { Destination } from '../../model/destination.ts';
import { undici } from '../on-demand.ts';
import { connectMsOf, tlsOptionsOf } from './service-address.ts';

/** `allowH2`: HTTP/2 is offered too, and preferred. */
export function connectorOf(destination: Destination, allowH2: boolean): buildConnector.connector {
  const tls = tlsOptionsOf(destination);
  const connect = undici().buildConnector({ timeout: connectMsOf(destination), allowH2, preferH2: allowH2, ...tls });
  const { servername } = tls;
  // What undici would ask for by itself is the host of the URL.
  return servername === undefined ? connect : (options, callback) => connect({ ...options, servername }, callback);
}
