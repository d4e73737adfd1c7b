// PROXY protocol towards Sluice: heads of trusted proxies on listeners of HTTP and TCP, with TLS and without.
import { connect } from 'node:tls';
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { makeHello } from '../../../support/client-hello.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { StreamUpstream } from '../../../support/stream-upstream.ts';

const head = 'PROXY TCP4 192.0.2.9 198.51.100.1 4711 443\r\n';
const binary = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000209c6336401126701bb', 'hex');
const request = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('the PROXY protocol of a listener', () => {
  let bed: ProxyBed;
  let port: number;
  let upstreamPort: number;
  let tcp: StreamUpstream;

  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstreamPort = await bed.upstream((received, response) => {
      response.end(`for ${received.headers['x-forwarded-for']} from ${received.headers['x-real-ip'] ?? ''}`);
    });
    tcp = new StreamUpstream('tcp');
    await tcp.listen();
  });

  afterEach(async () => {
    await bed.end();
    await tcp.close();
  });

  const install = (listener: object): Promise<void> =>
    bed.install({
      listeners: [{ id: 'l', name: 'l', port, trustedProxies: ['127.0.0.1'], ...listener }],
      destinations: [
        { id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort },
        { id: 'tcp', name: 'tcp', host: '127.0.0.1', port: tcp.port },
      ],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
      streamRoutes: [
        {
          id: 's',
          name: 's',
          match: { clientCidrs: ['192.0.2.0/24'] },
          forward: { destinations: [{ destinationId: 'tcp' }] },
        },
      ],
    } as Partial<Configuration>);

  const exchange = async (...parts: readonly (string | Buffer)[]): Promise<string> => {
    const client = bed.wire(port);
    client.socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
    return client.untilClosed();
  };

  it('puts the source of the head in the place of the socket, before X-Forwarded-For is walked', async () => {
    await install({ proxyProtocol: 'required' });
    expect(await exchange(head, request)).to.match(/for 192\.0\.2\.9/);
    expect(await exchange(binary, request)).to.match(/for 192\.0\.2\.9/);
    const claimed = request.replace('Connection', 'X-Forwarded-For: 203.0.113.5\r\nConnection');
    expect(await exchange(head, claimed), 'the source is no trusted proxy').to.not.match(/for 203\.0\.113\.5, 192/);
  });

  it('is read byte by byte', async () => {
    await install({ proxyProtocol: 'required' });
    for (const bytes of [Buffer.from(head + request), Buffer.concat([binary, Buffer.from(request)])]) {
      const client = bed.wire(port);
      for (const byte of bytes) {
        client.socket.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await client.untilClosed()).to.match(/for 192\.0\.2\.9/);
    }
  });

  it('keeps the address of the socket for LOCAL and UNKNOWN', async () => {
    await install({ proxyProtocol: 'required' });
    const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');
    for (const start of ['PROXY UNKNOWN\r\n', local])
      expect(await exchange(start, request)).to.match(/for 127\.0\.0\.1/);
  });

  it('closes connections of trusted proxies without a head, or with a broken one, where it is required', async () => {
    await install({ proxyProtocol: 'required', timeouts: { clientHeader: '400ms' } });
    expect(await exchange(request)).to.equal('');
    expect(await exchange('PROXY TCP4 x y 1 2\r\n', request)).to.equal('');
    expect(await exchange('PROXY TCP4 192.0.2.9'), 'one that is not whole in time').to.equal('');
  });

  it('closes connections of strangers where it is required with a head and without', async () => {
    await install({ proxyProtocol: 'required', trustedProxies: ['10.0.0.0/8'] });
    expect(await exchange(head, request)).to.equal('');
    expect(await exchange(request)).to.equal('');
  });

  it('is optional for trusted proxies, and nothing but bytes from strangers', async () => {
    await install({ proxyProtocol: 'optional' });
    expect(await exchange(head, request)).to.match(/for 192\.0\.2\.9/);
    expect(await exchange(request)).to.match(/for 127\.0\.0\.1/);
    await install({ proxyProtocol: 'optional', trustedProxies: [] });
    expect(await exchange(request)).to.match(/for 127\.0\.0\.1/);
    expect(await exchange(head, request)).to.match(/^HTTP\/1\.1 400/);
  });

  it('is read once: a second head, behind the first or a request, names no client', async () => {
    await install({ proxyProtocol: 'optional' });
    const spoof = 'PROXY TCP4 203.0.113.5 198.51.100.1 4711 443\r\n';
    for (const second of [spoof, binary])
      expect(await exchange(head, second, request))
        .to.match(/^HTTP\/1\.1 400/)
        .and.not.include('203.0.113.5');
    const keepAlive = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const later = await exchange(head, keepAlive, spoof, request);
    expect(later)
      .to.match(/for 192\.0\.2\.9[\s\S]*HTTP\/1\.1 400/)
      .and.not.include('203.0.113.5');
  });

  it('of a stranger opens no rule for the address that it names', async () => {
    const cel = 'ip(request.clientIp).isPrivate()';
    const rules = [{ cel, action: 'allow' }] as const;
    const guarded = (listener: object): Promise<void> =>
      bed.install({
        listeners: [{ id: 'l', name: 'l', port, ...listener }],
        destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort }],
        middlewares: [{ id: 'm', name: 'm', type: 'inlineAuthz', inlineAuthz: { rules: [...rules] } }],
        routes: [{ id: 'r', name: 'r', middlewareIds: ['m'], forward: { destinations: [{ destinationId: 'd' }] } }],
      });
    const inside = 'PROXY TCP4 10.0.0.1 198.51.100.1 4711 443\r\n';
    const claimed = request.replace('Connection', 'X-Forwarded-For: 10.0.0.1\r\nConnection');
    await guarded({ proxyProtocol: 'optional', trustedProxies: ['192.0.2.0/24'] });
    expect(await exchange(inside, request)).to.match(/^HTTP\/1\.1 400/);
    expect(await exchange(claimed)).to.match(/^HTTP\/1\.1 403/);
    await guarded({ proxyProtocol: 'required', trustedProxies: ['127.0.0.1'] });
    expect(await exchange(inside, request)).to.match(/^HTTP\/1\.1 200/);
    expect(await exchange(head, claimed), 'the source of the head is no trusted proxy').to.match(/^HTTP\/1\.1 403/);
  });

  it('bounds the bytes of heads that are not whole over all connections', async () => {
    await bed.end();
    bed = new ProxyBed({ maxUnfinishedHeadBytes: 2000 });
    upstreamPort = await bed.upstream((received, response) => {
      response.end(`for ${received.headers['x-forwarded-for']}`);
    });
    for (const protocol of ['http', 'tcp']) {
      await install({ protocol, proxyProtocol: 'required' });
      const long = Buffer.from(binary);
      long.writeUInt16BE(1000, 14);
      const wires = [0, 1, 2].map(() => bed.wire(port));
      const closed = wires.map(() => false);
      for (const [at, wire] of wires.entries()) {
        wire.socket.write(Buffer.concat([long, Buffer.alloc(700)]));
        void wire.untilClosed().then((text) => {
          closed[at] = text === '';
        });
      }
      // Two of them stay within the bound.
      await eventually(() =>
        expect(
          closed.filter((each) => each),
          protocol,
        ).to.have.length(1),
      );
      for (const { socket } of wires) socket.destroy();
    }
  });

  it('comes before TLS', async () => {
    const { cert, key } = makeCertificate({ dnsNames: ['a.test'] });
    await install({ proxyProtocol: 'required', tls: { cert, key } });
    const raw = bed.wire(port).socket;
    raw.removeAllListeners('data');
    raw.write(head);
    const client = connect({ socket: raw, rejectUnauthorized: false, servername: 'a.test' });
    let received = '';
    client.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    client.on('error', () => {});
    client.write(request);
    await eventually(() => expect(received).to.match(/for 192\.0\.2\.9/));
  });

  it('names the client of a tcp listener, plain or by a ClientHello', async () => {
    await install({ proxyProtocol: 'required', protocol: 'tcp' });
    const client = bed.wire(port);
    client.send(`${head}hello`);
    await client.until(/tcp\n/);
    await eventually(() => expect(tcp.received).to.deep.equal(['hello']));
    expect(await exchange('PROXY UNKNOWN\r\n', 'hello'), 'no route is for the socket').to.equal('');
    await install({ proxyProtocol: 'required', protocol: 'tcp', tls: { mode: 'passthrough' } });
    const hello = makeHello({ serverName: 'a.test' });
    const passing = bed.wire(port);
    passing.socket.write(Buffer.concat([binary, hello]));
    await passing.until(/tcp\n/);
    await eventually(() => expect(tcp.received.at(-1)).to.equal(hello.toString('latin1')));
  });

  describe('of two listeners that share a port', () => {
    const { cert, key } = makeCertificate({ dnsNames: ['web.test', 'db.test'] });
    const share = (passing: object, ending?: object): Promise<void> =>
      bed.install({
        listeners: [
          { id: 'db', name: 'db', port, protocol: 'tcp', tls: { mode: 'passthrough' }, ...passing },
          ...(ending === undefined ? [] : [{ id: 'web', name: 'web', port, tls: { cert, key }, ...ending }]),
        ],
        destinations: [{ id: 'tcp', name: 'tcp', host: '127.0.0.1', port: tcp.port }],
        routes: [
          {
            id: 'r',
            name: 'r',
            middlewareIds: ['told'],
            directResponse: { status: 200, body: 'from HTTP' },
          },
        ],
        middlewares: [
          {
            id: 'told',
            name: 'told',
            type: 'headers',
            headers: {
              responseHeadersToAdd: [{ key: 'X-Named', value: 'yes', when: 'request.clientIp == "192.0.2.9"' }],
            },
          },
        ],
        streamRoutes: [
          { id: 's', name: 's', match: { sni: ['db.test'] }, forward: { destinations: [{ destinationId: 'tcp' }] } },
        ],
      } as Partial<Configuration>);
    const trusting = (proxyProtocol: string): object => ({ proxyProtocol, trustedProxies: ['127.0.0.1'] });

    /** Resolves with the response of the listener that ends TLS; empty: it closed the connection. */
    const web = (first: string): Promise<string> =>
      new Promise((resolve) => {
        const raw = bed.wire(port).socket;
        raw.removeAllListeners('data');
        raw.write(first);
        let received = '';
        const client = connect({ socket: raw, rejectUnauthorized: false, servername: 'web.test' });
        client.on('data', (chunk: Buffer) => {
          received += chunk.toString();
        });
        client.on('error', () => {});
        client.on('end', () => resolve(received));
        raw.on('close', () => resolve(received));
        client.write(request);
      });
    /** Resolves with what the upstream of the listener that passes TLS through sends; empty: the connection was closed. */
    const db = async (first: string): Promise<string> => {
      const client = bed.wire(port);
      client.socket.write(Buffer.concat([Buffer.from(first), makeHello({ serverName: 'db.test' })]));
      return Promise.race([client.until(/tcp\n/).then(() => 'tcp'), client.untilClosed()]);
    };

    it('closes connections without a head of the one that requires it alone', async () => {
      await share({}, trusting('required'));
      expect(await web('')).to.equal('');
      expect(await web(head)).to.match(/X-Named: yes[\s\S]*from HTTP/);
      expect(await db('')).to.equal('tcp');
      expect(await db(head)).to.equal('');
      await share(trusting('required'), {});
      expect(await web('')).to.match(/from HTTP/);
      expect(await web(head)).to.equal('');
      expect(await db('')).to.equal('');
      expect(await db(head)).to.equal('tcp');
    });

    it('closes connections of strangers to the one that requires it, though the other one trusts them', async () => {
      const strangers = { proxyProtocol: 'required', trustedProxies: ['192.0.2.1'] };
      await share(trusting('optional'), strangers);
      for (const first of ['', head]) {
        expect(await web(first)).to.equal('');
        expect(await db(first)).to.equal('tcp');
      }
      await share(strangers, trusting('optional'));
      for (const first of ['', head]) {
        expect(await web(first)).to.match(/from HTTP/);
        expect(await db(first)).to.equal('');
      }
    });

    it('closes connections without a head of the one that requires it, when the other one goes before their hello is whole', async () => {
      await share(trusting('required'), {});
      const hello = makeHello({ serverName: 'db.test' });
      const client = bed.wire(port);
      client.socket.write(hello.subarray(0, 20));
      // A later connection is served: the first one waits for its hello.
      expect(await db(head)).to.equal('tcp');
      await share(trusting('required'));
      client.socket.write(hello.subarray(20));
      expect(await Promise.race([client.until(/tcp\n/).then(() => 'tcp'), client.untilClosed()])).to.equal('');
      expect(await db(head)).to.equal('tcp');
    });
  });
});
