// Listeners with TLS on real sockets: versions, certificates by name, swaps, sessions.
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { ask, bodyOf } from '../../../support/secure-client.ts';

const pair = (name: string) => {
  const { cert, key } = makeCertificate({ dnsNames: [name] });
  return { cert, key };
};
const own = pair('own.test');
const shop = pair('shop.test');
const wild = pair('*.shop.test');
const rsa = (({ cert, key }) => ({ cert, key }))(makeCertificate({ dnsNames: ['rsa.test'], keyType: 'rsa' }));

/** One listener; every request is answered by what the route says. */
const serving = (port: number, tls: object | undefined, more: object = {}, body = 'hello') =>
  ({
    listeners: [{ id: 'edge', name: 'edge', port, tls, ...more }],
    routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body } }],
  }) as object;

/** The first words of a client. */
const helloOf = (port: number): Promise<Buffer> =>
  new Promise((resolve) => {
    const proxy = createServer((socket) => {
      socket.once('data', (bytes: Buffer) => {
        socket.destroy();
        proxy.close();
        resolve(bytes);
      });
    }).listen(0, '127.0.0.1', () => {
      const { port: own } = proxy.address() as AddressInfo;
      connect({ port: own, host: '127.0.0.1', servername: `a${port}.test`, ALPNProtocols: ['http/1.1'] }).on(
        'error',
        () => {},
      );
    });
  });

describe('a TLS listener', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  it('answers requests, and offers http/1.1', async () => {
    await bed.install(serving(port, own));
    const answer = await ask(port, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(bodyOf(answer)).to.equal('hello');
    expect(answer.protocol).to.equal('http/1.1');
    expect(answer.version).to.equal('TLSv1.3');
  });

  it('never answers in plaintext', async () => {
    await bed.install(serving(port, own));
    const wire = bed.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await wire.untilClosed()).to.not.contain('HTTP/');
  });

  for (const [tls, client, wanted] of [
    [{ maxVersion: 'TLSv1_2' }, {}, 'TLSv1.2'],
    [{ minVersion: 'TLSv1_3' }, {}, 'TLSv1.3'],
    [{ minVersion: 'TLSv1_0' }, { maxVersion: 'TLSv1', minVersion: 'TLSv1' }, 'TLSv1'],
    [{ minVersion: 'TLSv1_1' }, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }, 'TLSv1.1'],
    [{ maxVersion: 'TLSv1_1', minVersion: 'TLSv1_0' }, { minVersion: 'TLSv1' }, 'TLSv1.1'],
    [{ minVersion: 'TLSv1_3' }, { maxVersion: 'TLSv1.2' }, 'none'],
    [{}, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }, 'none'],
    [{ maxVersion: 'TLSv1_2' }, { minVersion: 'TLSv1.3' }, 'none'],
  ] as const)
    it(`with ${JSON.stringify(tls)} speaks ${wanted} with a client of ${JSON.stringify(client)}`, async () => {
      await bed.install(serving(port, { ...own, ...tls }));
      const asked = ask(port, { ciphers: 'DEFAULT:@SECLEVEL=0', ...client } as object);
      const version = await asked.then(
        (answer) => answer.version,
        () => 'none',
      );
      expect(version).to.equal(wanted);
    });

  describe('with several certificates', () => {
    const several = { ...own, certificates: [wild, shop, rsa] };
    for (const [servername, shown] of [
      ['shop.test', 'CN=shop.test'],
      ['SHOP.Test', 'CN=shop.test'],
      // Not as RFC 6066 §3 wants it, but the same host: they got the default.
      ['shop.test.', 'CN=shop.test'],
      ['a.shop.test.', 'CN=*.shop.test'],
      ['a.shop.test', 'CN=*.shop.test'],
      ['a.b.shop.test', 'CN=own.test'],
      ['own.test', 'CN=own.test'],
      ['other.test', 'CN=own.test'],
      ['rsa.test', 'CN=rsa.test'],
      ['', 'CN=own.test'],
    ])
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
        it(`shows ${shown} to a client that requests "${servername}" in ${version}`, async () => {
          await bed.install(serving(port, several));
          const answer = await ask(port, { servername, minVersion: version, maxVersion: version });
          expect(answer.shown).to.equal(shown);
        });

    it('shows each of 140, more than are kept ready at a time, to many clients at once', async () => {
      const many = Array.from({ length: 140 }, (_, i) => pair(`s${i}.test`));
      await bed.install(serving(port, { ...own, certificates: many }));
      for (let from = 0; from < 2 * many.length; from += 28) {
        const asked = Array.from({ length: 28 }, async (_, i) => {
          const name = `s${(from + i * 5) % many.length}.test`;
          expect((await ask(port, { servername: name })).shown).to.equal(`CN=${name}`);
        });
        await Promise.all(asked);
      }
    });

    it('chooses by declared server names before the names in any certificate', async () => {
      const certificates = [
        wild,
        { ...shop, serverNames: ['declared.test', '*.declared.test', 'a.shop.test'] },
        { ...rsa, serverNames: ['*.b.declared.test', 'Own.Test.'] },
      ];
      await bed.install(serving(port, { ...own, certificates, unknownServerName: 'reject' }));
      const shown = async (servername: string) => (await ask(port, { servername })).shown;
      expect(await shown('declared.test')).to.equal('CN=shop.test');
      expect(await shown('x.y.declared.test')).to.equal('CN=shop.test');
      expect(await shown('x.b.declared.test')).to.equal('CN=rsa.test');
      expect(await shown('own.test')).to.equal('CN=rsa.test');
      expect(await shown('a.shop.test')).to.equal('CN=shop.test');
      expect(await shown('c.shop.test')).to.equal('CN=*.shop.test');
      expect(await shown('shop.test')).to.equal('CN=shop.test');
      expect(bed.proxy.listeners()[0]).to.not.have.property('warnings');
    });

    it('refuses names that no certificate has by the alert unrecognized_name', async () => {
      await bed.install(serving(port, { ...several, unknownServerName: 'reject' }));
      const refused = await ask(port, { servername: 'other.test' }).then(
        () => undefined,
        (error) => error,
      );
      expect(refused?.code).to.equal('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
      expect((await ask(port, { servername: 'a.shop.test' })).shown).to.equal('CN=*.shop.test');
      expect((await ask(port, { servername: 'own.test' })).shown).to.equal('CN=own.test');
      expect((await ask(port, { servername: 'own.test.' })).shown).to.equal('CN=own.test');
      expect((await ask(port, { servername: '' })).shown).to.equal('CN=own.test');
    });
  });

  describe('when its certificate is replaced', () => {
    it('keeps open connections, and shows the new one to new clients', async () => {
      await bed.install(serving(port, own));
      const open = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      bed.atEnd(async () => void open.destroy());
      let received = '';
      open.on('data', (chunk) => (received += chunk));
      open.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => expect(received).to.contain('hello'));
      await bed.install(serving(port, shop, {}, 'changed'));
      expect((await ask(port)).shown).to.equal('CN=shop.test');
      open.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => expect(received).to.contain('changed'));
    });

    it('changes to plaintext and back without ending open connections', async () => {
      await bed.install(serving(port, own));
      const open = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      bed.atEnd(async () => void open.destroy());
      let received = '';
      open.on('data', (chunk) => (received += chunk));
      open.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => expect(received).to.contain('hello'));
      await bed.install(serving(port, undefined, {}, 'plain'));
      const wire = bed.wire(port);
      wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await wire.until(/plain/);
      await bed.install(serving(port, shop, {}, 'back'));
      expect((await ask(port)).shown).to.equal('CN=shop.test');
      open.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await wire.until(/back/);
      await eventually(() => expect(received).to.contain('back'));
    });

    it('refuses no new connection meanwhile', async () => {
      await bed.install(serving(port, own));
      let going = true;
      let asked = 0;
      const clients = Array.from({ length: 4 }, async () => {
        while (going) {
          await ask(port);
          asked++;
        }
      });
      for (let swap = 0; swap < 10; swap++) await bed.install(serving(port, swap % 2 === 0 ? shop : own));
      await eventually(() => expect(asked).to.be.greaterThan(40));
      going = false;
      await Promise.all(clients);
    });

    it('is closed and named when the new one cannot be used', async () => {
      await bed.install(serving(port, own));
      await bed.install(serving(port, { cert: own.cert, key: shop.key }));
      const [status] = bed.proxy.listeners();
      expect(status?.state).to.equal('closed');
      expect(status?.reason).to.match(/^\/listeners\/edge\/tls its key cannot be used: .*mismatch/i);
      await eventually(() =>
        ask(port).then(
          () => expect.fail('still open'),
          () => {},
        ),
      );
    });
  });

  it('leaves out a certificate that cannot be used, names it, and serves with the others', async () => {
    await bed.install(serving(port, { ...own, certificates: [shop, { cert: 'no', key: 'pem' }] }));
    expect(bed.proxy.listeners()[0]).to.deep.include({
      state: 'open',
      warnings: [
        {
          pointer: '/listeners/edge/tls/certificates/1',
          message: 'its certificate is not a certificate in PEM form: it is left out',
        },
      ],
    });
    expect((await ask(port, { servername: 'shop.test' })).shown).to.equal('CN=shop.test');
  });

  it('closes a client that stalls in its handshake after clientHeader', async () => {
    await bed.install(serving(port, own, { timeouts: { clientHeader: '100ms' } }));
    const wire = bed.wire(port);
    wire.send('\x16\x03\x01');
    await wire.untilClosed();
  });

  it('does not renegotiate', async () => {
    await bed.install(serving(port, { ...own, maxVersion: 'TLSv1_2' }));
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    bed.atEnd(async () => void client.destroy());
    const failed = new Promise((resolve) => client.once('error', resolve));
    client.once('secureConnect', () => client.renegotiate({}, () => {}));
    expect(await failed).to.have.property('code', 'ERR_SSL_NO_RENEGOTIATION');
  });

  it('survives random bytes in place of a handshake', async () => {
    await bed.install(serving(port, own));
    const hello = await helloOf(port);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 4 }),
        fc.nat(hello.length),
        async (edits, end) => {
          const bytes = Buffer.from(hello);
          for (const [at, byte] of edits) bytes[at] = byte;
          await new Promise((resolve) => {
            const socket = connectPlain({ port, host: '127.0.0.1' });
            socket.on('error', () => {});
            socket.on('close', resolve);
            socket.resume().end(bytes.subarray(0, end));
          });
        },
      ),
      { numRuns: 100 },
    );
    expect(bodyOf(await ask(port))).to.equal('hello');
  });

  it('closes connections in their handshake when its port closes', async () => {
    await bed.install(serving(port, own));
    const wire = bed.wire(port);
    wire.send('\x16\x03\x01');
    await eventually(() => expect(wire.socket.bytesWritten).to.equal(3));
    await bed.proxy.close({ withinMs: 50 });
    await wire.untilClosed();
    connectPlain({ port, host: '127.0.0.1' }).on('error', () => {});
  });
});
