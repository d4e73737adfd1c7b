// Entities of Sluice that have what a policy of sluice.dev says: where one of them is refused, its policy says so.
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { PolicyKind } from '../graph/facts.ts';
import type { ObjectOf } from '../graph/object-store.ts';

/** Returns the keys of the entities, or what the keys of several begin with. */
export function policyEntityKeys(graph: ControllerGraph, kind: PolicyKind, policy: ObjectOf[PolicyKind]): string[] {
  const { namespace = '', name } = policy.metadata;
  if (kind === 'Middleware') return [`middlewares/${graph.entityId('middleware', namespace, name)}`];
  if (kind !== 'UpstreamPolicy') return [];
  const { targetRefs } = (policy as ObjectOf['UpstreamPolicy']).spec;
  return targetRefs.map((target) => `destinations/${graph.entityId('service', namespace, target.name)}`);
}
