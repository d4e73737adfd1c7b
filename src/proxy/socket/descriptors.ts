// Descriptors of the process: how many the system grants, and how many of them are kept for the store, raft and the API.
// The system gives the lowest number that is free, so the number of a new descriptor says how many are in use.
import { readFileSync } from 'node:fs';

/** Kept back; of a small limit half, of a large one an eighth, at most 1,024. */
const reserveOf = (limit: number): number => Math.min(1024, Math.max(Math.ceil(limit / 8), Math.min(128, limit >> 1)));

interface DescriptorBounds {
  /** Connections of clients that a process takes when its settings say nothing. */
  readonly connections: number;
  /** Lowest number of a descriptor that no client gets. */
  readonly clients: number;
  /** Lowest number that no connection to an upstream gets: what a client was let in for is rather served. */
  readonly upstreams: number;
  /** Connections that the API keeps. */
  readonly api: number;
}

function boundsOf(limit: number): DescriptorBounds {
  const reserve = reserveOf(limit);
  return {
    connections: Math.max(1, limit - reserve),
    clients: limit - (reserve >> 1),
    upstreams: limit - (reserve >> 2),
    api: Math.min(4096, Math.max(16, reserve >> 2)),
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
