// Manifests of a Gateway with its class, and their translation without a cluster.
import { parseAllDocuments } from 'yaml';
import type { ClusterModelOptions } from '../../src/controller/cluster-model.ts';
import { defaultOwner } from '../../src/controller/graph/entity-id.ts';
import { type OnceResult, translateOnce } from '../../src/controller/once.ts';
import { parsePool } from '../../src/controller/publish/gateway-addresses.ts';

export const options: ClusterModelOptions = {
  controllerName: 'sluice.dev/gateway-controller',
  owner: defaultOwner,
  endpoints: 'proxy',
  clusterDomain: 'cluster.local',
  pool: parsePool('10.0.0.0/24') ?? { first: 0, last: 0 },
};

export const base = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: sluice }
spec: { controllerName: sluice.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec:
  gatewayClassName: sluice
  listeners:
    - { name: http, port: 80, protocol: HTTP }
    - { name: inner, port: 80, protocol: HTTP, hostname: '*.inner.example' }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { ports: [{ port: 80 }] }
`;

/** Translates YAML; `more` are options in the place of the usual ones. */
export const translated = (text: string, more: Partial<ClusterModelOptions> = {}): OnceResult =>
  translateOnce(
    parseAllDocuments(text).map((document) => ({ object: document.toJS() as unknown, source: 'manifest' })),
    { ...options, ...more },
  );

/** Manifest of an object of the Gateway API in the namespace of the Gateway. `spec` is YAML on one line. */
export const manifest = (kind: string, name: string, spec: string): string => `---
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: shop }
spec: ${spec}
`;

export const route = (spec: string): string => `${base}${manifest('HTTPRoute', 'cart', spec)}`;
