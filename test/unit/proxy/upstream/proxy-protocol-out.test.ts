// PROXY protocol towards upstreams: one connection per client, before TLS; Sluice's own connections say so.
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { requestJwks } from '../../../../src/proxy/jwks/jwks-request.ts';
import { readProxyHeader } from '../../../../src/proxy/socket/proxy-header.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { makeHello } from '../../../support/client-hello.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ProxiedUpstream } from '../../../support/proxied-upstream.ts';
import { ProxyBed, type RawClient } from '../../../support/proxy-bed.ts';
import { secureClient } from '../../../support/secure-client.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const local = '0d0a0d0a000d0a515549540a20000000';

describe('the PROXY protocol of a destination', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: ProxiedUpstream;

  const begin = async (tls?: { cert: string; key: string }): Promise<void> => {
    upstream = new ProxiedUpstream(tls);
    await upstream.listen();
  };

  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });

  afterEach(async () => {
    await bed.end();
    await upstream.close();
  });

  const install = (options: object, listener: object = {}): Promise<void> =>
    bed.install({
      listeners: [{ id: 'l', name: 'l', port, ...listener }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port, options }],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
      streamRoutes: [{ id: 's', name: 's', forward: { destinations: [{ destinationId: 'd' }] } }],
    } as Partial<Configuration>);

  const asked = async (client: RawClient, times: number): Promise<void> => {
    const answers = (): number => client.received.split('connection ').length - 1;
    const before = answers();
    for (let at = 1; at <= times; at++) {
      client.send(request);
      await eventually(() => expect(answers()).to.equal(before + at));
    }
  };

  const localPortOf = ({ socket }: RawClient): number => socket.localPort ?? 0;

  it('names the client, whose requests alone share a connection', async () => {
    await begin();
    await install({ proxyProtocol: 'v1' });
    const [one, two] = [bed.wire(port), bed.wire(port)];
    await asked(one, 2);
    await asked(two, 2);
    await asked(one, 1);
    expect(upstream.requests).to.deep.equal([0, 0, 1, 1, 0]);
    expect(upstream.heads.map(String)).to.deep.equal(
      [one, two].map((client) => `PROXY TCP4 127.0.0.1 127.0.0.1 ${localPortOf(client)} ${port}\r\n`),
    );
  });

  it('gives the connection of one client to no other that waits for one', async () => {
    await begin();
    await install({ proxyProtocol: 'v2', maxConnsPerHost: 1 });
    const [one, two] = [bed.wire(port), bed.wire(port)];
    await asked(one, 1);
    await asked(two, 1);
    await asked(one, 1);
    expect(upstream.requests).to.deep.equal([0, 1, 2]);
    const ports = upstream.heads.map((head) => {
      const header = readProxyHeader(head);
      return typeof header === 'string' ? header : header.places?.source.port;
    });
    expect(ports).to.deep.equal([localPortOf(one), localPortOf(two), localPortOf(one)]);
  });

  it('ends the connection of a client with the client', async () => {
    await begin();
    await install({ proxyProtocol: 'v2' });
    const [one, two] = [bed.wire(port), bed.wire(port)];
    await asked(one, 1);
    await asked(two, 1);
    expect(upstream.open).to.equal(2);
    one.destroy();
    await eventually(() => expect(upstream.open).to.equal(1));
    await asked(two, 1);
    expect(upstream.requests).to.deep.equal([0, 1, 1]);
  });

  it('passes on what a trusted proxy has named', async () => {
    await begin();
    await install({ proxyProtocol: 'v1' }, { proxyProtocol: 'required', trustedProxies: ['127.0.0.1'] });
    const client = bed.wire(port);
    client.send('PROXY TCP6 2001:db8::9 2001:db8::1 4711 443\r\n');
    await asked(client, 1);
    expect(String(upstream.heads[0])).to.equal('PROXY TCP6 2001:db8::9 2001:db8::1 4711 443\r\n');
  });

  it('comes before TLS, with server name, protocol and client certificate of the client', async () => {
    const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
    const known = makeCertificate({ issuer: authority, subject: [['CN', 'Agent, 7']], uris: ['spiffe://a/7'] });
    const own = makeCertificate({ dnsNames: ['a.test'], addresses: ['127.0.0.1'] });
    await begin(own);
    await install(
      { proxyProtocol: 'v2', tls: { mode: 'tls', ca: own.cert } },
      { tls: { cert: own.cert, key: own.key, clientAuth: { mode: 'require', ca: authority.cert } } },
    );
    const client = await secureClient(port, {
      servername: 'a.test',
      cert: known.cert,
      key: known.key,
      ALPNProtocols: ['http/1.1'],
    });
    let received = '';
    client.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    client.write(request);
    await eventually(() => expect(received).to.match(/connection 0/));
    client.destroy();
    const text = upstream.heads[0]?.toString('latin1') ?? '';
    for (const part of ['\x01\0\x08http/1.1', '\x02\0\x06a.test', '\x21\0\x07TLSv1.3', '\x22\0\x08Agent, 7'])
      expect(text).to.include(part);
  });

  it('is LOCAL or UNKNOWN in probes', async () => {
    await begin();
    const healthCheck = { type: 'http', path: '/', interval: '1s' };
    await install({ proxyProtocol: 'v2', healthCheck });
    await eventually(() => expect(upstream.heads[0]?.toString('hex')).to.equal(local));
    await install({ proxyProtocol: 'v1', healthCheck });
    await eventually(() => expect(upstream.heads.map(String)).to.include('PROXY UNKNOWN\r\n'));
    expect(bed.proxy.known().endpoint('d', `127.0.0.1:${upstream.port}`)).to.include({ healthy: true });
  });

  for (const isSecured of [false, true])
    it(`is LOCAL in calls of Node's own client, ${isSecured ? 'before' : 'without'} TLS`, async () => {
      const own = makeCertificate({ addresses: ['127.0.0.1'] });
      await begin(isSecured ? own : undefined);
      const tls = isSecured ? { tls: { mode: 'tls' as const, ca: own.cert } } : {};
      const options = { proxyProtocol: 'v2' as const, ...tls };
      const destination = { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port, options };
      const tools = { clock: systemClock, lookup: new NameLookup(systemClock).lookup };
      const answer = await requestJwks(
        { destination, path: '/', timeoutMs: 120_000 },
        AbortSignal.timeout(120_000),
        tools,
      );
      expect(answer).to.equal('connection 0');
      expect(upstream.heads.map((head) => head.toString('hex'))).to.deep.equal([local]);
    });

  it('begins the connections of stream routes, with the name of a ClientHello', async () => {
    await begin();
    await install({ proxyProtocol: 'v2' }, { protocol: 'tcp', tls: { mode: 'passthrough' } });
    const client = bed.wire(port);
    client.socket.write(makeHello({ serverName: 'db.test' }));
    await client.until(/connection 0/);
    const head = upstream.heads[0] ?? Buffer.alloc(0);
    expect(readProxyHeader(head)).to.deep.include({
      places: {
        source: { address: '127.0.0.1', port: localPortOf(client) },
        destination: { address: '127.0.0.1', port },
      },
    });
    expect(head.toString('latin1')).to.include('\x02\0\x07db.test');
  });
});
