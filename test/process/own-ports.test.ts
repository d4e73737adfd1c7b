// A listener that asks for a port of the process itself: the API, raft and the admin port keep theirs, at every start
// (contract.md §2.2, architecture.md §9).
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { launchProxy } from '../support/proxy-process.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

interface Closed {
  readonly name: string;
  readonly id: string;
  readonly state: string;
  readonly reason: string;
}

describe('a listener on a port of the node itself', () => {
  const folder = newFolder();
  let sluice: SluiceProcess;
  let api: ApiClient;
  let apiPort: number;
  let raftPort: number;
  let open: number;

  before(async () => {
    [apiPort, raftPort, open] = [await freePort(), await freePort(), await freePort()];
    await start();
    const listener = (id: string, port: number, address: string) =>
      api.create('listeners', { id, name: id, address, port });
    await listener('api', apiPort, '0.0.0.0');
    await listener('raft', raftPort, '::');
    await listener('web', open, '127.0.0.1');
    await api.create('routes', { name: 'all', directResponse: { status: 200, body: 'served' } });
  });

  after(() => sluice.stop());

  const start = async (proxy = 'workers: 2') => {
    sluice = await startSluice({
      folder,
      port: apiPort,
      controlPlane:
        `  raft:\n    nodeId: a\n    bindAddress: 127.0.0.1:${raftPort}\n` +
        `    peers: ["a=127.0.0.1:${raftPort}"]\n    clusterToken: ${'t'.repeat(32)}\n`,
      more: `proxy: { ${proxy} }`,
    });
    api = apiClient(sluice.url);
  };
  const served = () =>
    eventually(async () => expect(await (await fetch(`http://127.0.0.1:${open}/`)).text()).to.equal('served'));

  it('is refused by a strict capture, which says whose port it is', async () => {
    const { status, body } = await api.post('/snapshots?strict=true', { name: 'strict' });
    expect(status).to.equal(400);
    const text = JSON.stringify(body);
    expect(text).to.contain('/listeners/api/port is the port of the API (controlPlane.address) of this node');
    expect(text).to.contain('/listeners/raft/port is the port of raft (controlPlane.raft.bindAddress) of this node');
    expect(text).not.to.contain('/listeners/web');
  });

  it('is named by warnings of capture and activation, and never opens', async () => {
    const { status, body } = await api.post<{ id: string; warnings: { pointer: string }[] }>('/snapshots', {
      name: 'v1',
    });
    expect(status).to.equal(201);
    expect(body.warnings.map(({ pointer }) => pointer)).to.have.members([
      '/listeners/api/port',
      '/listeners/raft/port',
    ]);
    const { headers } = await api.post(`/snapshots/${body.id}/activate`);
    expect(headers.get('warning')).to.contain(`listener api does not listen on 0.0.0.0:${apiPort}: the API`);
    await served();
    await eventually(async () => {
      const { body: fleet } = await api.get<{ proxies: { listeners: Closed[] }[] }>('/fleet');
      const closed = fleet.proxies[0]?.listeners.filter(({ state }) => state !== 'open') ?? [];
      expect(closed.map(({ id }) => id)).to.have.members(['api', 'raft']);
      for (const { state, reason } of closed) {
        expect(state).to.equal('failed');
        expect(reason).to.match(/of this process has this port/);
      }
    });
  });

  it('does not keep a node with it in the store from starting, nor from listening where it did', async () => {
    expect(await sluice.stop()).to.equal(0);
    await start();
    expect((await api.get('/listeners/api')).status).to.equal(200);
    await served();
    await sluice.stop('SIGKILL');
    await start();
    await served();
  });

  it('is not opened on the admin port of a proxy of its own', async () => {
    const adminPort = await freePort();
    await api.delete('/listeners/web');
    await api.create('listeners', { id: 'admin', name: 'admin', address: '0.0.0.0', port: adminPort });
    await api.activateAs('v2');
    await sluice.stop();
    // The node's own proxy leaves the port to the other, whose store has the listener already at its second start.
    await start('workers: 1, bindAddress: 127.0.0.9');
    const ownFolder = newFolder();
    const launch = () =>
      launchProxy({ folder: ownFolder, controlPlanes: [sluice.url], admin: `127.0.0.1:${adminPort}` });
    for (let times = 0; times < 2; times++) {
      const proxy = launch();
      const page = await proxy.ready();
      const closed = page.closedListeners as readonly Closed[];
      const reason = closed.find(({ name }) => name === 'admin')?.reason;
      expect(reason).to.equal('the admin port (proxy.admin.address) of this process has this port');
      expect(await proxy.stop()).to.equal(0);
    }
  });
});
