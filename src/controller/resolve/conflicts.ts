// Conflicts between listeners of one port of a Gateway: of protocols that cannot share a port, and of the same host name.
import { isFalse, isTrue } from '../graph/condition.ts';
import type { ListenerFacts } from '../graph/facts.ts';

/** Protocols of one family can share a port: they are told apart by host or server name. */
const families: Readonly<Record<string, string>> = { HTTP: 'http', HTTPS: 'tls', TLS: 'tls', TCP: 'tcp' };

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
  return listeners.map((listener) => {
    if (families[listener.protocol] === undefined) return listener;
    const equals = listeners.filter((other) => other !== listener && isSamePrecedence(listener, other));
    const before = kept.filter((other) => !isSamePrecedence(listener, other));
    const [conflict] = [...before, ...equals].flatMap((other) => conflictOf(listener, other) ?? []);
    if (conflict !== undefined) return conflicted(listener, conflict);
    kept.push(listener);
    return listener;
  });
}

const isSamePrecedence = (one: ListenerFacts, other: ListenerFacts): boolean =>
  one.parent.kind === other.parent.kind &&
  one.parent.namespace === other.parent.namespace &&
  one.parent.name === other.parent.name;

function conflictOf(one: ListenerFacts, other: ListenerFacts): Conflict | undefined {
  if (one.port !== other.port) return undefined;
  const [family, rival] = [families[one.protocol], families[other.protocol]];
  if (rival === undefined) return undefined;
  if (family !== rival) return 'ProtocolConflict';
  if (family === 'tcp') return 'ProtocolConflict';
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
