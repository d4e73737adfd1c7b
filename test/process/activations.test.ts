// Decision 15, on a real process with two workers: activations one after the other while 64 clients ask on connections
// they keep, 50 WebSockets talk and 10 downloads drip. 60 in `npm test`, 1,000 in `npm run test:faults`.
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Load, startLoad } from '../support/load.ts';
import { Chat, CountingBackend, Drip } from '../support/long-lived.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const activations = Number(process.env.SLUICE_ACTIVATIONS ?? 60);
const clients = 64;
const sockets = 50;
const downloads = 10;

describe(`${activations} activations`, function () {
  this.timeout(60_000 + activations * 500);
  const backend = new CountingBackend(clients);
  let sluice: SluiceProcess;
  let api: ApiClient;
  let site: string;
  let load: Load;
  let chats: Chat[];
  let drips: Drip[];

  before(async () => {
    const upstreamPort = await backend.start();
    sluice = await startSluice({ more: 'proxy: { workers: 2 }' });
    api = apiClient(sluice.url);
    const port = await freePort();
    site = `http://127.0.0.1:${port}`;
    // Nothing is to end for having been idle.
    const timeouts = { idleBetweenRequests: '1h' };
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port, timeouts });
    const options = { timeouts: { idleConnection: '1h' } };
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort, options });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
  });

  after(async () => {
    await load.stop();
    for (const { socket } of chats) socket.close();
    for (const drip of drips) drip.stop();
    await sluice.stop();
    backend.stop();
  });

  it(`fail none of the requests of ${clients} clients, end none of ${sockets} WebSockets and ${downloads} downloads, and open and close no upstream connection`, async () => {
    const snapshots = await twoSnapshots(api);
    chats = await Promise.all(Array.from({ length: sockets }, () => Chat.begin(site)));
    drips = await Promise.all(Array.from({ length: downloads }, () => Drip.begin(site)));
    load = startLoad(`${site}/`, 'ok', { clients });
    await eventually(() => expect(load.served).to.be.greaterThan(clients));
    const before = backend.connections;
    expect(before).to.deep.equal({ opened: clients + sockets + downloads, closed: 0 });
    const { served } = load;

    for (let number = 1; number <= activations; number++) {
      const { status, headers } = await api.post(`/snapshots/${snapshots[number % 2]}/activate`);
      expect([status, headers.get('x-sluice-installed')]).to.deep.equal([200, '2/2']);
      if (number % 20 === 0) await Promise.all(chats.map((chat) => chat.says(`after activation ${number}`)));
    }

    expect(load.served - served).to.be.greaterThan(activations);
    expect(load.failed).to.deep.equal([]);
    await Promise.all(chats.map((chat) => chat.says('still here')));
    expect(chats.filter(({ over }) => over)).to.have.length(0);
    await Promise.all(drips.map((drip) => drip.goesOn()));
    expect(backend.connections).to.deep.equal(before);
  });
});

/** The second has other routes, and other settings of the listener; the first is live. */
async function twoSnapshots(api: ApiClient): Promise<readonly [string, string]> {
  const first = await api.activateAs('first');
  for (let number = 0; number < 100; number++) {
    const match = { pathRegex: `/item-${number}/[a-z]+(/\\d+)*` };
    await api.create('routes', { name: `item ${number}`, match, directResponse: { status: 200 } });
  }
  const { body } = await api.get<Record<string, unknown>>('/listeners/web');
  const { status } = await api.put('/listeners/web', { ...body, serverName: 'second' });
  expect(status).to.equal(200);
  return [first, await api.create('snapshots', { name: 'second' })];
}
