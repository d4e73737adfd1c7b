// Heads of the PROXY protocol on many connections at once at a real process: whole ones, partial ones that wait, and forged
// ones from strangers. PROXY_CONNECTIONS says how many; `ulimit -n` of the process has to allow them.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const count = Number(process.env.PROXY_CONNECTIONS ?? 1600);
/** Connections that are made at a time: fewer than wait in the system. */
const batch = 100;

const text = Buffer.from('PROXY TCP4 192.0.2.9 198.51.100.1 4711 443\r\n');
const binary = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000209c6336401126701bb', 'hex');
const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');

const kinds = ['text', 'binary', 'partial', 'stranger'] as const;

interface Client {
  readonly kind: (typeof kinds)[number];
  readonly socket: Socket;
  received: string;
  isClosed: boolean;
}

/** Trusted clients come from 127.0.0.1, strangers from another address. */
function opened(kind: Client['kind'], port: number): Client {
  const localAddress = kind === 'stranger' ? '127.0.0.2' : '127.0.0.1';
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  const client: Client = { kind, socket, received: '', isClosed: false };
  socket.on('data', (bytes: Buffer) => {
    client.received += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    client.isClosed = true;
  });
  const head = kind === 'binary' ? binary : text;
  socket.write(kind === 'partial' ? binary.subarray(0, 20) : Buffer.concat([head, request]));
  return client;
}

describe(`heads of the PROXY protocol on ${count} connections`, function () {
  this.timeout(300_000);
  let sluice: SluiceProcess;
  const clients: Client[] = [];

  before(async () => {
    sluice = await startSluice({ more: 'proxy: { workers: 2 }' });
  });
  after(async () => {
    for (const { socket } of clients) socket.destroy();
    await sluice.stop();
  });

  const connections = async (): Promise<number> => {
    const { text: metrics } = await call(sluice.url, 'GET', '/metrics');
    return Number(/^sluice_client_connections (\d+)$/m.exec(metrics)?.[1]);
  };

  it('serve each client that a trusted proxy names, while partial heads wait and strangers are closed', async () => {
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', {
      id: 'l',
      name: 'l',
      address: '127.0.0.1',
      port,
      proxyProtocol: 'required',
      trustedProxies: ['127.0.0.1'],
      timeouts: { clientHeader: '5m', idleBetweenRequests: '5m' },
    });
    const cel = 'cidr("192.0.2.0/24").containsIP(request.clientIp)';
    await api.create('routes', { id: 'a', name: 'a', match: { cel }, directResponse: { status: 200, body: 'named' } });
    await api.create('routes', { id: 'b', name: 'b', directResponse: { status: 403, body: 'another address' } });
    await api.activateAs('v1');
    await eventually(async () => {
      const probe = connect(port, '127.0.0.1');
      await once(probe, 'connect');
      probe.destroy();
    });
    for (let at = 0; at < count; at += batch) {
      const made = Array.from({ length: batch }, (_, of) => opened(kinds[(at + of) % kinds.length] ?? 'text', port));
      clients.push(...made);
      await eventually(() => expect(made.filter(({ socket, isClosed }) => socket.connecting && !isClosed)).to.be.empty);
    }
    const of = (...wanted: readonly Client['kind'][]) => clients.filter(({ kind }) => wanted.includes(kind));
    const served = ({ received }: Client): boolean => /^HTTP\/1\.1 200 .*named$/s.test(received);
    await eventually(() => expect(of('text', 'binary').filter((each) => !served(each))).to.be.empty);
    await eventually(() => expect(of('stranger').filter(({ isClosed }) => !isClosed)).to.be.empty);
    expect(of('stranger').filter(({ received }) => received !== '')).to.be.empty;
    // All others are open at once.
    await eventually(async () => expect(await connections()).to.equal(of('text', 'binary', 'partial').length));
    expect(of('partial').filter(({ received, isClosed }) => isClosed || received !== '')).to.be.empty;

    for (const [at, { socket }] of of('partial').entries())
      if (at % 2 === 0) socket.write(Buffer.concat([binary.subarray(20), request]));
      else socket.destroy();
    const completed = of('partial').filter((_, at) => at % 2 === 0);
    await eventually(() => expect(completed.filter((each) => !served(each))).to.be.empty);
    for (const { socket } of clients) socket.destroy();
    await eventually(async () => expect(await connections()).to.equal(0));
  });
});
