// Host names of listeners and routes, and what they have in common. A wildcard stands for one or more labels.

/** Returns whether an exact name or a wildcard is covered by a pattern. */
function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.startsWith('*.') && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
}

/**
 * Returns the host names of a route that a listener takes: those of the route narrowed to the listener's. Undefined: they
 * have nothing in common. Empty: any host.
 */
export function commonHostnames(
  listener: string | undefined,
  route: readonly string[] | undefined,
): readonly string[] | undefined {
  if (route === undefined || route.length === 0) return listener === undefined ? [] : [listener];
  if (listener === undefined) return route;
  const common = new Set<string>();
  for (const name of route) {
    if (covers(listener, name)) common.add(name);
    else if (covers(name, listener)) common.add(listener);
  }
  return common.size === 0 ? undefined : [...common];
}

/** Specificity of a host name: 127 for an exact one, the number of its labels for a wildcard, 0 for any host. */
export function hostRank(hostname: string | undefined): number {
  if (hostname === undefined || hostname === '*') return 0;
  return hostname.startsWith('*.') ? Math.min(126, hostname.split('.').length - 1) : 127;
}
