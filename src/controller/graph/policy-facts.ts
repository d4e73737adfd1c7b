// Policies that are attached to Services: which of several counts, and the TLS that a BackendTLSPolicy asks for.
import type { BackendTLSPolicy } from '../gateway-api/backend-tls-policy.ts';
import { findBundle } from './certificate-references.ts';
import { type Condition, isFalse } from './condition.ts';
import type { ControllerGraph } from './controller-graph.ts';
import { gatewayGroup } from './facts.ts';

export interface Attached {
  readonly metadata: { readonly namespace?: string; readonly name: string; readonly creationTimestamp?: string };
  readonly spec: { readonly targetRefs: readonly { readonly name: string; readonly sectionName?: string }[] };
}

/** Text by which older policies sort first. */
export const age = ({ metadata }: Attached): string =>
  `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;

/** Returns the policy that counts for a port: one that names the port before one for all ports, then the oldest. */
export function ownPolicy<T extends Attached>(policies: readonly T[], portName: string | undefined): T | undefined {
  const sorted = [...policies].sort((a, b) => (age(a) < age(b) ? -1 : 1));
  const names = (section: string | undefined) =>
    sorted.find(({ spec }) => spec.targetRefs.some(({ sectionName }) => sectionName === section));
  return (portName === undefined ? undefined : names(portName)) ?? names(undefined);
}

export interface BackendTls {
  readonly hostname: string;
  /** PEM, or `system`: the roots of the system. Undefined: none can be used, and the backend is not connected to. */
  readonly bundle: string | undefined;
  readonly subjectAltNames: readonly { readonly type: 'dns' | 'uri'; readonly value: string }[];
}

/** Returns how TLS to the port of a Service is done; undefined: it is not. */
export function backendTls(
  graph: ControllerGraph,
  service: string,
  portName: string | undefined,
): BackendTls | undefined {
  const policy = ownPolicy(policiesOf(graph, service), portName);
  if (policy === undefined) return undefined;
  const { hostname, subjectAltNames = [] } = policy.spec.validation;
  return {
    hostname,
    bundle: bundleOf(graph, policy).bundle,
    subjectAltNames: subjectAltNames.map(({ type, hostname: name, uri }) =>
      type === 'URI' ? { type: 'uri', value: uri ?? '' } : { type: 'dns', value: name ?? '' },
    ),
  };
}

const policiesOf = ({ store }: ControllerGraph, service: string): BackendTLSPolicy[] =>
  store.members('BackendTLSPolicy', `target:Service:${service}`);

/** Returns the authorities of a policy, and what is wrong with them. */
export function bundleOf(
  { store }: ControllerGraph,
  { metadata, spec }: BackendTLSPolicy,
): { readonly bundle: string | undefined; readonly fault: Condition | undefined } {
  const { wellKnownCACertificates, caCertificateRefs = [] } = spec.validation;
  if (wellKnownCACertificates === 'System') return { bundle: 'system', fault: undefined };
  const from = { group: gatewayGroup, kind: 'BackendTLSPolicy', namespace: metadata.namespace ?? '' };
  const reasons = { invalid: 'InvalidCACertificateRef', kind: 'InvalidKind' };
  const outcomes = caCertificateRefs.map((reference) => findBundle(store, from, reference, reasons));
  const bundles = outcomes.flatMap(({ found }) => (found === undefined ? [] : [found.pem]));
  const fault = outcomes.find((outcome) => outcome.fault !== undefined)?.fault;
  return {
    bundle: bundles.length === 0 ? undefined : bundles.join('\n'),
    fault: fault && isFalse('ResolvedRefs', fault.reason, fault.message),
  };
}
