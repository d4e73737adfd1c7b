// Addresses of listeners as upstreams are compared with them.
import type { Listener } from '../model/listener.ts';

const everyAddress = ['0.0.0.0', '::', '[::]'];

export const isLoopback = (address = '0.0.0.0'): boolean => {
  const bare = address.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127\./.test(bare);
};

/** Returns whether connections to a place come to the listener on this machine, for certain. */
export function isPlaceOf(
  { address = '0.0.0.0', port }: Pick<Listener, 'address' | 'port'>,
  bindAddress: string | undefined,
  place: { readonly host: string; readonly port: number },
): boolean {
  if (port !== place.port) return false;
  const bound = bindAddress ?? address;
  // A wildcard of IPv4 takes no connection to an address of IPv6.
  if (everyAddress.includes(bound)) return isLoopback(place.host) && !(bound === '0.0.0.0' && place.host.includes(':'));
  return bound.toLowerCase() === place.host.toLowerCase() || (isLoopback(bound) && place.host === 'localhost');
}
