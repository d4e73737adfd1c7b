// Probes of each type against real servers (contract.md §7.10, architecture.md §6.26).
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import { type ProbePlan, probe } from '../../../../src/proxy/upstream/health/probe.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { http1 } from '../../../../src/proxy/upstream/protocol/http1.ts';
import { http2 } from '../../../../src/proxy/upstream/protocol/http2.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { ca, server as certified } from '../../../support/certificates.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { silentPort } from '../../../support/silent-port.ts';

const plan = (changes: Partial<ProbePlan> = {}): ProbePlan => ({
  type: 'http',
  path: '/health',
  grpcService: '',
  statuses: [[200, 399]],
  timeoutMs: 5_000,
  dualStackFallbackMs: 300,
  protocol: http1,
  tls: undefined,
  ...changes,
});

describe('a probe', () => {
  const servers: { close(): unknown }[] = [];
  let roots = async (): Promise<void> => {};
  afterEach(() => {
    roots = async () => {};
    for (const server of servers.splice(0)) server.close();
  });

  const listen = (server: Server | Http2Server): Promise<number> => {
    servers.push(server);
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  };
  const ask = (port: number, changes: Partial<ProbePlan> = {}) =>
    probe({ name: `127.0.0.1:${port}`, host: '127.0.0.1', port }, plan(changes), {
      clock: systemClock,
      wheel: new Wheel(systemClock),
      lookup: new NameLookup(systemClock).lookup,
      roots,
    });

  it('of type http passes by status, without following redirects', async () => {
    const seen: string[] = [];
    let status = 200;
    const port = await listen(
      createServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.host}`);
        response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(100_000));
      }),
    );
    expect(await ask(port)).to.equal(undefined);
    expect(seen).to.deep.equal([`GET /health 127.0.0.1:${port}`]);
    status = 302;
    expect(await ask(port)).to.equal(undefined);
    expect(seen).to.have.length(2);
    expect(await ask(port, { statuses: [[200, 299]] })).to.equal('status 302');
    status = 500;
    expect(await ask(port)).to.equal('status 500');
    expect(await ask(port, { statuses: [[500, 500]] })).to.equal(undefined);
  });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`of type tcp fails where the client certificate is refused, and passes where it is taken (${maxVersion})`, async () => {
      const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
      const other = makeCertificate({ authority: true, subject: [['CN', 'Others']] });
      const own = makeCertificate({ issuer: authority, addresses: ['127.0.0.1'] });
      const server = createTlsServer({
        ...{ cert: own.cert, key: own.key, ca: authority.cert, maxVersion },
        ...{ requestCert: true, rejectUnauthorized: true },
      });
      server.on('tlsClientError', () => {});
      const port = await listen(server);
      const askWith = ({ cert, key }: { cert: string; key: string }) =>
        ask(port, { type: 'tcp', tls: { ca: authority.cert, cert, key, host: '127.0.0.1' } });
      expect(await askWith(makeCertificate({ issuer: authority, uris: ['spiffe://a/proxy'] }))).to.equal(undefined);
      const refused = await askWith(makeCertificate({ issuer: other, uris: ['spiffe://b/proxy'] }));
      expect(refused).to.match(/ERR_SSL_\w*ALERT|ECONNRESET|may refuse the client certificate/);
      // A server that says nothing after the handshake is not taken for one that refuses.
      server.on('secureConnection', (socket) => socket.on('error', () => {}).resume());
      expect(await askWith(makeCertificate({ issuer: authority, uris: ['spiffe://a/proxy'] }))).to.equal(undefined);
    });

  it('fails when no server listens, none answers in time, or the answer is not HTTP', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}).resume());
    const port = await listen(server);
    expect(await ask(port, { timeoutMs: 50 })).to.equal('no answer within 50 ms');
    server.on('connection', (socket) => socket.end('what?'));
    expect(await ask(port)).to.be.a('string');
    await new Promise((resolve) => server.close(resolve));
    expect(await ask(port)).to.equal('ECONNREFUSED');
  });

  it('fails when the material of the destination cannot be used', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => {}).resume()));
    expect(await ask(port, { tls: { cert: 'no PEM', key: 'no PEM' } })).to.be.a('string');
  });

  it('of type tcp passes when the connection is accepted', async () => {
    expect(
      await ask(await listen(createTcpServer((socket) => socket.on('error', () => {}).resume())), { type: 'tcp' }),
    ).to.equal(undefined);
  });

  describe('of a name with several addresses', () => {
    const names = ['127.0.0.1', '127.0.0.2'];
    const askByName = (port: number, changes: Partial<ProbePlan>) =>
      probe({ name: `upstream.test:${port}`, host: 'upstream.test', port }, plan({ type: 'tcp', ...changes }), {
        clock: systemClock,
        wheel: new Wheel(systemClock),
        lookup: new NameLookup(systemClock, (_name, answer) =>
          setImmediate(
            answer,
            null,
            names.map((address) => ({ address, family: 4 })),
          ),
        ).lookup,
        roots,
      });

    it('waits for the first address while others are tried, for as long as its timeout', async () => {
      const late = await silentPort();
      servers.push(late);
      const verdict = askByName(late.port, {});
      // The second address has refused by then.
      setTimeout(() => late.wake(), 600);
      expect(await verdict).to.equal(undefined);
    });

    it('passes by the address that answers, and fails when all are silent or refuse', async () => {
      const silent = await silentPort();
      servers.push(silent);
      expect(await askByName(silent.port, { timeoutMs: 400, dualStackFallbackMs: 60_000 })).to.match(/^no answer/);
      const server = createTcpServer((socket) => socket.on('error', () => {}).resume());
      servers.push(server);
      await once(server.listen(silent.port, '127.0.0.2'), 'listening');
      expect(await askByName(silent.port, {})).to.equal(undefined);
      expect(await askByName(await freePort(), {})).to.equal('ECONNREFUSED');
    });
  });

  it('of type grpc asks for the service by name', async () => {
    const asked: string[] = [];
    const server = createHttp2Server();
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('data', (chunk: Buffer) => {
        const service = chunk.subarray(7).toString();
        asked.push(`${headers[':path']} ${service}`);
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': service === 'unknown' ? '5' : '0' }));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 8, service === 'down' ? 2 : 1]));
      });
    });
    const port = await listen(server);
    const grpc = (grpcService: string) => ask(port, { type: 'grpc', grpcService });
    expect(await grpc('my.Service')).to.equal(undefined);
    expect(asked).to.deep.equal(['/grpc.health.v1.Health/Check my.Service']);
    expect(await grpc('down')).to.equal('not serving');
    expect(await grpc('unknown')).to.equal('grpc-status 5');
  });

  it('of type http to a destination of HTTP/2 speaks it, in cleartext and over TLS', async () => {
    const clear = createHttp2Server((_, response) => response.writeHead(204).end());
    expect(await ask(await listen(clear), { protocol: http2 })).to.equal(undefined);
    const secure = createSecureServer(certified, (_, response) => response.writeHead(503).end());
    const port = await listen(secure);
    expect(await ask(port, { protocol: http2, tls: { ca, servername: 'localhost' } })).to.equal('status 503');
    expect(await ask(port, { protocol: http2, tls: { servername: 'localhost' } })).to.match(/CERT|SIGNED|UNABLE/);
  });

  it('without an authority of its own waits for those of the system, and asks for none where it has one', async () => {
    const events: string[] = [];
    const server = createTcpServer((socket) => {
      events.push('connection');
      socket.destroy();
    });
    const port = await listen(server);
    roots = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      events.push('roots');
    };
    await ask(port, { tls: {} });
    expect(events).to.deep.equal(['roots', 'connection']);
    await ask(port, { tls: { ca } });
    await ask(port);
    expect(events.filter((event) => event === 'roots')).to.have.length(1);
  });
});
