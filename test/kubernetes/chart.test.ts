// The charts, rendered and applied to the cluster, with processes in the place of images: nodes, proxies and controllers come
// up with the rights, names and keys that the charts give them, and a Gateway serves.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { ClusterBed, echoDeployment, echoService, gateways, routes, type StatusOf } from './cluster-bed.ts';
import { helm, installChart } from './helm.ts';
import { startRelay } from './relay.ts';

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly podIP?: string; readonly conditions?: readonly { type: string; status: string }[] };
}

interface Pods {
  readonly items: readonly Pod[];
  readonly metadata: { readonly name: string };
}

describe('the Helm charts in a cluster', function () {
  this.timeout(400_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
    if (!existsSync(helm)) return this.skip();
  });
  afterEach(() => bed?.close());

  it('bring up three nodes, two proxies and two controllers, and a Gateway serves', async () => {
    const namespace = await bed.namespace('edge');
    const install = (release: string, chart: string, ...values: string[]) =>
      installChart(namespace, release, chart, ...values);
    await install('crds', 'sluice-controller-crds');
    await install('edge', 'sluice', 'discovery.enabled=true', 'proxy.settings.proxy.workers=1');
    await install(
      'controller',
      'sluice-controller',
      'sluice.urls={http://edge-sluice-api:8080}',
      'sluice.keySecret.name=edge-sluice-keys',
      'sluice.keySecret.key=admin-key',
      `service=${namespace}/edge-sluice`,
      'gatewayClass.name=charted',
    );
    bed.atEnd(() => void bed.api.delete('/apis/gateway.networking.k8s.io/v1/gatewayclasses/charted').catch(() => {}));
    const readyPods = async (selector: string, count: number): Promise<string[]> =>
      eventually(
        async () => {
          const query = `labelSelector=${encodeURIComponent(selector)}`;
          const { items } = await bed.api.get<Pods>(`/api/v1/namespaces/${namespace}/pods?${query}`);
          const ready = items.filter(({ status }) =>
            status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
          );
          expect(ready, selector).to.have.length(count);
          return ready.map(({ status }) => status?.podIP ?? '');
        },
        { withinMs: 120_000 },
      );
    const [node = ''] = await readyPods('app.kubernetes.io/component=node', 3);
    await readyPods('app.kubernetes.io/instance=controller', 2);

    await bed.put(`/apis/apps/v1/namespaces/${namespace}/deployments`, echoDeployment(namespace, 2, 1));
    await bed.put(`/api/v1/namespaces/${namespace}/services`, echoService(namespace));
    await bed.gateway(namespace, 'web', 'charted');
    await bed.put(routes(namespace), {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'echo', namespace },
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] },
    });
    // Proxies are ready once they have a configuration.
    const proxies = await readyPods('app.kubernetes.io/component=proxy', 2);

    // The load balancer of the cluster.
    const address = '10.250.99.1';
    const balancer = await startRelay(8081, {}, { listen: { host: address, port: 80 }, hosts: proxies });
    bed.atEnd(() => balancer.close());
    const ingress = [{ ip: address }];
    await bed.api.merge(`/api/v1/namespaces/${namespace}/services/edge-sluice/status`, {
      status: { loadBalancer: { ingress } },
    });

    expect(await bed.addressOf(namespace, 'web')).to.equal(address);
    const seen = new Set<string>();
    await eventually(async () => {
      const response = await fetch(`http://${address}/`, { headers: { connection: 'close' } });
      const { pod, namespace: of } = (await response.json()) as { pod: string; namespace: string };
      expect([response.status, of]).to.deep.equal([200, namespace]);
      seen.add(pod);
      expect(seen.size, 'pods that answered').to.equal(2);
    });

    const { data } = await bed.api.get<{ data: Record<string, string> } & StatusOf>(
      `/api/v1/namespaces/${namespace}/secrets/edge-sluice-keys`,
    );
    const key = Buffer.from(data['admin-key'] ?? '', 'base64').toString('utf8');
    const ask = async (path: string) => {
      const response = await fetch(`http://${node}:8080/api/v1${path}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return (await response.json()) as { members: { role: string }[]; proxies: { state: string }[] };
    };
    const { members } = await ask('/cluster');
    expect(members.map(({ role }) => role).sort()).to.deep.equal(['leader', 'voter', 'voter']);
    const { proxies: fleet } = await ask('/fleet');
    expect(fleet.filter(({ state }) => state === 'current').length).to.be.at.least(2);
    await eventually(async () => {
      await bed.api.merge(`${gateways(namespace)}/web`, {
        spec: { listeners: [{ name: 'http', port: 81, protocol: 'HTTP' }] },
      });
      const { status } = await bed.api.get<StatusOf>(`${gateways(namespace)}/web`);
      const reasons = status?.listeners?.[0]?.conditions?.map(({ reason }) => reason);
      expect(reasons).to.include('PortUnavailable');
    });
  });
});
