// Listeners of protocol tcp served by two workers: metrics, access logs, and connections that outlive activations.
import { mkdtempSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { makeHello } from '../../support/client-hello.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed } from '../../support/proxy-bed.ts';
import { StreamUpstream } from '../../support/stream-upstream.ts';

describe('listeners of protocol tcp in workers', () => {
  let bed: ProxyBed;
  let upstream: StreamUpstream;
  let port: number;
  let metricsPort: number;

  beforeEach(async () => {
    metricsPort = await freePort();
    bed = new ProxyBed({ workers: 2, metricsAddress: { host: '127.0.0.1', port: metricsPort } });
    upstream = new StreamUpstream('up', { greets: false, echoes: true });
    await upstream.listen();
    port = await freePort();
  });

  afterEach(async () => {
    await bed.end();
    await upstream.close();
  });

  const configuration = (more: Partial<Configuration> = {}, route: object = {}): Partial<Configuration> => ({
    listeners: [{ id: 'l', name: 'l', port, protocol: 'tcp', tls: { mode: 'passthrough' }, metrics: {} }],
    destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port }],
    streamRoutes: [
      {
        id: 's',
        name: 'to-up',
        match: { sni: ['up.test'] },
        forward: { destinations: [{ destinationId: 'd' }] },
        ...route,
      },
    ],
    ...more,
  });

  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

  it('drop none of 1,000 connections while 30 activations change routes, destinations and the listener', async () => {
    await bed.install(configuration());
    const count = 1_000;
    const hello = makeHello({ serverName: 'up.test' });
    const clients: { readonly socket: Socket; bytes: number; failed: boolean }[] = [];
    for (let made = 0; made < count; made += 100) {
      for (let at = 0; at < 100; at++) {
        const client = { socket: connect({ port, host: '127.0.0.1' }), bytes: 0, failed: false };
        client.socket.on('data', (chunk: Buffer) => {
          client.bytes += chunk.length;
        });
        client.socket.on('error', () => {
          client.failed = true;
        });
        client.socket.on('close', () => {
          client.failed = true;
        });
        client.socket.write(hello);
        clients.push(client);
      }
      const slice = clients.slice(made);
      await eventually(() => expect(slice.every(({ bytes }) => bytes === hello.length)).to.equal(true));
    }
    let sent = hello.length;
    for (let round = 0; round < 30; round++) {
      const listener = { id: 'l', name: `l${round}`, port, protocol: 'tcp' as const, metrics: {} };
      const tls = { mode: 'passthrough' as const };
      const more =
        round % 3 === 0
          ? { streamRoutes: [] }
          : round % 3 === 1
            ? { listeners: [{ ...listener, tls, maxConnections: 5_000 }], destinations: [] }
            : { listeners: [{ ...listener, id: 'other', tls }] };
      await bed.install(configuration(more));
      for (const { socket } of clients) socket.write('x');
      sent += 1;
    }
    await eventually(() => expect(clients.filter(({ bytes }) => bytes !== sent)).to.have.length(0));
    expect(clients.filter(({ failed }) => failed)).to.have.length(0);
    for (const { socket } of clients) socket.destroy();
    await eventually(() => expect(bed.proxy.clients().connections).to.equal(0));
  });

  it('count connections, bytes and results by stream route and by destination', async () => {
    await bed.install(configuration());
    const hello = makeHello({ serverName: 'up.test' });
    const open = bed.wire(port);
    open.socket.write(hello);
    await eventually(() => expect(open.received).to.have.length(hello.length));
    await eventually(async () => {
      const text = await scrape();
      expect(text).to.include('sluice_stream_active_connections{listener="l",stream_route="to-up"} 1');
      expect(text).to.include(`sluice_stream_received_bytes_total{listener="l",stream_route="to-up"} ${hello.length}`);
      expect(text).to.include(`sluice_stream_sent_bytes_total{listener="l",stream_route="to-up"} ${hello.length}`);
      expect(text).to.include('sluice_stream_destination_active_connections{listener="l",destination="d"} 1');
    });
    open.socket.end();
    await open.untilClosed();
    const stranger = bed.wire(port);
    stranger.socket.write(makeHello({ serverName: 'other.test' }));
    await stranger.untilClosed();
    await bed.install(configuration({ destinations: [] }));
    const lost = bed.wire(port);
    lost.socket.write(hello);
    await lost.untilClosed();
    await eventually(async () => {
      const text = await scrape();
      for (const line of [
        'sluice_stream_active_connections{listener="l",stream_route="to-up"} 0',
        'sluice_stream_connections_total{listener="l",stream_route="to-up",result="ok"} 1',
        'sluice_stream_connections_total{listener="l",stream_route="to-up",result="no_destination"} 1',
        'sluice_stream_connections_total{listener="l",stream_route="",result="no_route"} 1',
        'sluice_stream_destination_connections_total{listener="l",destination="d",result="ok"} 1',
        'sluice_stream_destination_active_connections{listener="l",destination="d"} 0',
        'sluice_stream_duration_seconds_count{listener="l",stream_route="to-up"} 2',
      ])
        expect(text).to.include(line);
      expect(text).to.match(/sluice_listener_tls_handshake_errors_total\{listener="l",address="[^"]*"\} 1/);
    });
  });

  it('write the lines of their access logs when a connection is routed and when it has ended', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'tcp.log');
    const fields = {
      client: '${request.clientIp}',
      sni: '${tls.sni}',
      route: '${route.name}',
      destination: '${destination.id}',
      endpoint: '${endpoint}',
      received: '${request.bytes}',
      sent: '${response.bytes}',
      protocol: '${protocol}',
      attempts: '${attempts}',
      error: '${error}',
    };
    const accessLog = { path, json: true, onRequest: { fields: { begins: '${route.name}' } }, onResponse: { fields } };
    const middlewares = [{ id: 'log', name: 'log', type: 'accessLog' as const, accessLog }];
    await bed.install(configuration({ middlewares }, { middlewareIds: ['log'] }));
    const hello = makeHello({ serverName: 'up.test' });
    const client = bed.wire(port);
    client.socket.write(hello);
    await eventually(() => expect(client.received).to.have.length(hello.length));
    client.socket.end();
    await client.untilClosed();
    const lines = await eventually(() => {
      const found = readFileSync(path, 'utf8').trimEnd().split('\n');
      expect(found).to.have.length(2);
      return found.map((line) => JSON.parse(line) as object);
    });
    expect(lines).to.deep.equal([
      { begins: 'to-up' },
      {
        ...{ client: '127.0.0.1', sni: 'up.test', route: 'to-up', destination: 'd', protocol: 'TCP', attempts: '1' },
        ...{ endpoint: `127.0.0.1:${upstream.port}`, received: `${hello.length}`, sent: `${hello.length}`, error: '' },
      },
    ]);
  });
});
