// Listeners beyond what one listener of Sluice takes. Those of one port share it: with one too many Sluice would refuse it, and
// the port of all of them.
import { certificatesMax, sectionsMax } from '../../model/listener-limits.ts';
import { isFalse } from '../graph/condition.ts';
import type { ListenerFacts } from '../graph/facts.ts';

interface Used {
  listeners: number;
  certificates: number;
}

/** Returns the listeners, those of highest precedence first, without service for those that find no room on their port. */
export function withinLimits(listeners: readonly ListenerFacts[]): ListenerFacts[] {
  const ports = new Map<string, Used>();
  return listeners.map((listener) => {
    if (!listener.isServing) return listener;
    const used = ports.get(listener.entityId) ?? { listeners: 0, certificates: 0 };
    ports.set(listener.entityId, used);
    const certificates = used.certificates + listener.certificates.length;
    if (used.listeners >= sectionsMax || certificates > certificatesMax) return excessive(listener);
    used.listeners++;
    used.certificates = certificates;
    return listener;
  });
}

function excessive(listener: ListenerFacts): ListenerFacts {
  const message = `a port takes ${sectionsMax} listeners and ${certificatesMax} certificates`;
  const others = listener.conditions.filter(({ type }) => type !== 'Accepted');
  return { ...listener, isServing: false, conditions: [isFalse('Accepted', 'TooManyListeners', message), ...others] };
}
