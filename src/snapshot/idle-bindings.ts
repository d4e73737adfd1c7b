// Bindings that no connection follows: a stream route of a listener that speaks HTTP, a route or a group of one of
// protocol tcp. Each is a warning of a capture (layer4.md §4).
import { type ConfigKind, nounOf } from '../model/kinds.ts';
import { listenerIn } from '../model/listener-binding.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import { type Configuration, listOf } from '../model/proxy-config.ts';

export function idleBindings(configuration: Configuration): Problem[] {
  const tcp = new Set(configuration.listeners.filter(({ protocol }) => protocol === 'tcp').map(({ id }) => id));
  const streams = listOf(configuration, 'streamRoutes');
  if (tcp.size === 0 && streams.length === 0) return [];
  const known = new Set(configuration.listeners.map(({ id }) => id));
  const problems: Problem[] = [];
  const look = (kind: ConfigKind, id: string, path: readonly string[], bindings: readonly string[] = []): void => {
    for (const [at, binding] of bindings.entries()) {
      const listener = listenerIn(binding);
      if (!known.has(listener) || tcp.has(listener) === (kind === 'streamRoutes')) continue;
      const protocol = tcp.has(listener) ? 'tcp' : 'http';
      const message = `names listener "${listener}" of protocol ${protocol}, where a ${nounOf(kind)} serves nothing`;
      problems.push({ pointer: pointerOf(kind, id, ...path, at), message });
    }
  };
  for (const { id, match } of streams) look('streamRoutes', id, ['match', 'listenerIds'], match?.listenerIds);
  if (tcp.size === 0) return problems;
  for (const { id, listenerIds } of configuration.routes) look('routes', id, ['listenerIds'], listenerIds);
  for (const { id, listenerIds } of configuration.groups) look('groups', id, ['listenerIds'], listenerIds);
  return problems;
}
