// Statuses of policies, those of Sluice's own included: whether they count, and what they refer to.
import { keyFor } from '../../kubernetes/objects.ts';
import { type Condition, isFalse, isTrue } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { PolicyFacts, PolicyKind } from '../graph/facts.ts';
import { type Attached, age, bundleOf } from '../graph/policy-facts.ts';
import { foreignReference, refersToSecrets } from '../translate/foreign-references.ts';
import { policyEntities } from '../translate/middleware-policy.ts';

type AttachedKind = Exclude<PolicyKind, 'Middleware'>;

/** Returns the facts of a policy; undefined when there is none of that name. */
export function policyFacts(
  graph: ControllerGraph,
  kind: PolicyKind,
  namespace: string,
  name: string,
): PolicyFacts | undefined {
  if (kind === 'Middleware') return middlewareFacts(graph, namespace, name);
  const policy = graph.store.read(kind, namespace, name);
  if (policy === undefined) return undefined;
  const targets = policy.spec.targetRefs.filter((target) => (target.kind ?? 'Service') === 'Service');
  const services = targets.map((target) => keyFor(namespace, target.name));
  return {
    generation: policy.metadata.generation ?? 0,
    ancestors: [...new Set(services.flatMap((service) => graph.gatewaysOf('Service', service)))].sort(),
    conditions: counts(graph, kind, policy)
      ? conditionsOf(graph, kind, namespace, name)
      : [isFalse('Accepted', 'Conflicted', 'an older policy has the same targets'), isTrue('ResolvedRefs')],
  };
}

function conditionsOf(graph: ControllerGraph, kind: AttachedKind, namespace: string, name: string): Condition[] {
  const policy = kind === 'BackendTLSPolicy' ? graph.store.read(kind, namespace, name) : undefined;
  if (policy === undefined) return [acceptedOptions(graph, namespace, name), isTrue('ResolvedRefs')];
  const { bundle, fault } = bundleOf(graph, policy);
  const accepted =
    bundle === undefined
      ? isFalse('Accepted', 'NoValidCACertificate', 'no certificate authority can be used')
      : isTrue('Accepted');
  return [accepted, fault ?? isTrue('ResolvedRefs')];
}

function acceptedOptions({ store }: ControllerGraph, namespace: string, name: string): Condition {
  return refersToSecrets(store.read('UpstreamPolicy', namespace, name)?.spec.options)
    ? isFalse('Accepted', 'Invalid', foreignReference)
    : isTrue('Accepted');
}

/** Returns whether a policy is the oldest one for a target of its own. */
function counts(graph: ControllerGraph, kind: AttachedKind, { metadata, spec }: Attached): boolean {
  return spec.targetRefs.some((target) => {
    const set = `target:Service:${keyFor(metadata.namespace, target.name)}`;
    const rivals = (graph.store.members(kind, set) as readonly Attached[]).filter((each) =>
      each.spec.targetRefs.some(({ name, sectionName }) => name === target.name && sectionName === target.sectionName),
    );
    const [first] = [...rivals].sort((a, b) => (age(a) < age(b) ? -1 : 1));
    return first?.metadata.name === metadata.name;
  });
}

function middlewareFacts(graph: ControllerGraph, namespace: string, name: string): PolicyFacts | undefined {
  const policy = graph.store.read('Middleware', namespace, name);
  if (policy === undefined) return undefined;
  const { fault, refusal } = policyEntities(graph, policy);
  const accepted = refusal === undefined ? isTrue('Accepted') : isFalse('Accepted', 'Invalid', refusal);
  return {
    generation: policy.metadata.generation ?? 0,
    ancestors: [...graph.gatewaysOf('Middleware', keyFor(namespace, name))].sort(),
    conditions: [accepted, refusal === undefined && fault !== undefined ? fault : isTrue('ResolvedRefs')],
  };
}
