// Activation is invisible to traffic: nothing fails, no stream closes, no upstream connection is opened or closed for it.
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, type RawClient } from '../../support/proxy-bed.ts';

describe('sixty activations', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  // So many at once that the upstream has as many connections as it can ever need before the first activation.
  const clientsMax = 16;

  it('under load fail no request, close no stream and open no upstream connection', async () => {
    const first: Socket[] = [];
    const ok = (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const upstream = await bed.rawUpstream((socket, request) => {
      if (request.startsWith('GET /chat')) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.removeAllListeners('data').on('data', (chunk) => socket.write(chunk));
      } else if (request.startsWith('GET /slow')) {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const drip = setInterval(() => socket.write('1\r\nx\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      } else if (first.length === clientsMax) ok(socket);
      else if (first.push(socket) === clientsMax) for (const waiting of first) ok(waiting);
    });
    let index = 0;
    const activate = () => bed.install(forwarding(port, upstream.port, { route: { name: `r${index++}` } }));
    await activate();

    const tunnels = await opened(8, '/chat', 'Connection: Upgrade\r\nUpgrade: websocket\r\n', /101/);
    const downloads = await opened(4, '/slow', '', /200/);
    let active = true;
    let served = 0;
    const clients = Array.from({ length: clientsMax }, async () => {
      const wire = bed.wire(port);
      for (let asked = 1; active; asked++) {
        wire.received = '';
        wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await wire.until(/ok$/);
        served = Math.max(served, asked);
      }
      return wire.closed;
    });
    await eventually(() => expect(served).to.be.greaterThan(3));
    const connections = upstream.connections;
    for (let i = 0; i < 60; i++) await activate();
    active = false;
    expect(await Promise.all(clients)).not.to.include(true);
    expect(upstream.connections).to.equal(connections);
    for (const wire of tunnels) {
      wire.received = '';
      wire.send('still here');
      await wire.until(/still here/);
    }
    for (const wire of downloads) {
      const { length } = wire.received;
      await eventually(() => expect(wire.received.length).to.be.greaterThan(length));
      expect(wire.closed).to.equal(false);
    }
  });

  const opened = async (count: number, path: string, fields: string, answer: RegExp): Promise<RawClient[]> => {
    const wires = Array.from({ length: count }, () => bed.wire(port));
    for (const wire of wires) {
      wire.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`);
      await wire.until(answer);
    }
    return wires;
  };
});
