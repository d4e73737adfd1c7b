// A port that another process has: the answer of the activation names it, the log once, and it opens as soon as it can.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('a listener whose port is taken', () => {
  const folder = newFolder();
  let sluice: SluiceProcess;
  let api: ApiClient;
  let stranger: Server;
  let port: number;
  let snapshot: string;

  before(async () => {
    port = await freePort();
    stranger = await occupied();
    await start();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', { name: 'all', directResponse: { status: 200, body: 'served' } });
    snapshot = await api.create('snapshots', { name: 'v1' });
  });

  after(async () => {
    stranger.close();
    await sluice.stop();
  });

  const start = async () => {
    sluice = await startSluice({ folder, more: 'proxy: { workers: 2 }' });
    api = apiClient(sluice.url);
  };
  const occupied = async () => {
    const server = createServer((socket) => void socket.destroy()).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const freed = async () => {
    stranger.close();
    await once(stranger, 'close');
  };
  const activate = async () => (await api.post(`/snapshots/${snapshot}/activate`)).headers;
  const served = () =>
    eventually(async () => expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('served'));
  const lines = (message: string) => sluice.output.filter((line) => line.includes(message));

  it('is named in the answer of each activation, and in one line of the log', async () => {
    for (let times = 0; times < 3; times++) {
      const headers = await activate();
      expect(headers.get('x-sluice-installed')).to.equal('2/2');
      const about = `listener web does not listen on 127.0.0.1:${port}: listen EADDRINUSE`;
      expect(headers.get('warning')).to.contain(about);
    }
    await eventually(() => expect(lines('a listener cannot open and is tried again')).to.have.length(1));
  });

  it('opens without another activation when the port is free, and says so once', async () => {
    await freed();
    await served();
    await eventually(() => expect(lines('a listener is open now')).to.have.length(1));
    expect((await activate()).get('warning')).to.equal(null);
  });

  it('opens after a start too that found it taken', async () => {
    await sluice.stop();
    stranger = await occupied();
    await start();
    expect(lines('a listener cannot open and is tried again')).to.have.length(1);
    await freed();
    await served();
  });
});
