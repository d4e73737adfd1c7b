// Pods of a service while the API of Kubernetes is gone: traffic goes on with what is known, and what changed meanwhile
// counts once the API is back. For how long it is gone at least: `SLUICE_DISCOVERY_AWAY_SECONDS`, by default not at all.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { KubernetesServer } from '../support/kubernetes-server.ts';
import { startLoad } from '../support/load.ts';
import { repeatFor, secondsOf } from '../support/long-run.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('pods while the API of Kubernetes is gone', () => {
  const awaySeconds = secondsOf('DISCOVERY_AWAY', 0);
  const kubernetes = new KubernetesServer();
  let node: SluiceProcess;
  let pods: Upstream[];
  before(async () => {
    await kubernetes.start();
    pods = await Promise.all(['stays', 'goes', 'comes'].map((name) => startUpstream(name, (_, out) => out.end('pod'))));
  });
  after(async () => {
    await node?.stop();
    await Promise.all([kubernetes.stop(), ...(pods ?? []).map((pod) => pod.close())]);
  });

  const seen = (pod: number): number => pods[pod]?.requests.length ?? 0;
  const says = (message: string) => expect(node.output.join('\n')).to.contain(message);
  const slice = (pod: number) =>
    kubernetes.slice(
      'shop',
      'cart',
      `cart-${pod}`,
      [{ name: 'http', port: pods[pod]?.port }],
      [{ addresses: ['127.0.0.1'] }],
    );

  it('serve on, and are the right ones once it is back', async function () {
    this.timeout((awaySeconds + 60) * 1_000);
    const folder = newFolder();
    const kubeconfig = join(folder, 'kubeconfig');
    const context = { name: 'c', context: { cluster: 'k' } };
    const clusters = [{ name: 'k', cluster: { server: kubernetes.url } }];
    writeFileSync(kubeconfig, JSON.stringify({ 'current-context': 'c', contexts: [context], clusters }));
    kubernetes.service('shop', 'cart', { ports: [{ name: 'http', port: 80 }] });
    slice(0);
    slice(1);
    node = await startSluice({ folder, env: { KUBECONFIG: kubeconfig }, more: 'proxy: { workers: 2 }' });
    const api = apiClient(node.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    const options = { discovery: { type: 'kubernetes' } };
    await api.create('destinations', {
      id: 'cart',
      name: 'cart',
      host: 'cart.shop.svc.cluster.local',
      port: 80,
      options,
    });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'cart' }] } });
    await api.activateAs('one');
    const url = `http://127.0.0.1:${port}/`;
    await eventually(async () => expect(await (await fetch(url)).text()).to.equal('pod'));
    const load = startLoad(url, 'pod', { clients: 8 });
    const serves = async (count: number) => {
      const before = [load.served, seen(0), seen(1)] as const;
      await eventually(() => {
        expect(load.served).to.be.greaterThan(before[0] + count);
        expect(Math.min(seen(0) - before[1], seen(1) - before[2])).to.be.greaterThan(count / 10);
      });
    };
    await serves(100);
    kubernetes.leave();
    slice(2);
    kubernetes.removeSlice('shop', 'cart-1');
    await eventually(() => says('what is known stays in use'));
    await eventually(() => expect(kubernetes.missed).to.be.greaterThan(3));
    await repeatFor(awaySeconds, () => serves(100));
    await serves(100);
    expect(seen(2), 'nobody can know of it yet').to.equal(0);
    kubernetes.comeBack();
    await eventually(() => says('Kubernetes is watched again'));
    await eventually(() => expect(seen(2)).to.be.greaterThan(0));
    await eventually(async () => {
      const [served, gone] = [load.served, seen(1)];
      await eventually(() => expect(load.served).to.be.greaterThan(served + 200));
      expect(seen(1), 'nobody asks the pod that is gone').to.equal(gone);
    });
    await load.stop();
    expect(load.failed).to.deep.equal([]);
  });
});
