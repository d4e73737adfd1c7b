// Listeners of protocol tcp on real sockets (layer4.md).
import { connect as connectTcp, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { StreamRoute } from '../../../../src/model/stream-route.ts';
import { makeHello, unrecognizedName } from '../../../support/client-hello.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { ask, bodyOf, secureClient } from '../../../support/secure-client.ts';
import { StreamUpstream } from '../../../support/stream-upstream.ts';

const destinationOf = ({ name, port }: StreamUpstream, more: object = {}) => ({
  id: name,
  name,
  host: '127.0.0.1',
  port,
  ...more,
});

const routeTo = (destinationId: string, match: StreamRoute['match'] = {}, more: object = {}): StreamRoute => ({
  id: `to-${destinationId}`,
  name: `to-${destinationId}`,
  match,
  forward: { destinations: [{ destinationId }] },
  ...more,
});

describe('listeners of protocol tcp', () => {
  let bed: ProxyBed;
  let port: number;
  const upstreams: StreamUpstream[] = [];

  const upstream = async (name: string, options: object = {}): Promise<StreamUpstream> => {
    const made = new StreamUpstream(name, options);
    await made.listen();
    upstreams.push(made);
    return made;
  };

  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });

  afterEach(async () => {
    await bed.end();
    await Promise.all(upstreams.splice(0).map((each) => each.close()));
  });

  const plain = (more: Partial<Configuration>): Promise<void> =>
    bed.install({ listeners: [{ id: 'l', name: 'l', port, protocol: 'tcp' }], ...more });

  const passing = (more: Partial<Configuration>): Promise<void> =>
    bed.install({
      listeners: [{ id: 'l', name: 'l', port, protocol: 'tcp', tls: { mode: 'passthrough' } }],
      ...more,
    });

  describe('without TLS', () => {
    it('carry bytes both ways, whichever side begins', async () => {
      const one = await upstream('one');
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const client = bed.wire(port);
      expect(await client.until(/one\n/)).to.equal('one\n');
      client.send('hello');
      await eventually(() => expect(one.received).to.deep.equal(['hello']));
      one.sockets[0]?.write('again');
      await client.until(/again/);
    });

    it('let either side end first and still receive', async () => {
      const one = await upstream('one', { greets: false });
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const client = bed.wire(port);
      client.socket.end('the question');
      await eventually(() => expect([one.received, one.ended]).to.deep.equal([['the question'], [true]]));
      one.sockets[0]?.end('the answer');
      expect(await client.untilClosed()).to.equal('the answer');

      const second = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
      const received: Buffer[] = [];
      second.on('data', (chunk: Buffer) => received.push(chunk));
      const [ended, closed] = ['end', 'close'].map((event) => new Promise((resolve) => second.once(event, resolve)));
      await eventually(() => expect(one.sockets).to.have.length(2));
      one.sockets[1]?.end('first');
      await ended;
      expect(Buffer.concat(received).toString()).to.equal('first');
      second.end('last');
      await eventually(() => expect([one.received[1], one.ended[1]]).to.deep.equal(['last', true]));
      await closed;
    });

    it('pass a reset on to the other side, both ways', async () => {
      const one = await upstream('one');
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const client = bed.wire(port);
      await client.until(/one/);
      client.socket.resetAndDestroy();
      await eventually(() => expect(one.errors).to.deep.equal(['ECONNRESET']));
      const second = bed.wire(port);
      let code: string | undefined;
      second.socket.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
      });
      await second.until(/one/);
      one.sockets[1]?.resetAndDestroy();
      await second.untilClosed();
      expect(code).to.equal('ECONNRESET');
    });

    it('make a fast sender wait for a slow receiver, and lose no byte', async () => {
      const one = await upstream('one', { greets: false });
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const client = connectTcp({ port, host: '127.0.0.1' });
      const piece = Buffer.alloc(1 << 20, 'x');
      await eventually(() => expect(one.sockets).to.have.length(1));
      const slow = one.sockets[0] as Socket;
      slow.removeAllListeners('data');
      slow.pause();
      const pieces = 64;
      let taken = 0;
      for (let at = 0; at < pieces; at++) client.write(piece, () => taken++);
      await eventually(() => expect(client.writableLength).to.be.greaterThan(0));
      expect(taken, 'the kernel holds a few of them').to.be.lessThan(pieces);
      let bytes = 0;
      slow.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      slow.resume();
      await eventually(() => expect(bytes).to.equal(pieces * piece.length));
      client.destroy();
    });

    it('go to the next endpoint when one refuses, and close when all do', async () => {
      const [one, closed, other] = [await upstream('one'), await freePort(), await freePort()];
      const endpoints = [closed, one.port].map((each) => ({ host: '127.0.0.1', port: each }));
      await plain({ destinations: [destinationOf(one, { endpoints })], streamRoutes: [routeTo('one')] });
      for (let at = 0; at < 4; at++) await bed.wire(port).until(/one/);
      const refusing = [closed, other].map((each) => ({ host: '127.0.0.1', port: each }));
      await plain({ destinations: [destinationOf(one, { endpoints: refusing })], streamRoutes: [routeTo('one')] });
      expect(await bed.wire(port).untilClosed()).to.equal('');
    });

    it('eject an endpoint that keeps refusing', async () => {
      const [one, closed] = [await upstream('one'), await freePort()];
      const endpoints = [closed, one.port].map((each) => ({ host: '127.0.0.1', port: each }));
      const options = { outlierDetection: { consecutive5xx: 2, maxEjectionPercent: 50 } };
      await plain({ destinations: [destinationOf(one, { endpoints, options })], streamRoutes: [routeTo('one')] });
      for (let at = 0; at < 8; at++) await bed.wire(port).until(/one/);
      expect(bed.proxy.known().endpoint('one', `127.0.0.1:${closed}`)).to.include({ ejected: true });
    });

    it('share connections out by weight', async () => {
      const [one, two] = [await upstream('one'), await upstream('two')];
      const destinations = [
        { destinationId: 'one', weight: 1 },
        { destinationId: 'two', weight: 0 },
      ];
      await plain({
        destinations: [destinationOf(one), destinationOf(two)],
        streamRoutes: [routeTo('one', {}, { forward: { destinations } })],
      });
      for (let at = 0; at < 8; at++) await bed.wire(port).until(/one/);
      expect(two.sockets).to.have.length(0);
    });

    it('keep each share without failover: connections of a destination that is not there are closed', async () => {
      const one = await upstream('one');
      const destinations = [
        { destinationId: 'one', weight: 0 },
        { destinationId: 'none', weight: 1 },
      ];
      const routes = (failover: boolean) => [routeTo('one', {}, { forward: { destinations, failover } })];
      await plain({ destinations: [destinationOf(one)], streamRoutes: routes(false) });
      for (let at = 0; at < 4; at++) expect(await bed.wire(port).untilClosed()).to.equal('');
      expect(one.sockets).to.have.length(0);
      await plain({ destinations: [destinationOf(one)], streamRoutes: routes(true) });
      await bed.wire(port).until(/one/);
    });

    it('close a connection that no route is for, and one without a destination', async () => {
      const one = await upstream('one');
      await plain({
        destinations: [destinationOf(one)],
        streamRoutes: [routeTo('one', { clientCidrs: ['10.0.0.0/8'] }), routeTo('none', { clientCidrs: ['::1'] })],
      });
      expect(await bed.wire(port).untilClosed()).to.equal('');
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('none')] });
      expect(await bed.wire(port).untilClosed()).to.equal('');
      expect(one.sockets).to.have.length(0);
    });

    it('close a connection that carries nothing for its idle time, and none that carries something', async () => {
      await bed.end();
      const clock = new ManualClock();
      bed = new ProxyBed({ clock });
      const pass = (ms: number): void => {
        for (let at = 0; at < ms; at += 50) clock.advance(50);
      };
      const one = await upstream('one', { echoes: true });
      const forward = { destinations: [{ destinationId: 'one' }], timeouts: { idle: '10s' } };
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one', {}, { forward })] });
      const [silent, busy] = [bed.wire(port), bed.wire(port)];
      await silent.until(/one/);
      await busy.until(/one/);
      pass(9_000);
      busy.send('x');
      await busy.until(/x/);
      pass(2_000);
      await silent.untilClosed();
      busy.send('y');
      await busy.until(/y/);
      pass(11_000);
      await busy.untilClosed();
    });

    it('close a connection above the limit of the listener, and above that of the destination', async () => {
      const one = await upstream('one');
      const listeners = [{ id: 'l', name: 'l', port, protocol: 'tcp' as const, maxConnections: 1 }];
      await bed.install({ listeners, destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const first = bed.wire(port);
      await first.until(/one/);
      expect(await bed.wire(port).untilClosed()).to.equal('');
      first.socket.resetAndDestroy();
      await eventually(() => expect(bed.proxy.clients().connections).to.equal(0));
      const options = { maxConnsPerHost: 1 };
      await plain({ destinations: [destinationOf(one, { options })], streamRoutes: [routeTo('one')] });
      const second = bed.wire(port);
      await second.until(/one/);
      expect(await bed.wire(port).untilClosed()).to.equal('');
      second.socket.resetAndDestroy();
      await eventually(async () => {
        const next = bed.wire(port);
        await eventually(() => expect(next.closed || next.received !== '').to.equal(true));
        expect(next.received).to.equal('one\n');
      });
    });

    it('keep their connections over activations that change everything about them', async () => {
      const [one, two] = [await upstream('one', { echoes: true }), await upstream('two')];
      await plain({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const client = bed.wire(port);
      await client.until(/one/);
      await plain({ destinations: [destinationOf(two)], streamRoutes: [routeTo('two')] });
      client.send('still here');
      await client.until(/still here/);
      await bed.wire(port).until(/two/);
      await bed.install({
        listeners: [{ id: 'h', name: 'h', port }],
        routes: [{ id: 'r', name: 'r', directResponse: { status: 200 } }],
      });
      client.send('and here');
      await client.until(/and here/);
      const http = bed.wire(port);
      http.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await http.until(/^HTTP\/1.1 200/);
    });
  });

  describe('that pass TLS through', () => {
    it('choose by an exact name before a wildcard of one label, and then no name', async () => {
      const [exact, wild, any] = [await upstream('exact'), await upstream('wild'), await upstream('any')];
      await passing({
        destinations: [exact, wild, any].map((each) => destinationOf(each)),
        streamRoutes: [
          routeTo('any'),
          routeTo('wild', { sni: ['*.example.com'] }),
          routeTo('exact', { sni: ['a.example.com'] }),
        ],
      });
      for (const [serverName, to] of [
        ['a.example.com', 'exact'],
        ['A.Example.Com.', 'exact'],
        ['b.example.com', 'wild'],
        ['a.b.example.com', 'any'],
        ['example.com', 'any'],
        [undefined, 'any'],
      ] as const) {
        const client = bed.wire(port);
        client.socket.write(makeHello({ ...(serverName !== undefined && { serverName }) }));
        await client.until(new RegExp(to));
      }
    });

    it('pass the hello on as it came, in pieces, in many records, and with 16 KB of extensions', async () => {
      const one = await upstream('one');
      await passing({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one', { sni: ['a.test'] })] });
      const large = [[65_000, Buffer.alloc(16_384, 1)]] as const;
      const echOuter = [[0xfe0d, Buffer.alloc(200, 2)]] as const;
      const hellos = [
        makeHello({ serverName: 'a.test' }),
        makeHello({ serverName: 'a.test', recordBytes: 1 }),
        makeHello({ serverName: 'a.test', recordBytes: 50 }),
        makeHello({ serverName: 'a.test', extensions: large }),
        makeHello({ serverName: 'a.test', extensions: large, recordBytes: 999 }),
        makeHello({ serverName: 'a.test', extensions: echOuter }),
      ];
      for (const hello of hellos) {
        const client = bed.wire(port);
        client.socket.write(Buffer.concat([hello, Buffer.from('and more')]));
        await client.until(/one/);
        await eventually(() => expect(one.received.at(-1)).to.equal(`${hello.toString('latin1')}and more`));
      }
      const [hello = Buffer.alloc(0)] = hellos;
      const byByte = bed.wire(port);
      for (const byte of hello) {
        byByte.socket.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await byByte.until(/one/);
      await eventually(() => expect(one.received.at(-1)).to.equal(hello.toString('latin1')));
    });

    it('refuse a name that no route has by the alert unrecognized_name', async () => {
      const one = await upstream('one');
      await passing({ destinations: [destinationOf(one)], streamRoutes: [routeTo('one', { sni: ['a.test'] })] });
      for (const serverName of ['b.test', undefined]) {
        const client = bed.wire(port);
        client.socket.write(makeHello({ ...(serverName !== undefined && { serverName }) }));
        expect(await client.untilClosed()).to.equal(unrecognizedName);
      }
      expect(one.sockets).to.have.length(0);
    });

    it('look no server name up that is longer than a name of DNS: its many labels would hold the thread', async () => {
      const one = await upstream('one');
      const routes = [routeTo('one', { sni: ['**.example.test'] }), routeTo('one', {}, { id: 'any', name: 'any' })];
      await passing({ destinations: [destinationOf(one)], streamRoutes: routes });
      const client = bed.wire(port);
      client.socket.write(makeHello({ serverName: `${'a.'.repeat(30_000)}example.test` }));
      expect(await client.untilClosed()).to.equal('');
      expect(one.sockets).to.have.length(0);
    });

    it('close what is no hello: another protocol, the form of SSLv2, one above 64 KiB, one that does not come', async () => {
      const one = await upstream('one');
      const tls = { mode: 'passthrough' as const };
      const listener = { id: 'l', name: 'l', port, protocol: 'tcp' as const, tls, timeouts: { clientHeader: '500ms' } };
      await bed.install({ listeners: [listener], destinations: [destinationOf(one)], streamRoutes: [routeTo('one')] });
      const sslv2 = Buffer.from([0x80, 0x1c, 1, 3, 1, 0, 3, 0, 0, 0, 16, 1, 0, 128, ...new Array(16).fill(9)]);
      const large = Array.from({ length: 5 }, (_, at) => [60_000 + at, Buffer.alloc(15_000)] as const);
      for (const bytes of [
        Buffer.from('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'),
        sslv2,
        makeHello({ serverName: 'a.test', extensions: large.slice(0, 4), recordBytes: 16_384 }).fill(0xff, 6, 9),
        makeHello({ serverName: 'a.test' }).subarray(0, 20),
      ]) {
        const client = bed.wire(port);
        client.socket.write(bytes);
        expect(await client.untilClosed()).to.equal('');
      }
      expect(one.sockets).to.have.length(0);
    });

    it('share their port with a listener that ends TLS, by server name', async () => {
      const one = await upstream('one');
      const { cert, key } = makeCertificate({ dnsNames: ['web.test', 'db.test'] });
      await bed.install({
        listeners: [
          { id: 'db', name: 'db', port, protocol: 'tcp', tls: { mode: 'passthrough' } },
          { id: 'web', name: 'web', port, tls: { cert, key } },
        ],
        destinations: [destinationOf(one)],
        streamRoutes: [routeTo('one', { sni: ['db.test'] })],
        routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'from HTTP' } }],
      });
      expect(bed.proxy.listeners().map(({ id, state }) => [id, state])).to.deep.equal([
        ['db', 'open'],
        ['web', 'open'],
      ]);
      const client = bed.wire(port);
      client.socket.write(makeHello({ serverName: 'db.test' }));
      await client.until(/one/);
      expect(bodyOf(await ask(port, { servername: 'web.test' }))).to.match(/from HTTP/);
    });
  });

  describe('that end TLS', () => {
    it('choose by the server name of the handshake, and send no byte of it on', async () => {
      const [one, any] = [await upstream('one', { echoes: true }), await upstream('any')];
      const { cert, key } = makeCertificate({ dnsNames: ['a.test'] });
      await bed.install({
        listeners: [{ id: 'l', name: 'l', port, protocol: 'tcp', tls: { cert, key } }],
        destinations: [destinationOf(one), destinationOf(any)],
        streamRoutes: [routeTo('one', { sni: ['a.test'] }), routeTo('any', { sni: ['b.test'] })],
      });
      const client = await secureClient(port, { servername: 'a.test' });
      let received = '';
      client.on('data', (chunk: Buffer) => {
        received += chunk.toString();
      });
      client.write('plain');
      await eventually(() => expect(received).to.equal('one\nplain'));
      expect(one.received).to.deep.equal(['plain']);
      client.end();
      await eventually(() => expect(one.ended).to.deep.equal([true]));
      const refused = await secureClient(port, { servername: 'c.test' }).then(
        () => 'accepted',
        ({ code }: NodeJS.ErrnoException) => code,
      );
      expect(refused).to.equal('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
      expect(any.sockets).to.have.length(0);
    });
  });
});
