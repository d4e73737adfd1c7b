// Descriptors of the process: the kernel's limit, and the number reserved for the store, raft and the API. The kernel
// assigns the lowest free number, so the number of a new descriptor shows how many are in use.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Returns the reserve: half of a small limit, an eighth of a large one, at most 1,024. */
const reserveOf = (limit: number): number => Math.min(1024, Math.max(Math.ceil(limit / 8), Math.min(128, limit >> 1)));

/** Connections of the API. They share the descriptors with those of clients; a few are reserved. */
interface ApiBounds {
  /** Connections that the API keeps where descriptors are free: at most half of the unreserved ones. */
  readonly connections: number;
  /** Connections that it keeps with any number of free descriptors. */
  readonly assured: number;
}

interface DescriptorBounds {
  /** Client connections of a process whose settings set no limit. */
  readonly connections: number;
  /** Lowest descriptor number that no client gets. */
  readonly clients: number;
  /** Lowest number that no connection to an upstream gets: clients that were admitted are served first. */
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

/** Limit of the process (RLIMIT_NOFILE); where the system reports none, an unreachable one. */
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

/** Returns the number of the socket's descriptor; 0 for a socket without a connection of the system. */
export function descriptorOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof fd === 'number' ? fd : 0;
}
