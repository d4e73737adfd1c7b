// Attachment of a route to the listeners of its parents, and why it fails.
import { isFalse, isTrue } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import {
  type Attachment,
  type GatewayFacts,
  gatewayGroup,
  type ListenerFacts,
  type ParentKey,
  type ParentReference,
  parentText,
  type RouteKind,
} from '../graph/facts.ts';
import { commonHostnames } from '../graph/hostnames.ts';
import { takesFrom } from '../graph/namespaces.ts';

export interface RouteIdentity {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly name: string;
  readonly hostnames: readonly string[] | undefined;
}

/** Returns how a route attaches to one of its parents; undefined when the parent is none of this controller. */
export function attach(
  graph: ControllerGraph,
  route: RouteIdentity,
  reference: ParentReference,
): Attachment | undefined {
  const parent = parentOf(route, reference);
  const gateway = parent && gatewayOf(graph, parent);
  if (parent === undefined || gateway === undefined) return undefined;
  const refused = (reason: string, message: string): Attachment => ({
    reference,
    gateway,
    accepted: isFalse('Accepted', reason, message),
    listeners: [],
  });
  const named = listenersOf(gateway, parent).filter(
    ({ name, port }) =>
      (reference.sectionName === undefined || name === reference.sectionName) &&
      (reference.port === undefined || port === reference.port),
  );
  if (named.length === 0) return refused('NoMatchingParent', 'no listener of the parent has that name and port');
  const allowing = named.filter(
    ({ kinds, namespaces }) =>
      kinds.includes(route.kind) && takesFrom(graph.store, namespaces, parent.namespace, route.namespace),
  );
  if (allowing.length === 0)
    return refused('NotAllowedByListeners', `no listener takes a ${route.kind} of namespace ${route.namespace}`);
  const listeners = allowing.flatMap((listener) => {
    const hostnames = route.kind === 'TCPRoute' ? [] : commonHostnames(listener.hostname, route.hostnames);
    return hostnames === undefined ? [] : [{ listener, hostnames }];
  });
  if (listeners.length === 0)
    return refused('NoMatchingListenerHostname', 'no listener has a host name in common with the route');
  return { reference, gateway, accepted: isTrue('Accepted'), listeners };
}

function parentOf(route: RouteIdentity, reference: ParentReference): ParentKey | undefined {
  const { group = gatewayGroup, kind = 'Gateway', namespace = route.namespace, name } = reference;
  if (group !== gatewayGroup || (kind !== 'Gateway' && kind !== 'ListenerSet')) return undefined;
  return { kind, namespace, name };
}

function gatewayOf(graph: ControllerGraph, { kind, namespace, name }: ParentKey): GatewayFacts | undefined {
  if (kind === 'Gateway') return graph.gateway(namespace, name);
  const set = graph.store.read('ListenerSet', namespace, name);
  return set && graph.gateway(set.spec.parentRef.namespace ?? namespace, set.spec.parentRef.name);
}

function listenersOf(gateway: GatewayFacts, parent: ParentKey): readonly ListenerFacts[] {
  if (parent.kind === 'Gateway') return gateway.listeners;
  return gateway.sets.find((set) => parentText(set.parent) === parentText(parent))?.listeners ?? [];
}
