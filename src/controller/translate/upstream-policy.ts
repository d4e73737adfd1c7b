// Options that an UpstreamPolicy gives to the destinations of a Service.
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { ownPolicy } from '../graph/policy-facts.ts';
import { refersToSecrets } from './foreign-references.ts';

/** Options of a destination that a policy may set; the others follow from objects of the Gateway API. */
const policyOptions = [
  'timeouts',
  'endpointBalancing',
  'circuitBreaker',
  'healthCheck',
  'outlierDetection',
  'maxConnsPerHost',
  'maxConnectionAge',
] as const;

export function upstreamOptions(
  graph: ControllerGraph,
  service: string,
  portName: string | undefined,
): Readonly<Record<string, unknown>> {
  const policy = ownPolicy(graph.store.members('UpstreamPolicy', `target:Service:${service}`), portName);
  const options = policy?.spec.options ?? {};
  if (refersToSecrets(options)) return {};
  return Object.fromEntries(policyOptions.flatMap((name) => (name in options ? [[name, options[name]]] : [])));
}
