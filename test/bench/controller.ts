// Cost of the controller's model: first computation of many HTTPRoutes, one change, memory. Without a cluster and without
// Sluice: `node test/bench/controller.ts [ROUTES]`.
import { ClusterModel } from '../../src/controller/cluster-model.ts';
import { defaultOwner } from '../../src/controller/graph/entity-id.ts';
import { parsePool } from '../../src/controller/publish/gateway-addresses.ts';
import type { ResourceKindName } from '../../src/controller/resource-kinds.ts';
import { type KubernetesObject, keyOf } from '../../src/kubernetes/objects.ts';

const count = Number(process.argv[2] ?? 10_000);
const services = 1_000;
const changes = 1_000;

let statuses = 0;
let entities = 0;
const model = new ClusterModel(
  {
    controllerName: 'sluice.dev/gateway-controller',
    owner: defaultOwner,
    endpoints: 'proxy',
    clusterDomain: 'cluster.local',
    pool: parsePool('10.0.0.0/16') ?? { first: 0, last: 0 },
  },
  {
    onStatus: () => statuses++,
    onEntities: (_holder, keys) => {
      entities += keys.length;
    },
    onGone: () => {},
    onUnreadable: (kind, key, error) => console.error(kind, key, error),
  },
);

const take = (kind: ResourceKindName, object: object): void =>
  model.take(kind, keyOf(object as KubernetesObject), object as KubernetesObject);
const named = (name: string, generation = 1) => ({
  name,
  namespace: 'shop',
  generation,
  resourceVersion: String(generation),
  creationTimestamp: '2026-01-01T00:00:00Z',
});

function route(n: number, generation: number): object {
  return {
    metadata: named(`route-${n}`, generation),
    spec: {
      parentRefs: [{ name: 'web' }],
      hostnames: [`h${n % 500}.example.com`],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/p${n}` } }],
          filters: [
            {
              type: 'RequestHeaderModifier',
              requestHeaderModifier: { set: [{ name: 'x-g', value: `${generation}` }] },
            },
          ],
          backendRefs: [{ name: `service-${n % services}`, port: 80, weight: 1 }],
        },
      ],
    },
  };
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const begun = cpuMs();
take('GatewayClass', { metadata: { name: 'sluice' }, spec: { controllerName: 'sluice.dev/gateway-controller' } });
take('Namespace', { metadata: { name: 'shop' } });
take('Gateway', {
  metadata: named('web'),
  spec: { gatewayClassName: 'sluice', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
});
for (let n = 0; n < services; n++)
  take('Service', { metadata: named(`service-${n}`), spec: { ports: [{ port: 80 }] } });
for (let n = 0; n < count; n++) take('HTTPRoute', route(n, 1));
model.settle();
console.log(`${count} routes: ${(cpuMs() - begun).toFixed(0)} ms of CPU, ${model.entities.size} entities`);

const before = { cpu: cpuMs(), entities, computed: model.graph.incremental.computed };
for (let n = 0; n < changes; n++) {
  take('HTTPRoute', route((n * 7919) % count, n + 2));
  model.settle();
}
const perChange = (cpuMs() - before.cpu) / changes;
console.log(`a change: ${perChange.toFixed(2)} ms of CPU, ${(entities - before.entities) / changes} entities`);
console.log(`cells computed a change: ${(model.graph.incremental.computed - before.computed) / changes}`);
globalThis.gc?.();
console.log(
  `memory: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB, heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`,
);
