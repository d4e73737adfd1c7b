// Descriptors of the process: how many the system grants, and how many of them are kept for the store, raft and the API.
// The system gives the lowest number that is free, so the number of a new descriptor says how many are in use.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Kept back; of a small limit half, of a large one an eighth, at most 1,024. */
const reserveOf = (limit: number): number => Math.min(1024, Math.max(Math.ceil(limit / 8), Math.min(128, limit >> 1)));

/** Connections of the API share the descriptors with those of clients; a few are its own. */
interface ApiBounds {
  /** Connections that the API keeps where descriptors are free: at most half of what is not reserved. */
  readonly connections: number;
  /** Connections that it keeps however few descriptors are free. */
  readonly assured: number;
}

interface DescriptorBounds {
  /** Connections of clients that a process takes when its settings say nothing. */
  readonly connections: number;
  /** Lowest number of a descriptor that no client gets. */
  readonly clients: number;
  /** Lowest number that no connection to an upstream gets: what a client was let in for is rather served. */
  readonly upstreams: number;
  readonly api: ApiBounds;
}

export function boundsOf(limit: number): DescriptorBounds {
  const reserve = reserveOf(limit);
  return {
    connections: Math.max(1, limit - reserve),
    clients: limit - (reserve >> 1),
    upstreams: limit - (reserve >> 2),
    api: {
      connections: Math.min(4096, Math.max(16, (limit - reserve) >> 1)),
      assured: Math.min(4096, Math.max(16, reserve >> 2)),
    },
  };
}

/** Limit of the process (RLIMIT_NOFILE); where the system does not say, one that is never met. */
function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? unknownLimit : Number(soft);
  } catch {
    return unknownLimit;
  }
}

const unknownLimit = 0x3fff_ffff;

export const descriptorBounds: DescriptorBounds = boundsOf(Math.min(unknownLimit, descriptorLimit()));

/** Number of the socket's descriptor; 0 for a socket without a connection of the system. */
export function descriptorOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof fd === 'number' ? fd : 0;
}
