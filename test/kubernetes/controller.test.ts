// The controller against a real API server, in the cluster of cluster/start.sh (`npm run test:kubernetes`).
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { ClusterBed, gateways, location, readiness, routes, type StatusOf, settle } from './cluster-bed.ts';

describe('the controller in a cluster', function () {
  this.timeout(240_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
    await bed.startSluice();
  });
  afterEach(() => bed?.close());

  /** Number of activations so far. */
  const activations = async (): Promise<number> => {
    const { body } = await apiClient(bed.sluice?.url ?? '').get<unknown[]>('/activations?limit=1000');
    return body.length;
  };

  it('deletes from Sluice what is deleted from the cluster, and nothing else', async () => {
    const api = apiClient(bed.sluice?.url ?? '');
    await api.create('routes', { id: 'mine', name: 'mine', directResponse: { status: 200 } });
    await bed.gatewayClass('prune');
    const namespace = await bed.namespace('prune');
    await bed.gateway(namespace, 'web', 'prune');
    await bed.redirect(namespace, 'a', 'web', '/a', 'a.example');
    await bed.redirect(namespace, 'b', 'web', '/b', 'b.example');
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address, '/b')).to.equal('http://b.example/b'));
    await bed.api.delete(`${routes(namespace)}/b`);
    await eventually(async () => expect(await location(address, '/b')).to.equal(null));
    expect(await location(address, '/a')).to.equal('http://a.example/a');
    const { body } = await api.get<{ id: string }[]>('/routes');
    expect(body.map(({ id }) => id).sort()).to.deep.equal(['httproute:prune:a:0:0:0', 'mine']);
    expect((await fetch(`http://${address}/mine`)).status, 'edits of others are not published').to.equal(404);
  });

  it('has a standby that answers its probes, and takes over when the leader is killed', async () => {
    await bed.gatewayClass('lead');
    const namespace = await bed.namespace('lead');
    await bed.gateway(namespace, 'web', 'lead');
    const first = await bed.startController({ name: 'first', elects: true });
    const address = await bed.addressOf(namespace, 'web');
    const second = await bed.startController({ name: 'second', elects: true });
    await eventually(async () => expect((await readiness(second.adminUrl)).status).to.equal(200));
    const leads = async (url: string) =>
      /^sluice_controller_leader (\d)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    expect([await leads(first.adminUrl), await leads(second.adminUrl)]).to.deep.equal(['1', '0']);
    await first.stop('SIGKILL');
    await bed.redirect(namespace, 'a', 'web', '/', 'after.example');
    await eventually(async () => expect(await location(address)).to.equal('http://after.example/'));
    expect(await leads(second.adminUrl)).to.equal('1');
  });

  it('changes nothing that is live when it is restarted', async () => {
    await bed.gatewayClass('again');
    const namespace = await bed.namespace('again');
    await bed.gateway(namespace, 'web', 'again');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    const first = await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    const before = await activations();
    const version = async () => (await bed.api.get<StatusOf>(`${gateways(namespace)}/web`)).metadata.resourceVersion;
    const stored = await version();
    await first.stop();
    const second = await bed.startController();
    await eventually(async () => expect((await readiness(second.adminUrl)).status).to.equal(200));
    // A change shows that it is at work.
    await bed.redirect(namespace, 'b', 'web', '/b', 'b.example');
    await eventually(async () => expect(await location(address, '/b')).to.equal('http://b.example/b'));
    expect(await activations()).to.equal(before + 1);
    expect(await bed.addressOf(namespace, 'web')).to.equal(address);
    await bed.api.delete(`${routes(namespace)}/b`);
    await eventually(async () => expect(await location(address, '/b')).to.equal('http://a.example/b'));
    expect(Number(await version())).to.be.at.least(Number(stored));
  });

  it('does not fight over statuses with a controller of another class, nor writes when nothing changes', async () => {
    await bed.gatewayClass('one', 'sluice.dev/one');
    await bed.gatewayClass('two', 'sluice.dev/two');
    const namespace = await bed.namespace('peace');
    await bed.gateway(namespace, 'web-one', 'one');
    await bed.gateway(namespace, 'web-two', 'two');
    await bed.gateway(namespace, 'foreign', 'unknown');
    await bed.startController({ name: 'one', controllerName: 'sluice.dev/one', owner: 'one', pool: '10.250.8.0/24' });
    await bed.startController({ name: 'two', controllerName: 'sluice.dev/two', owner: 'two', pool: '10.250.9.0/24' });
    const route = { parentRefs: [{ name: 'web-one' }, { name: 'web-two' }, { name: 'foreign' }], rules: [{}] };
    await bed.put(routes(namespace), {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'both', namespace },
      spec: route,
    });
    const addresses = await Promise.all(['web-one', 'web-two'].map((name) => bed.addressOf(namespace, name)));
    // A rule without backends answers 500 on the Gateways of both.
    for (const address of addresses)
      await eventually(async () => expect((await fetch(`http://${address}/`)).status).to.equal(500));
    const read = () => bed.api.get<StatusOf>(`${routes(namespace)}/both`);
    await eventually(async () => {
      const parents = (await read()).status?.parents ?? [];
      expect(parents.map(({ controllerName }) => controllerName).sort()).to.deep.equal([
        'sluice.dev/one',
        'sluice.dev/two',
      ]);
    });
    const versions = async () =>
      Promise.all(
        [`${routes(namespace)}/both`, `${gateways(namespace)}/web-one`, `${gateways(namespace)}/web-two`].map(
          async (path) => (await bed.api.get<StatusOf>(path)).metadata.resourceVersion,
        ),
      );
    const [before, live] = [await versions(), await activations()];
    await settle(3_000);
    expect(await versions()).to.deep.equal(before);
    expect(await activations()).to.equal(live);
    const { status } = await bed.api.get<StatusOf>(`${gateways(namespace)}/foreign`);
    expect((status?.conditions ?? []).every(({ reason }) => reason === 'Pending')).to.equal(true);
  });

  it('overwrites what a person edits of its entities, with the next change', async () => {
    const api = apiClient(bed.sluice?.url ?? '');
    await bed.gatewayClass('edit');
    const namespace = await bed.namespace('edit');
    await bed.gateway(namespace, 'web', 'edit');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    const { body } = await api.get<{ redirect: object }>('/routes/httproute:edit:a:0:0:0');
    await api.put('/routes/httproute:edit:a:0:0:0?override=true', { ...body, redirect: { host: 'evil.example' } });
    await bed.redirect(namespace, 'a', 'web', '/', 'b.example');
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
  });

  it('serves on while the API server is away, and catches up', async () => {
    const relay = await bed.relayToApi();
    await bed.gatewayClass('away');
    const namespace = await bed.namespace('away');
    await bed.gateway(namespace, 'web', 'away');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    const controller = await bed.startController({ kubeconfig: relay.kubeconfig });
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    const before = await activations();
    relay.cut();
    await eventually(async () => expect((await readiness(controller.adminUrl)).body.losses).to.not.deep.equal([]));
    await bed.redirect(namespace, 'a', 'web', '/', 'b.example');
    await settle(1_000);
    expect(await location(address)).to.equal('http://a.example/');
    expect(await activations()).to.equal(before);
    relay.mend();
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
    expect((await readiness(controller.adminUrl)).status).to.equal(200);
  });

  it('writes nothing where it may not list, and names the kinds', async () => {
    const namespace = await bed.namespace('rights');
    const kubeconfig = await bed.accountWith(namespace, 'poor', []);
    const controller = await bed.startController({ kubeconfig });
    await eventually(async () => {
      const { status: code, body } = await readiness(controller.adminUrl);
      expect(code).to.equal(503);
      expect(body.losses.map(({ kind }) => kind)).to.include.members(['Gateway', 'HTTPRoute', 'Service']);
    });
    expect(await activations()).to.equal(0);
  });

  it('serves a Gateway on another port within a second of its change', async () => {
    await bed.gatewayClass('port');
    const namespace = await bed.namespace('port');
    await bed.gateway(namespace, 'web', 'port');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    for (const port of [8081, 8082, 80]) {
      await bed.api.merge(`${gateways(namespace)}/web`, {
        spec: { listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
      });
      await eventually(async () => {
        expect(await location(`${address}:${port}`)).to.match(/^http:\/\/a\.example(:\d+)?\/$/);
      });
    }
  });

  it('makes the Service of a Gateway again when it is deleted', async () => {
    await bed.gatewayClass('service');
    const namespace = await bed.namespace('service');
    await bed.gateway(namespace, 'web', 'service');
    await bed.startController();
    await bed.addressOf(namespace, 'web');
    const path = `/api/v1/namespaces/${namespace}/services/web-sluice`;
    const uid = async () => (await bed.api.get(path)).metadata.uid;
    const before = await eventually(uid);
    await bed.api.delete(path);
    await eventually(async () => expect(await uid()).to.not.equal(before));
  });
});
