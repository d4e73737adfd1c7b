// Places that two listeners cannot have both (architecture.md §9): the same port on addresses of which one takes in the
// other. Sockets that share ports would both open, and the system would give each its share of the connections.
import { isIPv4, isIPv6 } from 'node:net';

export interface ListenerPlace {
  /** Default: every IPv4 address. */
  readonly address?: string | undefined;
  readonly port: number;
}

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
  return isIPv4(bare) || !isIPv6(bare) ? bare : new URL(`http://[${bare}]`).hostname.slice(1, -1);
}
