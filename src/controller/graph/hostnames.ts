// Host names of listeners and routes, and what they have in common. A wildcard stands for one or more labels.

/** Returns whether an exact name or a wildcard is covered by a pattern. */
function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.startsWith('*.') && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
}

export interface CommonHostname {
  readonly name: string;
  /** Specificity of the name that the route has: see `hostRank`. */
  readonly rank: number;
}

/**
 * Returns the host names of a route that a listener takes: those of the route narrowed to the listener's. Undefined: they
 * have nothing in common. Empty: any host.
 */
export function commonHostnames(
  listener: string | undefined,
  route: readonly string[] | undefined,
): readonly CommonHostname[] | undefined {
  if (route === undefined || route.length === 0) return listener === undefined ? [] : [{ name: listener, rank: 0 }];
  const ranks = new Map<string, number>();
  for (const own of route) {
    const name = listener === undefined || covers(listener, own) ? own : covers(own, listener) ? listener : undefined;
    if (name !== undefined) ranks.set(name, Math.max(ranks.get(name) ?? 0, hostRank(own)));
  }
  return ranks.size === 0 ? undefined : [...ranks].map(([name, rank]) => ({ name, rank }));
}

/** Specificity of an exact host name. */
export const hostRankMax = 127;

/** Specificity of a host name: 127 for an exact one, the number of its labels for a wildcard, 0 for any host. */
export function hostRank(hostname: string | undefined): number {
  if (hostname === undefined || hostname === '*') return 0;
  return hostname.startsWith('*.') ? Math.min(hostRankMax - 1, hostname.split('.').length - 1) : hostRankMax;
}
