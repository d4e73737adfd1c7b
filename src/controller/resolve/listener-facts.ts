// One listener of a Gateway or a ListenerSet by itself: its protocol, the kinds of routes that it takes, its certificates.

import { findBundle, findCertificate, type ObjectReference } from '../graph/certificate-references.ts';
import { type Condition, isFalse, isTrue } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { entityId } from '../graph/entity-id.ts';
import {
  type CertificateFacts,
  type ClientValidation,
  type Entity,
  gatewayGroup,
  type ListenerFacts,
  type ParentKey,
  type Protocol,
  parentText,
  type RouteKind,
} from '../graph/facts.ts';
import type { AllowedNamespaces } from '../graph/namespaces.ts';
import type { ProxyService } from './proxy-service.ts';

/** Fields that listeners of Gateways and ListenerSets share. */
export interface ListenerSpec {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly hostname?: string;
  readonly allowedRoutes?: {
    readonly kinds?: readonly { readonly group?: string; readonly kind: string }[];
    readonly namespaces?: AllowedNamespaces;
  };
  readonly tls?: { readonly mode?: 'Terminate' | 'Passthrough'; readonly certificateRefs?: readonly ObjectReference[] };
}

interface FrontendValidation {
  readonly caCertificateRefs: readonly ObjectReference[];
  readonly mode?: 'AllowValidOnly' | 'AllowInsecureFallback';
}

interface FrontendTls {
  readonly default?: { readonly validation?: FrontendValidation };
  readonly perPort?: readonly { readonly port: number; readonly tls: { readonly validation?: FrontendValidation } }[];
}

const kindsOf: Readonly<Record<Protocol, readonly RouteKind[]>> = {
  HTTP: ['HTTPRoute', 'GRPCRoute'],
  HTTPS: ['HTTPRoute', 'GRPCRoute'],
  TLS: ['TLSRoute'],
  TCP: ['TCPRoute'],
};

export const isProtocol = (text: string): text is Protocol => Object.hasOwn(kindsOf, text);

export interface ResolvedListener {
  readonly facts: ListenerFacts;
  readonly entities: readonly Entity[];
}

interface Frame {
  readonly graph: ControllerGraph;
  readonly parent: ParentKey;
  /** Key of the Gateway that it is on: `namespace/name`. */
  readonly gateway: { readonly namespace: string; readonly name: string };
  readonly frontend: FrontendTls | undefined;
  readonly service: ProxyService | undefined;
}

/** Resolves a listener, conflicts with others apart. */
export function resolveListener(frame: Frame, spec: ListenerSpec): ResolvedListener {
  const { graph, parent, gateway, service } = frame;
  const isKnown = isProtocol(spec.protocol);
  const { kinds, fault: kindFault } = kindsTaken(spec);
  const needsCertificate =
    spec.protocol === 'HTTPS' || (spec.protocol === 'TLS' && (spec.tls?.mode ?? 'Terminate') === 'Terminate');
  const { certificates, entities, fault: certificateFault } = needsCertificate ? certificatesOf(frame, spec) : none;
  const { clients, faults: clientFaults } = spec.protocol === 'HTTPS' ? clientsOf(frame, spec.port) : noClients;
  const resolved = certificateFault ?? kindFault ?? clientFaults[0];
  const targetPort = service === undefined ? spec.port : service.targetPort(spec.port);
  const accepted = !isKnown
    ? isFalse('Accepted', 'UnsupportedProtocol', `protocol ${spec.protocol} is not supported`)
    : clientFaults.length > 0 && clients === undefined
      ? isFalse('Accepted', 'NoValidCACertificate', 'no certificate authority for clients can be used')
      : targetPort === undefined
        ? isFalse(
            'Accepted',
            'PortUnavailable',
            `Service ${service?.key} has no port ${spec.port} with a numeric targetPort`,
          )
        : isTrue('Accepted');
  const isUsable = !needsCertificate || certificates.length > 0;
  return {
    entities,
    facts: {
      id: `${parentText(parent)}/${spec.name}`,
      parent,
      name: spec.name,
      port: spec.port,
      targetPort: targetPort ?? 0,
      protocol: spec.protocol,
      hostname: spec.hostname === '' ? undefined : spec.hostname,
      mode: spec.protocol === 'TLS' || spec.protocol === 'HTTPS' ? (spec.tls?.mode ?? 'Terminate') : undefined,
      kinds,
      namespaces: spec.allowedRoutes?.namespaces ?? { from: 'Same' },
      certificates,
      clients,
      conditions: [
        accepted,
        resolved ?? isTrue('ResolvedRefs', 'ResolvedRefs', 'all references are resolved'),
        isFalse('Conflicted', 'NoConflicts', ''),
      ],
      isServing: accepted.status === 'True' && isUsable && kinds.length > 0,
      entityId: graph.entityId('gateway', gateway.namespace, gateway.name, spec.port, ...useParts(spec)),
      section: parent.kind === 'Gateway' ? spec.name : entityId(parent.namespace, parent.name, spec.name),
    },
  };
}

/** Parts of the id of Sluice's listener: those of different uses of a port are different listeners. */
function useParts({ protocol, tls }: ListenerSpec): string[] {
  if (protocol === 'TCP') return ['tcp'];
  if (protocol !== 'TLS') return [];
  return [tls?.mode === 'Passthrough' ? 'passthrough' : 'tls'];
}

const none = { certificates: [], entities: [], fault: undefined };
const noClients = { clients: undefined, faults: [] };

function kindsTaken({ protocol, allowedRoutes }: ListenerSpec): {
  kinds: readonly RouteKind[];
  fault: Condition | undefined;
} {
  const possible = isProtocol(protocol) ? kindsOf[protocol] : [];
  const asked = allowedRoutes?.kinds ?? [];
  if (asked.length === 0 || !isProtocol(protocol)) return { kinds: possible, fault: undefined };
  const isPossible = ({ group = gatewayGroup, kind }: { group?: string; kind: string }): boolean =>
    group === gatewayGroup && possible.includes(kind as RouteKind);
  const kinds = asked.filter(isPossible).map(({ kind }) => kind as RouteKind);
  const foreign = asked.filter((each) => !isPossible(each)).map(({ kind }) => kind);
  const fault =
    foreign.length === 0
      ? undefined
      : isFalse('ResolvedRefs', 'InvalidRouteKinds', `a listener of ${protocol} takes no ${foreign.join(', ')}`);
  return { kinds, fault };
}

function certificatesOf({ graph, parent }: Frame, { tls }: ListenerSpec) {
  const from = { group: gatewayGroup, kind: parent.kind, namespace: parent.namespace };
  const certificates: CertificateFacts[] = [];
  const entities: Entity[] = [];
  let fault: Condition | undefined;
  for (const reference of tls?.certificateRefs ?? []) {
    const outcome = findCertificate(graph, from, reference, 'InvalidCertificateRef');
    if (outcome.fault !== undefined) fault ??= isFalse('ResolvedRefs', outcome.fault.reason, outcome.fault.message);
    else {
      certificates.push(outcome.found.certificate);
      entities.push(...outcome.found.entities);
    }
  }
  if (certificates.length === 0) fault ??= isFalse('ResolvedRefs', 'InvalidCertificateRef', 'there is no certificate');
  return { certificates, entities, fault };
}

/** Validation of client certificates: of the port, else the default of the Gateway. */
function clientsOf(
  { graph, gateway, frontend }: Frame,
  port: number,
): { clients: ClientValidation | undefined; faults: readonly Condition[] } {
  const ofPort = frontend?.perPort?.find((each) => each.port === port);
  const validation = ofPort === undefined ? frontend?.default?.validation : ofPort.tls.validation;
  if (validation === undefined) return noClients;
  const from = { group: gatewayGroup, kind: 'Gateway', namespace: gateway.namespace };
  const reasons = { invalid: 'InvalidCACertificateRef', kind: 'InvalidCACertificateKind' };
  const bundles: string[] = [];
  const faults: Condition[] = [];
  for (const reference of validation.caCertificateRefs) {
    const { found, fault } = findBundle(graph.store, from, reference, reasons);
    if (fault !== undefined) faults.push(isFalse('ResolvedRefs', fault.reason, fault.message));
    else bundles.push(found.pem);
  }
  if (bundles.length === 0) return { clients: undefined, faults };
  const mode = validation.mode === 'AllowInsecureFallback' ? 'unverified' : 'require';
  return { clients: { ca: bundles.join('\n'), mode }, faults };
}
