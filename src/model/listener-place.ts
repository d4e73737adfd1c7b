// Places that two listeners cannot have both (architecture.md §9): the same port on addresses of which one takes in the
// other. Sockets that share ports would both open, and the system would give each its share of the connections.
import { isIPv6 } from 'node:net';

export interface ListenerPlace {
  /** Default: every IPv4 address. */
  readonly address?: string | undefined;
  readonly port: number;
}

/** A place where the process itself listens; no listener opens there. */
export interface OwnPlace extends ListenerPlace {
  /** Part of the process and its setting: `the API (controlPlane.address)`. */
  readonly owner: string;
}

/** Returns the own place that `place` overlaps. */
export const ownPlaceAt = (own: readonly OwnPlace[], place: ListenerPlace): OwnPlace | undefined =>
  own.find((each) => overlap(each, place));

const anyIpv4 = '0.0.0.0';

export const overlap = (a: ListenerPlace, b: ListenerPlace): boolean =>
  a.port === b.port && takeInEachOther(hostOf(a), hostOf(b));

/** `::` takes IPv4 too unless the system says otherwise; names are compared as they stand. */
function takeInEachOther(a: string, b: string): boolean {
  if (a === b || a === '::' || b === '::') return true;
  if (a === anyIpv4) return !isIPv6(b);
  return b === anyIpv4 && !isIPv6(a);
}

function hostOf({ address }: ListenerPlace): string {
  if (address === undefined || address === '') return anyIpv4;
  const bare = address.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === 'localhost') return '127.0.0.1';
  return isIPv6(bare) ? canonicalIpv6(bare) : (URL.parse(`http://${bare}`)?.hostname ?? bare);
}

/** IPv4 in the form of IPv6 (RFC 4291 §2.5.5.2) is IPv4. */
function canonicalIpv6(bare: string): string {
  const text = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return text;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

/** A place with the TLS of its listener. */
export interface SharingPlace extends ListenerPlace {
  readonly tls?: { readonly mode?: string } | undefined;
}

/**
 * Returns whether two listeners cannot both be open. One that passes TLS through and one that ends it share an address
 * and port: the server name tells their connections apart.
 */
export function collide(a: SharingPlace, b: SharingPlace): boolean {
  if (!overlap(a, b)) return false;
  const share = a.tls !== undefined && b.tls !== undefined && passesThrough(a) !== passesThrough(b);
  return !(share && hostOf(a) === hostOf(b));
}

/** Returns whether the listener sends bytes of TLS on as they came. */
export const passesThrough = ({ tls }: Pick<SharingPlace, 'tls'>): boolean => tls?.mode === 'passthrough';
