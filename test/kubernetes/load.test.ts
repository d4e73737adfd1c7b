// The controller with many routes and many changes, and Gateways while the pods behind them are replaced.
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import {
  ClusterBed,
  echoDeployment,
  echoService,
  location,
  metric,
  preStopSeconds,
  routes,
  settle,
} from './cluster-bed.ts';

interface RolledOut {
  readonly metadata: { readonly name: string; readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describe('the controller under load', function () {
  this.timeout(600_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
    await bed.startSluice();
  });
  afterEach(() => bed?.close());

  it('fails no request while all pods of a Service are replaced', async () => {
    const pods = Number(process.env.PODS ?? 200);
    const perSecond = 500;
    await bed.gatewayClass('roll');
    const namespace = await bed.namespace('roll');
    await bed.gateway(namespace, 'web', 'roll');
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await bed.put(deployments, echoDeployment(namespace, pods, 1));
    await bed.put(`/api/v1/namespaces/${namespace}/services`, echoService(namespace));
    await bed.put(routes(namespace), {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'echo', namespace },
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] },
    });
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    const agent = new Agent({ keepAlive: true, maxSockets: 100 });
    bed.atEnd(() => agent.destroy());
    const ask = (): Promise<string> =>
      new Promise((resolve) => {
        const request = get({ host: address, path: '/', agent }, (response) => {
          response.resume();
          response.on('error', ({ message }) => resolve(message));
          response.on('end', () => resolve(String(response.statusCode)));
        });
        request.on('error', ({ message }) => resolve(message));
      });
    await eventually(async () => expect(await ask()).to.equal('200'));
    const isRolledOut = async (): Promise<void> => {
      const { status, metadata } = await bed.api.get<RolledOut>(`${deployments}/echo`);
      expect(status?.observedGeneration).to.equal(metadata.generation);
      expect([status?.updatedReplicas, status?.availableReplicas, status?.replicas]).to.deep.equal([pods, pods, pods]);
    };
    const patience = { withinMs: 240_000 };
    await eventually(isRolledOut, patience);
    const outcomes = new Map<string, number>();
    const asked: Promise<void>[] = [];
    const startedAt = performance.now();
    const ticker = setInterval(() => {
      const due = ((performance.now() - startedAt) * perSecond) / 1_000;
      while (asked.length < due)
        asked.push(ask().then((outcome) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)));
    }, 10);
    bed.atEnd(() => clearInterval(ticker));
    await bed.put(deployments, echoDeployment(namespace, pods, 2));
    await eventually(isRolledOut, patience);
    // The last pods serve on for a while before they end.
    await settle(1_000 * (preStopSeconds + 1));
    clearInterval(ticker);
    const seconds = (performance.now() - startedAt) / 1_000;
    await Promise.all(asked);
    const rate = (asked.length / seconds).toFixed(0);
    console.log(`      ${pods} pods replaced in ${seconds.toFixed(0)} s under ${rate} requests a second`);
    expect(Object.fromEntries(outcomes)).to.deep.equal({ 200: asked.length });
  });

  it('serves 10,000 routes, and follows 50 changes a second for a minute, within its bounds', async () => {
    await bed.gatewayClass('many');
    const namespace = await bed.namespace('many');
    await bed.gateway(namespace, 'web', 'many');
    const count = Number(process.env.ROUTES ?? 10_000);
    const all = Array.from({ length: count }, (_, n) => n);
    const writer = async (): Promise<void> => {
      for (let n = all.pop(); n !== undefined; n = all.pop())
        await bed.redirect(namespace, `route-${n}`, 'web', `/p${n}`, 'a.example');
    };
    await Promise.all(Array.from({ length: 16 }, writer));
    const startedAt = performance.now();
    const controller = await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () =>
      expect(await location(address, `/p${count - 1}`)).to.equal(`http://a.example/p${count - 1}`),
    );
    const syncMs = performance.now() - startedAt;
    const written = () =>
      metric(controller, 'sluice_controller_status_writes_total{kind="HTTPRoute",outcome="written"}');
    await eventually(async () => expect(await written()).to.be.at.least(count), { withinMs: 240_000 });
    const cpu = () => metric(controller, 'process_cpu_seconds_total');
    const cpuBefore = await cpu();
    const [changes, perSecond] = [3_000, 50];
    const wanted = new Map<string, string>();
    const toTrafficMs: number[] = [];
    const change = async (n: number): Promise<void> => {
      const route = (n * 7_919) % count;
      wanted.set(`httproute:many:route-${route}:0:0:0`, `${n}.example`);
      await bed.redirect(namespace, `route-${route}`, 'web', `/p${route}`, `${n}.example`);
      if (n % perSecond !== 0) return;
      const at = performance.now();
      const expected = `http://${n}.example/p${route}`;
      await eventually(async () => expect(await location(address, `/p${route}`)).to.equal(expected));
      toTrafficMs.push(performance.now() - at);
    };
    const begunAt = performance.now();
    const running: Promise<void>[] = [];
    for (let n = 0; n < changes; n++) {
      running.push(change(n));
      await settle(Math.max(0, begunAt + ((n + 1) * 1_000) / perSecond - performance.now()));
    }
    await Promise.all(running);
    const api = apiClient(bed.sluice?.url ?? '');
    for (const [id, host] of wanted) {
      const { body } = await api.get<{ redirect: { host: string } }>(`/routes/${id}`);
      expect(body.redirect.host).to.equal(host);
    }
    const cpuMs = (((await cpu()) - cpuBefore) * 1_000) / changes;
    const memoryMb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${controller.pid}/status`, 'utf8'))?.[1]) / 1_000;
    console.log(
      `      ${count} routes: first sync ${(syncMs / 1_000).toFixed(1)} s, peak ${memoryMb.toFixed(0)} MB; a change: ` +
        `${median(toTrafficMs).toFixed(0)} ms to traffic (at most ${Math.max(...toTrafficMs).toFixed(0)}), ` +
        `${cpuMs.toFixed(1)} ms of CPU`,
    );
    expect(syncMs).to.be.at.most(30_000);
    expect(memoryMb).to.be.at.most(300);
    expect(cpuMs).to.be.at.most(10);
    expect(median(toTrafficMs)).to.be.at.most(1_000);
  });
});
