// Backends of routes as destinations of Sluice, and what is wrong with a reference to one.
import { keyFor } from '../../kubernetes/objects.ts';
import { type Condition, isFalse } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { type Entity, gatewayGroup, type RouteKind } from '../graph/facts.ts';
import { mayRefer } from '../graph/grants.ts';
import { type BackendTls, backendTls } from '../graph/policy-facts.ts';
import type { Service, ServicePort } from '../kubernetes-kinds.ts';
import type { Binding } from './bindings.ts';
import { serviceEndpointsOf } from './endpoints.ts';
import { refersToSecrets } from './foreign-references.ts';
import { upstreamOptions } from './upstream-policy.ts';

export interface BackendReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly port?: number;
}

export interface BackendSource {
  readonly kind: RouteKind;
  readonly namespace: string;
}

export interface FoundService {
  readonly service: Service;
  readonly port: ServicePort;
  readonly namespace: string;
  /** Key of the Service: `namespace/name`. */
  readonly key: string;
}

export type BackendOutcome =
  | { readonly found: FoundService; readonly fault?: undefined }
  | { readonly found?: undefined; readonly fault: Condition };

/** Finds the Service that a route refers to. */
export function findBackend(graph: ControllerGraph, from: BackendSource, reference: BackendReference): BackendOutcome {
  const { group = '', kind = 'Service', namespace = from.namespace, name, port } = reference;
  const fault = (reason: string, message: string): BackendOutcome => ({
    fault: isFalse('ResolvedRefs', reason, message),
  });
  if (group !== '' || kind !== 'Service')
    return fault('InvalidKind', `backends of kind ${group === '' ? kind : `${group}/${kind}`} are not supported`);
  const key = keyFor(namespace, name);
  const source = { group: gatewayGroup, kind: from.kind, namespace: from.namespace };
  if (!mayRefer(graph.store, source, { group, kind, namespace, name }))
    return fault('RefNotPermitted', `no ReferenceGrant allows to refer to Service ${key}`);
  if (graph.store.read('Service', namespace, name) === undefined)
    return fault('BackendNotFound', `there is no Service ${key}`);
  const found = findService(graph, namespace, name, port);
  if (found === undefined) return fault('BackendNotFound', `Service ${key} has no port ${port} of TCP`);
  const { appProtocol, name: portName } = found.port;
  const isTold =
    appProtocol !== tlsProtocol || isStreamKind(from.kind) || backendTls(graph, key, portName) !== undefined;
  return isTold
    ? { found }
    : fault(
        'UnsupportedProtocol',
        `${appProtocol} of Service ${key} needs a BackendTLSPolicy, which says how to verify it`,
      );
}

/** Protocol of a port (KEP-3726) that is never to be sent plain text. */
const tlsProtocol = 'kubernetes.io/wss';

const isStreamKind = (kind: RouteKind): boolean => kind === 'TLSRoute' || kind === 'TCPRoute';

/** Finds a port of a Service; undefined when there is none of TCP. */
export function findService(
  graph: ControllerGraph,
  namespace: string,
  name: string,
  number: number | undefined,
): FoundService | undefined {
  const service = graph.store.read('Service', namespace, name);
  const port = service?.spec?.ports?.find((each) => each.port === number && (each.protocol ?? 'TCP') === 'TCP');
  return service && port && { service, port, namespace, key: keyFor(namespace, name) };
}

export interface BackendUse {
  /** `http2`: HTTP/2 with prior knowledge or by ALPN, as gRPC needs it. `raw`: bytes that are not put under TLS. */
  readonly protocol: 'http' | 'http2' | 'tcp' | 'raw';
  readonly certificate: Binding['certificate'];
}

/** Returns the destination of a Service; undefined when what its TLS needs cannot be had. */
export function destinationOf(
  graph: ControllerGraph,
  { service, port, namespace, key }: FoundService,
  { protocol, certificate }: BackendUse,
): Entity | undefined {
  const tls = protocol === 'raw' ? undefined : backendTls(graph, key, port.name);
  if (tls !== undefined && tls.bundle === undefined) return undefined;
  const isStream = protocol === 'tcp' || protocol === 'raw';
  const isHttp2 = !isStream && (protocol === 'http2' || port.appProtocol === 'kubernetes.io/h2c');
  const ownCertificate = tls === undefined ? undefined : certificate;
  const parts = [
    ...(isStream ? [protocol] : isHttp2 ? ['h2'] : []),
    ...(ownCertificate === undefined ? [] : ['for', ...ownCertificate.gateway.split('/')]),
  ];
  const id = graph.entityId('service', namespace, service.metadata.name, port.port, ...parts);
  const host = `${service.metadata.name}.${namespace}.svc.${graph.settings.clusterDomain}`;
  const policy = upstreamOptions(graph, key, port.name);
  if (refersToSecrets([tls?.hostname, tls?.subjectAltNames])) return undefined;
  return {
    kind: 'destinations',
    body: {
      id,
      name: [`${key}:${port.port}`, ...parts].join(' '),
      host,
      port: port.port,
      ...(graph.settings.endpoints === 'controller' && serviceEndpointsOf(graph, service, port)),
      options: {
        ...policy,
        ...(!isStream && { timeouts: { responseHeader: '0s', ...(policy.timeouts as object | undefined) } }),
        ...(graph.settings.endpoints === 'proxy' && { discovery: { type: 'kubernetes', whenEmpty: 'none' } }),
        ...(isHttp2 && { http2: true }),
        ...(tls !== undefined && { tls: tlsOptions(tls, ownCertificate) }),
      },
    },
  };
}

function tlsOptions({ bundle, hostname, subjectAltNames }: BackendTls, certificate: Binding['certificate']): object {
  return {
    mode: certificate === undefined ? 'tls' : 'mtls',
    sni: hostname,
    ...(bundle !== undefined && bundle !== 'system' && { ca: bundle }),
    ...(subjectAltNames.length > 0 && { subjectAltNames }),
    ...(certificate !== undefined && { cert: certificate.cert, key: certificate.key }),
  };
}
