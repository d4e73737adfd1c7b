// Listeners of one snapshot that ask for the same address and port: the first by id opens, the others are named
// (architecture.md §9).
import { isIPv4, isIPv6 } from 'node:net';
import { type Problem, pointerOf } from '../model/problem.ts';

interface Bound {
  readonly id: string;
  readonly address?: string | undefined;
  readonly port: number;
}

const anyIpv4 = '0.0.0.0';

/** @param listeners ascending by id */
export function overlappingListeners(listeners: readonly Bound[]): Problem[] {
  const openByPort = new Map<number, Bound[]>();
  const problems: Problem[] = [];
  for (const listener of listeners) {
    const open = openByPort.get(listener.port) ?? [];
    const first = open.find((other) => overlap(hostOf(other), hostOf(listener)));
    if (first === undefined) openByPort.set(listener.port, [...open, listener]);
    else {
      const message = `is taken by listener "${first.id}" on the same address; this listener will not open`;
      problems.push({ pointer: pointerOf('listeners', listener.id, 'port'), message });
    }
  }
  return problems;
}

/** `::` takes IPv4 too unless the system says otherwise; names are compared as they stand. */
function overlap(a: string, b: string): boolean {
  if (a === b || a === '::' || b === '::') return true;
  if (a === anyIpv4) return !isIPv6(b);
  return b === anyIpv4 && !isIPv6(a);
}

function hostOf({ address }: Bound): string {
  if (address === undefined || address === '') return anyIpv4;
  const bare = address.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === 'localhost') return '127.0.0.1';
  return isIPv4(bare) || !isIPv6(bare) ? bare : new URL(`http://[${bare}]`).hostname.slice(1, -1);
}
