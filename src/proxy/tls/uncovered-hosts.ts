// Uncovered hosts: hosts that routes match and that no certificate of any listener is for. A client that requests one
// over TLS gets a certificate of another name.
import { listenerIn } from '../../model/listener-binding.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { covers } from './certificate.ts';
import type { ListenerMaterial } from './listener-material.ts';

interface Usable {
  readonly id: string;
  readonly material: ListenerMaterial;
}

const shownMax = 3;

/** Returns one warning for each listener with TLS, all of which could serve them. */
export function uncoveredHosts({ routes, groups }: Configuration, listeners: readonly Usable[]): Problem[] {
  if (listeners.length === 0) return [];
  const hosts = new Set<string>();
  const ids = new Set(listeners.map(({ id }) => id));
  const isServed = (bindings: readonly string[] = []): boolean =>
    bindings.length === 0 || bindings.some((binding) => ids.has(listenerIn(binding)));
  for (const { disabled, match, listenerIds } of routes)
    if (disabled !== true && isServed(listenerIds))
      for (const host of match?.hostnames ?? []) hosts.add(host.toLowerCase());
  for (const { hostnames, listenerIds } of groups)
    if (isServed(listenerIds)) for (const host of hostnames ?? []) hosts.add(host.toLowerCase());
  hosts.delete('*');
  const uncovered = [...hosts].filter((host) => !listeners.some(({ material }) => serves(material, host)));
  if (uncovered.length === 0) return [];
  const more = uncovered.length > shownMax ? ` and ${uncovered.length - shownMax} more` : '';
  const message = `no certificate is for ${uncovered.slice(0, shownMax).join(', ')}${more}, which routes match`;
  return listeners.map(({ id }) => ({ pointer: pointerOf('listeners', id, 'tls'), message }));
}

const serves = ({ own, declared, named }: ListenerMaterial, host: string): boolean =>
  declared.find(host) !== undefined || named.find(host) !== undefined || covers(own, host);
