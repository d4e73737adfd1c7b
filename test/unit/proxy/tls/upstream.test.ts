// Destinations behind TLS on real sockets: who is trusted, under which name, and what becomes of sessions.
import { createServer, type ServerOptions } from 'node:https';
import { createServer as createPlainServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { request as send } from 'undici';
import { freePort } from '../../../support/free-port.ts';
import { type CertificateWish, makeCertificate } from '../../../support/made-certificates.ts';
import { forwarding, listening, ProxyBed } from '../../../support/proxy-bed.ts';

const authority = makeCertificate({ authority: true, subject: [['CN', 'Servers']] });
const strangers = makeCertificate({ authority: true, subject: [['CN', 'Strangers']] });
const pair = (wish: CertificateWish) => {
  const { cert, key } = makeCertificate(wish);
  return { cert, key };
};
const issuer = authority;
const byName = pair({ issuer, dnsNames: ['up.test', '*.wild.test'] });
const both = pair({ issuer, dnsNames: ['up.test'], uris: ['spiffe://a/up'] });
const spiffe = { type: 'uri', value: 'spiffe://a/up' };
const byAddress = pair({ issuer, addresses: ['127.0.0.1'] });
const client = pair({ issuer, uris: ['spiffe://a/proxy'] });
const ca = authority.cert;

describe('a destination behind TLS', () => {
  let bed: ProxyBed;
  let port: number;
  /** Properties of each connection that the upstream secured. */
  let seen: { servername: unknown; reused: boolean; alpn: unknown; client: string; version: string | null }[];
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    seen = [];
  });
  afterEach(() => bed.end());

  const upstream = async (options: ServerOptions): Promise<number> => {
    const server = createServer({ ALPNProtocols: ['http/1.1'], ...options }, (request, response) => {
      if (request.url === '/once') response.setHeader('connection', 'close');
      request.resume().once('end', () => response.end('secret'));
    });
    server.on('tlsClientError', () => {});
    server.on('secureConnection', (socket: TLSSocket) => {
      const { servername, alpnProtocol: alpn } = socket;
      const shown = socket.getPeerX509Certificate()?.subjectAltName ?? '';
      seen.push({ servername, alpn, reused: socket.isSessionReused(), client: shown, version: socket.getProtocol() });
    });
    bed.atEnd(async () => {
      server.close();
      server.closeAllConnections();
    });
    return listening(server);
  };
  const install = (upstreamPort: number, tls: object, options: object = {}, host?: string): Promise<void> => {
    const config = forwarding(port, upstreamPort, { destination: { options: { tls, ...options } } });
    const destinations = config.destinations?.map((destination) => (host ? { ...destination, host } : destination));
    return bed.install({ ...config, ...(destinations ? { destinations } : {}) });
  };
  const ask = async (path = '/'): Promise<string> => {
    const { statusCode, body } = await send(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
    const text = await body.text();
    return statusCode === 200 ? text : `${statusCode} ${JSON.parse(text).error} ${JSON.parse(text).message}`;
  };
  const failure = (reason: string): string => `502 tls_handshake_failure upstream TLS handshake failed: ${reason}`;

  for (const [what, shown, tls, outcome, servername] of [
    ['its host is an address that the certificate has', byAddress, { ca }, 'secret', false],
    ['sni is a name that the certificate has', byName, { ca, sni: 'up.test' }, 'secret', 'up.test'],
    ['a wildcard covers sni', byName, { ca, sni: 'a.wild.test' }, 'secret', 'a.wild.test'],
    [
      'a wildcard is one label short',
      byName,
      { ca, sni: 'a.b.wild.test' },
      failure('its certificate is not for a.b.wild.test'),
      undefined,
    ],
    ['the name is another', byName, { ca }, failure('its certificate is not for 127.0.0.1'), undefined],
    [
      'one of its alternative names is listed, for any sni',
      both,
      { ca, sni: 'else.test', subjectAltNames: [{ type: 'dns', value: 'no.test' }, spiffe] },
      'secret',
      'else.test',
    ],
    [
      'a wildcard covers a listed name',
      byName,
      { ca, subjectAltNames: [{ type: 'dns', value: 'A.wild.test' }] },
      'secret',
      false,
    ],
    [
      'its wildcard is listed',
      byName,
      { ca, subjectAltNames: [{ type: 'dns', value: '*.wild.test' }] },
      'secret',
      false,
    ],
    [
      'none of its alternative names is listed, though sni is one of them',
      both,
      {
        ca,
        sni: 'up.test',
        subjectAltNames: [
          { type: 'uri', value: 'spiffe://a/UP' },
          { type: 'dns', value: 'no.test' },
        ],
      },
      failure('its certificate is not for spiffe://a/UP, no.test'),
      undefined,
    ],
    [
      'a listed name is of another kind',
      both,
      { ca, subjectAltNames: [{ type: 'uri', value: 'dns:up.test' }] },
      failure('its certificate is not for dns:up.test'),
      undefined,
    ],
    [
      'its alternative name is listed and its issuer is not trusted',
      both,
      { ca: strangers.cert, subjectAltNames: [spiffe] },
      failure('its certificate is not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      undefined,
    ],
    ['sni is an address', byAddress, { ca, sni: '127.0.0.1' }, 'secret', false],
    ['sni ends with a point', byName, { ca, sni: 'up.test.' }, 'secret', 'up.test'],
    // No client may believe it (RFC 9110 §4.3.4): who signs names has not asked whose the subject is.
    [
      'the subject alone has the name',
      pair({ issuer, subject: [['CN', 'up.test']] }),
      { ca, sni: 'up.test' },
      failure('its certificate is not for up.test'),
      undefined,
    ],
    [
      'the subject has the name, in the certificate of a client',
      pair({ issuer, subject: [['CN', 'up.test']], uris: ['spiffe://a/b'] }),
      { ca, sni: 'up.test' },
      failure('its certificate is not for up.test'),
      undefined,
    ],
    [
      'nobody knows who issued it',
      byAddress,
      { ca: strangers.cert },
      failure('its certificate is not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      undefined,
    ],
    [
      'it signed itself',
      pair({ addresses: ['127.0.0.1'] }),
      { ca },
      failure('its certificate is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT'),
      undefined,
    ],
    [
      'the system does not trust it',
      byAddress,
      {},
      failure('its certificate is not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      undefined,
    ],
    [
      'it has expired',
      pair({ issuer, addresses: ['127.0.0.1'], until: new Date(Date.now() - 1_000) }),
      { ca },
      failure('its certificate is not trusted: CERT_HAS_EXPIRED'),
      undefined,
    ],
    [
      'a NUL hides the rest of its name',
      pair({ issuer, dnsNames: ['up.test\0.evil.test'] }),
      { ca, sni: 'up.test' },
      failure('its certificate is not for up.test'),
      undefined,
    ],
    [
      'its versions do not fit',
      byAddress,
      { ca, maxVersion: 'TLSv1_2', server: { minVersion: 'TLSv1.3' } },
      failure('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'),
      undefined,
    ],
  ] as const)
    it(`answers ${outcome.slice(0, 3) === '502' ? '502' : '200'} when ${what}`, async () => {
      const { server = {}, ...own } = tls as { server?: object };
      await install(await upstream({ ...shown, ...server }), { mode: 'tls', ...own });
      expect(await ask()).to.equal(outcome);
      if (outcome === 'secret') expect(seen[0]).to.include({ servername, alpn: 'http/1.1', client: '' });
    });

  it('shows its own certificate with mtls, and none with tls', async () => {
    const upstreamPort = await upstream({ ...byAddress, ca, requestCert: true, rejectUnauthorized: true });
    await install(upstreamPort, { mode: 'mtls', ca, ...client });
    expect(await ask()).to.equal('secret');
    expect(seen[0]?.client).to.equal('URI:spiffe://a/proxy');
    await install(upstreamPort, { mode: 'tls', ca, ...client });
    expect(await ask()).to.match(/^502 /);
  });

  // In TLS 1.3 the refusal comes where the response was to be: it was taken for a reset.
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const http2 of [false, true])
      it(`fails in its handshake when it wants a certificate that is not there (${maxVersion}, HTTP/${http2 ? 2 : 1})`, async () => {
        const wants = { ca, requestCert: true, rejectUnauthorized: true, maxVersion };
        const upstreamPort = await upstream({ ...byAddress, ...wants, ALPNProtocols: ['h2', 'http/1.1'] });
        await install(upstreamPort, { mode: 'tls', ca }, { http2 });
        expect(await ask()).to.match(/^502 tls_handshake_failure upstream TLS handshake failed: ERR_SSL_\S+$/);
      });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const http2 of [false, true])
      it(`that closes without an alert over the client certificate fails in its handshake (${maxVersion}, HTTP/${http2 ? 2 : 1})`, async () => {
        const checks = { ca, requestCert: true, rejectUnauthorized: true, maxVersion };
        const upstreamPort = await upstream({ ...byAddress, ...checks, ALPNProtocols: ['h2', 'http/1.1'] });
        const stranger = pair({ issuer: strangers, uris: ['spiffe://b/proxy'] });
        await install(upstreamPort, { mode: 'mtls', ca, ...stranger }, { http2 });
        for (let i = 0; i < 3; i++) {
          expect(await ask()).to.match(
            /^502 tls_handshake_failure upstream TLS handshake failed: (the upstream closed|ECONNRESET)/,
          );
        }
      });

  it('keeps to its versions', async () => {
    const upstreamPort = await upstream(byAddress);
    await install(upstreamPort, { mode: 'tls', ca, maxVersion: 'TLSv1_2' });
    expect(await ask()).to.equal('secret');
    await install(upstreamPort, { mode: 'tls', ca, minVersion: 'TLSv1_3' });
    expect(await ask()).to.equal('secret');
    expect(seen.map(({ version }) => version)).to.deep.equal(['TLSv1.2', 'TLSv1.3']);
  });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`resumes sessions of the same endpoint (${maxVersion})`, async () => {
      const upstreamPort = await upstream({ ...byAddress, maxVersion });
      await install(upstreamPort, { mode: 'tls', ca });
      for (let i = 0; i < 3; i++) expect(await ask('/once')).to.equal('secret');
      expect(seen.map(({ reused }) => reused)).to.deep.equal([false, true, true]);
    });

  it('uses one connection for many requests', async () => {
    await install(await upstream(byAddress), { mode: 'tls', ca });
    for (let i = 0; i < 5; i++) expect(await ask()).to.equal('secret');
    expect(seen).to.have.length(1);
  });

  it('is closed when its handshake takes too long', async () => {
    const silent = createPlainServer((socket) => socket.on('error', () => {}));
    bed.atEnd(async () => void silent.close());
    await install(await listening(silent), { mode: 'tls', ca }, { timeouts: { tlsHandshake: '100ms' } });
    expect(await ask()).to.equal(failure('not done in time'));
  });

  it('gets no plaintext when it does not speak TLS', async () => {
    let heard = '';
    const plain = createPlainServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString('latin1');
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    bed.atEnd(async () => void plain.close());
    await install(await listening(plain), { mode: 'tls', ca });
    expect(await ask()).to.match(/^502 tls_handshake_failure .*ERR_SSL/);
    expect(heard).to.not.contain('GET');
  });

  for (const [what, tls, reason] of [
    ['an authority', { mode: 'tls', ca: 'none' }, 'its ca is not a certificate in PEM form'],
    [
      'a certificate',
      { mode: 'mtls', ca, cert: 'none', key: client.key },
      'its certificate is not a certificate in PEM form',
    ],
    [
      'a key of another certificate',
      { mode: 'mtls', ca, cert: client.cert, key: byName.key },
      'its key cannot be used: key values mismatch',
    ],
  ] as const)
    it(`alone is broken by ${what} that cannot be used`, async () => {
      const upstreamPort = await upstream(byAddress);
      await install(upstreamPort, tls);
      expect(await ask()).to.equal(failure(reason));
      expect(seen).to.deep.equal([]);
      await install(upstreamPort, { mode: 'tls', ca });
      expect(await ask()).to.equal('secret');
    });

  // An attacker in the path could cut a body that lasts until the end of the connection (RFC 9112 §9.8).
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const [what, head, end, size, complete] of [
      ['without a goodbye', '', 'bare', 4, false],
      ['without a goodbye, long', '', 'bare', 4 << 20, false],
      ['with a goodbye', '', 'said', 4, true],
      ['with a goodbye, long', '', 'said', 4 << 20, true],
      ['without a goodbye behind all it announced', 'Content-Length: 4\r\n', 'bare', 4, true],
    ] as const)
      it(`that ends ${what} is ${complete ? 'complete' : 'cut'} (${maxVersion})`, async () => {
        const server = createPlainServer((plain) => {
          plain.on('error', () => {});
          const secured = new TLSSocket(plain, { isServer: true, maxVersion, ...byAddress });
          secured.on('error', () => {});
          secured.once('data', () => {
            const said = `HTTP/1.1 200 OK\r\nConnection: close\r\n${head}\r\n${'.'.repeat(size)}`;
            if (end === 'said') secured.end(said);
            else secured.write(said, () => plain.end());
          });
        });
        bed.atEnd(async () => void server.close());
        await install(await listening(server), { mode: 'tls', ca });
        const wire = bed.wire(port);
        wire.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        const received = await wire.untilClosed();
        expect(received).to.match(/^HTTP\/1\.1 200 OK\r\n/);
        expect(received.split('.').length - 1).to.be.greaterThan(0);
        expect(received.endsWith(head === '' ? '\r\n0\r\n\r\n' : '\r\n\r\n....')).to.equal(complete);
      });

  it('carries large bodies both ways', async () => {
    await install(await upstream(byAddress), { mode: 'tls', ca });
    const { statusCode, body } = await send(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: Buffer.alloc(8 << 20),
    });
    expect(statusCode).to.equal(200);
    expect(await body.text()).to.equal('secret');
  });
});
