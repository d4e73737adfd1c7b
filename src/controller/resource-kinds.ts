// Kinds of objects that the controller watches, and where the API has them.

const gatewayApi = '/apis/gateway.networking.k8s.io/v1';
const own = '/apis/sluice.dev/v1alpha1';

interface ResourceKind {
  /** Path of the API group and version. */
  readonly api: string;
  /** Name in paths. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** True: the controller works without it where its CRD is not installed. */
  readonly isOptional?: true;
}

export const resourceKinds = {
  GatewayClass: { api: gatewayApi, plural: 'gatewayclasses', isNamespaced: false },
  Gateway: { api: gatewayApi, plural: 'gateways', isNamespaced: true },
  ListenerSet: { api: gatewayApi, plural: 'listenersets', isNamespaced: true, isOptional: true },
  HTTPRoute: { api: gatewayApi, plural: 'httproutes', isNamespaced: true },
  GRPCRoute: { api: gatewayApi, plural: 'grpcroutes', isNamespaced: true },
  TLSRoute: { api: gatewayApi, plural: 'tlsroutes', isNamespaced: true, isOptional: true },
  TCPRoute: { api: gatewayApi, plural: 'tcproutes', isNamespaced: true, isOptional: true },
  BackendTLSPolicy: { api: gatewayApi, plural: 'backendtlspolicies', isNamespaced: true, isOptional: true },
  ReferenceGrant: { api: gatewayApi, plural: 'referencegrants', isNamespaced: true },
  Namespace: { api: '/api/v1', plural: 'namespaces', isNamespaced: false },
  Service: { api: '/api/v1', plural: 'services', isNamespaced: true },
  Secret: { api: '/api/v1', plural: 'secrets', isNamespaced: true },
  ConfigMap: { api: '/api/v1', plural: 'configmaps', isNamespaced: true },
  EndpointSlice: { api: '/apis/discovery.k8s.io/v1', plural: 'endpointslices', isNamespaced: true },
  Middleware: { api: own, plural: 'middlewares', isNamespaced: true, isOptional: true },
  UpstreamPolicy: { api: own, plural: 'upstreampolicies', isNamespaced: true, isOptional: true },
} as const satisfies Readonly<Record<string, ResourceKind>>;

export type ResourceKindName = keyof typeof resourceKinds;

export const kindNames = Object.keys(resourceKinds) as readonly ResourceKindName[];

export const collectionPath = (kind: ResourceKindName): string =>
  `${resourceKinds[kind].api}/${resourceKinds[kind].plural}`;

export function objectPath(kind: ResourceKindName, namespace: string | undefined, name: string): string {
  const { api, plural, isNamespaced } = resourceKinds[kind];
  const within = isNamespaced ? `/namespaces/${encodeURIComponent(namespace ?? 'default')}` : '';
  return `${api}${within}/${plural}/${encodeURIComponent(name)}`;
}

export const isOptional = (kind: ResourceKindName): boolean => 'isOptional' in resourceKinds[kind];
