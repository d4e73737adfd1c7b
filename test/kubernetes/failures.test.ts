// Failures of what the controller stands between: an API server that is restored from a backup, kinds that it may not list,
// and a cluster of Sluice whose leader is killed in the middle of a batch.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { ClusterBed, gateways, location, readiness, routes, type StatusOf, settle } from './cluster-bed.ts';
import { startRelay } from './relay.ts';

const run = promisify(execFile);
const controlPlane = (command: string) => run(join(import.meta.dirname, 'cluster/control-plane.sh'), [command]);

/** Rules that let a controller do all but list some kinds of the Gateway API. */
const allBut = (...left: readonly string[]) => {
  const kinds = ['gatewayclasses', 'gateways', 'listenersets', 'httproutes', 'grpcroutes', 'tlsroutes', 'tcproutes'];
  const all = [...kinds, 'backendtlspolicies', 'referencegrants'];
  const resources = all.filter((each) => !left.includes(each));
  return [
    { apiGroups: ['gateway.networking.k8s.io'], resources, verbs: ['list', 'watch'] },
    { apiGroups: ['gateway.networking.k8s.io'], resources: all.map((each) => `${each}/status`), verbs: ['patch'] },
    { apiGroups: ['', 'discovery.k8s.io', 'sluice.dev'], resources: ['*'], verbs: ['*'] },
  ];
};

describe('the controller and failures around it', function () {
  this.timeout(300_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
  });
  afterEach(() => bed?.close());

  it('goes back with an API server that is restored from a backup, and serves meanwhile', async () => {
    await bed.startSluice();
    await bed.gatewayClass('past');
    const namespace = await bed.namespace('past');
    await bed.gateway(namespace, 'web', 'past');
    await bed.redirect(namespace, 'root', 'web', '/', 'before.example');
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://before.example/'));
    await controlPlane('back-up');
    const change = () => bed.redirect(namespace, 'root', 'web', '/', 'after.example');
    await eventually(change);
    await bed.redirect(namespace, 'new', 'web', '/new', 'new.example');
    await bed.gateway(namespace, 'late', 'past');
    const late = await bed.addressOf(namespace, 'late');
    await eventually(async () => expect(await location(address, '/new')).to.equal('http://new.example/new'));
    expect(await location(address)).to.equal('http://after.example/');
    const seen = new Set<string | null>();
    let isOver = false;
    const client = (async () => {
      for (; !isOver; await settle(20)) seen.add(await location(address).catch(({ message }) => message));
    })();
    await controlPlane('restore');
    // The restored API gives the versions out anew that the controller has seen.
    for (let n = 0; n < 100; n++) await bed.redirect(namespace, `filler-${n}`, 'web', `/filler-${n}`, 'f.example');
    await eventually(async () => expect(await location(address)).to.equal('http://before.example/'));
    await eventually(async () => expect(await location(address, '/new')).to.equal('http://before.example/new'));
    await eventually(async () => {
      const answer = await location(late).catch(() => 'closed');
      expect(answer, 'a Gateway that is gone').to.equal('closed');
    });
    isOver = true;
    await client;
    expect([...seen]).to.have.members(['http://after.example/', 'http://before.example/']);
    await eventually(async () => {
      const { status, metadata } = await bed.api.get<StatusOf>(`${routes(namespace)}/root`);
      const conditions = status?.parents?.[0]?.conditions ?? [];
      expect(conditions.map(({ observedGeneration }) => observedGeneration)).to.deep.equal([
        metadata.generation,
        metadata.generation,
      ]);
    });
    await bed.redirect(namespace, 'root', 'web', '/', 'again.example');
    await eventually(async () => expect(await location(address)).to.equal('http://again.example/'));
  });

  it('deletes nothing while one kind may not be listed, and goes on when it may', async () => {
    await bed.startSluice();
    await bed.gatewayClass('partly');
    const namespace = await bed.namespace('partly');
    await bed.gateway(namespace, 'web', 'partly');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    const kubeconfig = await bed.accountWith(namespace, 'controller', allBut());
    const first = await bed.startController({ kubeconfig });
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    await first.stop();
    await bed.grant(namespace, 'controller', allBut('httproutes'));
    await bed.api.merge(`${gateways(namespace)}/web`, {
      spec: { listeners: [{ name: 'http', port: 8081, protocol: 'HTTP' }] },
    });
    // The right is gone once the API server has taken it in.
    const second = await eventually(async () => {
      const controller = await bed.startController({ kubeconfig });
      await eventually(async () => {
        const { status, body } = await readiness(controller.adminUrl);
        if (status === 503 && body.losses.some(({ kind }) => kind === 'HTTPRoute')) return;
        if (status === 200) await controller.stop('SIGKILL');
        throw new Error(`status ${status}`);
      });
      return controller;
    });
    await settle(1_000);
    expect(await location(address)).to.equal('http://a.example/');
    expect((await readiness(second.adminUrl)).status).to.equal(503);
    await bed.grant(namespace, 'controller', allBut());
    await eventually(async () => expect(await location(`${address}:8081`)).to.match(/^http:\/\/a\.example(:8081)?\/$/));
    expect((await readiness(second.adminUrl)).status).to.equal(200);
  });

  for (const moment of ['request', 'answer'] as const)
    it(`has all of a batch in Sluice when its leader is killed during the ${moment}`, async () => {
      const cluster = await NodeCluster.start();
      bed.atEnd(() => void cluster.stop());
      const leader = await cluster.leader();
      const survivors = cluster.nodes.filter((node) => node !== leader);
      // Far more than the first batches, which begin a term.
      const largeBytes = 200_000;
      let received = 0;
      let isKilled = false;
      const kill = (): void => {
        if (!isKilled) leader.process?.child.kill('SIGKILL');
        isKilled = true;
      };
      const relay = await startRelay(leader.ports.api, {
        onRequest: (bytes) => {
          received += bytes.length;
          if (moment === 'request' && received > largeBytes) kill();
        },
        onAnswer: () => {
          if (moment === 'answer' && received > largeBytes) kill();
          return !isKilled;
        },
      });
      bed.atEnd(() => relay.close());
      await bed.gatewayClass(`kill-${moment}`);
      const namespace = await bed.namespace(`kill-${moment}`);
      await bed.gateway(namespace, 'web', `kill-${moment}`);
      const count = 1_000;
      for (let from = 0; from < count; from += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            bed.redirect(namespace, `r${from + n}`, 'web', `/p${from + n}`, 'a.example'),
          ),
        );
      const urls = survivors.map(({ url }) => url);
      await bed.startController({ sluiceUrls: [`http://127.0.0.1:${relay.port}`, ...urls] });
      await eventually(() => expect(isKilled).to.equal(true));
      await bed.addressOf(namespace, 'web');
      for (const { api, proxyAddress } of survivors) {
        const { body } = await api.get<{ id: string }[]>('/routes?limit=10000');
        const own = body.filter(({ id }) => id.startsWith(`httproute:${namespace}:`));
        expect(own).to.have.length(count);
        for (const n of [0, count - 1])
          await eventually(async () =>
            expect(await location(proxyAddress, `/p${n}`)).to.equal(`http://a.example/p${n}`),
          );
      }
      await bed.api.delete(`${routes(namespace)}/r0`);
      for (const { proxyAddress } of survivors)
        await eventually(async () => expect(await location(proxyAddress, '/p0')).to.equal(null));
    });
});
