// Results of the graph: what the objects of the cluster mean, for statuses and for Sluice.
import type { EditableKind } from '../../model/kinds.ts';
import type { Condition } from './condition.ts';
import type { CommonHostname } from './hostnames.ts';
import type { AllowedNamespaces } from './namespaces.ts';

export const gatewayGroup = 'gateway.networking.k8s.io';

/** Kinds of routes that a listener can take. */
export const routeKinds = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] as const;
export type RouteKind = (typeof routeKinds)[number];

export type Protocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP';

/** An object that routes attach to. */
export interface ParentKey {
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly namespace: string;
  readonly name: string;
}

export const parentText = ({ kind, namespace, name }: ParentKey): string => `${kind}/${namespace}/${name}`;

/** An entity of Sluice as the controller wants it. */
export interface Entity {
  readonly kind: EditableKind;
  readonly body: { readonly id: string; readonly name: string } & Readonly<Record<string, unknown>>;
}

export interface CertificateFacts {
  /** References to secrets of Sluice. */
  readonly cert: string;
  readonly key: string;
}

export interface ClientValidation {
  readonly ca: string;
  readonly mode: 'require' | 'unverified';
}

export interface ListenerFacts {
  /** Unique among all listeners: the parent's key and the listener's name. */
  readonly id: string;
  readonly parent: ParentKey;
  readonly name: string;
  readonly port: number;
  /** Port of the proxies that clients reach by it. */
  readonly targetPort: number;
  readonly protocol: string;
  readonly hostname: string | undefined;
  readonly mode: 'Terminate' | 'Passthrough' | undefined;
  readonly kinds: readonly RouteKind[];
  readonly namespaces: AllowedNamespaces;
  readonly certificates: readonly CertificateFacts[];
  readonly clients: ClientValidation | undefined;
  /** Accepted, ResolvedRefs, Conflicted, and others that do not depend on proxies. */
  readonly conditions: readonly Condition[];
  /** True: it is in Sluice's configuration. */
  readonly isServing: boolean;
  /** Id of Sluice's listener, and name of the section in it. */
  readonly entityId: string;
  readonly section: string;
}

export interface ListenerSetFacts {
  readonly parent: ParentKey;
  /** Accepted; Programmed follows from it and from the proxies. */
  readonly accepted: Condition;
  readonly listeners: readonly ListenerFacts[];
}

export interface GatewayAddress {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
}

export interface GatewayFacts {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** Accepted, ResolvedRefs and others that do not depend on proxies. */
  readonly conditions: readonly Condition[];
  /** Addresses that its listeners are bound to. Empty: it has none. */
  readonly addresses: readonly string[];
  /** Addresses by which clients reach it. */
  readonly publicAddresses: readonly GatewayAddress[];
  /** Reason why it cannot be programmed. */
  readonly obstacle: Condition | undefined;
  readonly listeners: readonly ListenerFacts[];
  readonly sets: readonly ListenerSetFacts[];
  /** Client certificate for connections to backends. */
  readonly backendCertificate: CertificateFacts | undefined;
  readonly entities: readonly Entity[];
}

/** Returns the listeners of a Gateway and of the ListenerSets that it takes, those of highest precedence first. */
export const allListeners = ({ listeners, sets }: GatewayFacts): readonly ListenerFacts[] => [
  ...listeners,
  ...sets.flatMap((set) => set.listeners),
];

export interface ParentReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** A listener that takes a route, and the host names for which. Empty: any. */
interface AttachedListener {
  readonly listener: ListenerFacts;
  readonly hostnames: readonly CommonHostname[];
}

export interface Attachment {
  readonly reference: ParentReference;
  readonly gateway: GatewayFacts;
  readonly accepted: Condition;
  readonly listeners: readonly AttachedListener[];
}

interface RouteParentFacts {
  readonly reference: ParentReference;
  readonly conditions: readonly Condition[];
}

export interface RouteFacts {
  readonly generation: number;
  readonly parents: readonly RouteParentFacts[];
  /** Ids of the listeners that it is attached to. */
  readonly attached: readonly string[];
  /** Keys of the Services that it leads to, and of the Gateways from which. */
  readonly services: readonly string[];
  readonly gateways: readonly string[];
  /** Keys of the Middlewares that its rules name. */
  readonly middlewares: readonly string[];
  readonly entities: readonly Entity[];
}

/** Kinds of policies, of the Gateway API and of Sluice's own. */
export const policyKinds = ['BackendTLSPolicy', 'UpstreamPolicy', 'Middleware'] as const;
export type PolicyKind = (typeof policyKinds)[number];

export interface PolicyFacts {
  readonly generation: number;
  /** Gateways whose routes lead to a target. */
  readonly ancestors: readonly string[];
  readonly conditions: readonly Condition[];
}
