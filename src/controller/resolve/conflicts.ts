// Conflicts between listeners of one port of a Gateway: of protocols that cannot share a port, and of the same host name.
import { isFalse, isTrue } from '../graph/condition.ts';
import { type ListenerFacts, parentText } from '../graph/facts.ts';
import { isProtocol } from './listener-facts.ts';

/** Uses of a port. Listeners of one use share it by host or server name. */
function useOf({ protocol, mode }: ListenerFacts): string | undefined {
  if (protocol === 'TLS') return mode === 'Passthrough' ? 'passthrough' : 'terminate';
  return isProtocol(protocol) ? protocol : undefined;
}

/** Uses that share a port although they differ: the server name says which one a connection is for. */
const sharing: ReadonlySet<string> = new Set(['HTTPS passthrough', 'terminate passthrough']);

const mayShare = (one: string, other: string): boolean =>
  (one === other && one !== 'TCP') || sharing.has(`${one} ${other}`) || sharing.has(`${other} ${one}`);

type Conflict = 'ProtocolConflict' | 'HostnameConflict';

const messages: Readonly<Record<Conflict, string>> = {
  ProtocolConflict: 'another listener of this port has a protocol that cannot share it',
  HostnameConflict: 'another listener of this port has the same host name',
};

/**
 * Returns the listeners with their conflicts. The one of highest precedence, which comes first, is kept; two of one object
 * have the same precedence, and neither is. A listener that is not kept is in the way of none.
 */
export function withConflicts(listeners: readonly ListenerFacts[]): ListenerFacts[] {
  const kept: ListenerFacts[] = [];
  const conflicts = new Map<string, Conflict>();
  for (const equals of Map.groupBy(listeners, ({ parent }) => parentText(parent)).values()) {
    const left = equals.filter((listener) => {
      const [conflict] = kept.flatMap((other) => conflictOf(listener, other) ?? []);
      if (conflict !== undefined) conflicts.set(listener.id, conflict);
      return conflict === undefined;
    });
    for (const listener of left) {
      const [conflict] = left.flatMap((other) => (other === listener ? [] : (conflictOf(listener, other) ?? [])));
      if (conflict === undefined) kept.push(listener);
      else conflicts.set(listener.id, conflict);
    }
  }
  return listeners.map((listener) => {
    const conflict = conflicts.get(listener.id);
    return conflict === undefined ? listener : conflicted(listener, conflict);
  });
}

function conflictOf(one: ListenerFacts, other: ListenerFacts): Conflict | undefined {
  if (one.port !== other.port) return undefined;
  const [use, rival] = [useOf(one), useOf(other)];
  if (use === undefined || rival === undefined) return undefined;
  if (!mayShare(use, rival)) return 'ProtocolConflict';
  return one.hostname === other.hostname ? 'HostnameConflict' : undefined;
}

function conflicted(listener: ListenerFacts, reason: Conflict): ListenerFacts {
  const message = messages[reason];
  const kept = listener.conditions.filter(({ type }) => type !== 'Accepted' && type !== 'Conflicted');
  return {
    ...listener,
    isServing: false,
    conditions: [isFalse('Accepted', reason, message), ...kept, isTrue('Conflicted', reason, message)],
  };
}
