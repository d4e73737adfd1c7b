// TLS to services and key sets: servers that are reached through Node's own clients are trusted no further than
// upstreams.
import type { Server } from 'node:http';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import { createServer as createPlainServer } from 'node:net';
import { expect } from 'chai';
import { reasonOf } from '../../../../src/proxy/external/external-failure.ts';
import { GrpcChannel } from '../../../../src/proxy/external/grpc-channel.ts';
import { frameOf } from '../../../../src/proxy/external/grpc-frames.ts';
import { HttpService } from '../../../../src/proxy/external/http-service.ts';
import { requestJwks } from '../../../../src/proxy/jwks/jwks-request.ts';
import { healthPlan } from '../../../../src/proxy/upstream/health/health-plan.ts';
import { probe } from '../../../../src/proxy/upstream/health/probe.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { type CertificateWish, makeCertificate } from '../../../support/made-certificates.ts';
import { listening } from '../../../support/proxy-bed.ts';

const issuer = makeCertificate({ authority: true, subject: [['CN', 'Servers']] });
const strangers = makeCertificate({ authority: true, subject: [['CN', 'Strangers']] });
const pair = (wish: CertificateWish) => {
  const { cert, key } = makeCertificate(wish);
  return { cert, key };
};
const signed = (wish: CertificateWish) => pair({ issuer, ...wish });
const ca = issuer.cert;
const byAddress = signed({ addresses: ['127.0.0.1'] });
const byName = signed({ dnsNames: ['up.test'] });
const client = signed({ uris: ['spiffe://a/proxy'] });
const damaged = `${ca}\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----`;

interface Row {
  readonly shown: ServerOptions;
  readonly tls: object;
  readonly host?: string;
  /** Options of the server. */
  readonly name?: string;
  readonly trusted?: boolean;
}

const rows: Readonly<Record<string, Row>> = {
  'its address is in the certificate': { shown: byAddress, tls: { ca }, trusted: true },
  'sni is in the certificate': { shown: byName, tls: { ca, sni: 'up.test' }, name: 'up.test', trusted: true },
  'sni ends with a point': { shown: byName, tls: { ca, sni: 'up.test.' }, name: 'up.test', trusted: true },
  'sni is an address': { shown: byAddress, tls: { ca, sni: '127.0.0.1' }, host: 'localhost', trusted: true },
  'sni is an address, the certificate for its host': {
    ...{ shown: signed({ dnsNames: ['localhost'] }), tls: { ca, sni: '127.0.0.1' }, host: 'localhost' },
  },
  'it shows its client what it wants to see': {
    shown: { ...byAddress, ca, requestCert: true, rejectUnauthorized: true },
    tls: { mode: 'mtls', ca, ...client },
    trusted: true,
  },
  'another authority signed': { shown: byAddress, tls: { ca: strangers.cert } },
  'nobody known signed': { shown: byAddress, tls: {} },
  'it has expired': { shown: signed({ addresses: ['127.0.0.1'], until: new Date(Date.now() - 1_000) }), tls: { ca } },
  'the name is another': { shown: byName, tls: { ca, sni: 'down.test' }, name: 'down.test' },
  'the subject alone has the name': {
    ...{ shown: signed({ subject: [['CN', 'up.test']] }), tls: { ca, sni: 'up.test' }, name: 'up.test' },
  },
  'the subject has the name, of a client': {
    shown: signed({ subject: [['CN', 'up.test']], uris: ['spiffe://a/b'] }),
    tls: { ca, sni: 'up.test' },
    name: 'up.test',
  },
  'a NUL hides the rest of the name': {
    ...{ shown: signed({ dnsNames: ['up.test\0.evil.test'] }), tls: { ca, sni: 'up.test' }, name: 'up.test' },
  },
  'its authority is an empty text': { shown: byAddress, tls: { ca: '' } },
  'part of its authorities cannot be read': { shown: byAddress, tls: { ca: damaged } },
  'our own certificate is an empty text': {
    shown: { ...byAddress, ca, requestCert: true, rejectUnauthorized: false },
    tls: { mode: 'mtls', ca, cert: '', key: '' },
  },
};

describe('services behind TLS', () => {
  const ends: (() => unknown)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  const clock = systemClock;
  const wheel = new Wheel(clock);
  const names = new NameLookup(clock);
  const tools = { clock, lookup: names.lookup, names };
  const signal = (): AbortSignal => AbortSignal.timeout(120_000);

  const http1 = async (options: ServerOptions): Promise<number> => {
    const server = createServer(options, (_, response) => response.end('{"keys":[]}'));
    server.on('tlsClientError', () => {});
    ends.push(
      () => server.close(),
      () => server.closeAllConnections(),
    );
    return listening(server);
  };
  const grpc = async (options: ServerOptions): Promise<number> => {
    const server = createSecureServer(options).on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frameOf(Buffer.of(1)));
    });
    server.on('tlsClientError', () => {}).on('sessionError', () => {});
    ends.push(() => server.close());
    return listening(server as unknown as Server);
  };
  const serviceAt = (port: number, { tls, host = '127.0.0.1' }: Pick<Row, 'tls' | 'host'>, timeouts = {}) => {
    const healthCheck = { path: '/', timeout: '5s' };
    return {
      id: 's',
      name: 's',
      host,
      port,
      options: { tls: { mode: 'tls' as const, ...tls }, timeouts, healthCheck },
    };
  };
  type Service = ReturnType<typeof serviceAt>;
  const asks: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
    'over HTTP': (service) => {
      const one = new HttpService(service, tools);
      ends.push(() => one.close());
      return one.ask({ method: 'GET', path: '/', headers: [], body: undefined, signal: signal() });
    },
    'over gRPC': (service) => {
      const channel = new GrpcChannel(service, { clock, wheel, names });
      ends.push(() => channel.close());
      return channel.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {});
    },
    'for its keys': (destination) => requestJwks({ destination, path: '/', timeoutMs: 5_000 }, signal(), tools),
    'in a probe': async (service) => {
      const plan = healthPlan(service) ?? expect.fail('is not probed');
      const verdict = await probe({ name: 'a', host: service.host, port: service.port }, plan, {
        ...tools,
        wheel,
        roots,
      });
      if (verdict !== undefined) throw new Error(verdict);
    },
  };
  const roots = async (): Promise<void> => {};

  for (const [how, ask] of Object.entries(asks))
    for (const [what, row] of Object.entries(rows))
      it(`one that is asked ${how} is ${row.trusted ? '' : 'not '}trusted where ${what}`, async () => {
        const asked: string[] = [];
        const SNICallback = (name: string, done: (error: null) => void): void => {
          asked.push(name);
          done(null);
        };
        const listen = how === 'over gRPC' ? grpc : http1;
        const outcome = await ask(serviceAt(await listen({ ...row.shown, SNICallback }), row)).then(
          () => 'trusted',
          (error: unknown) => reasonOf(error),
        );
        if (row.trusted) expect(outcome).to.equal('trusted');
        else expect(outcome).to.match(/certificate|its ca |UNABLE_TO_VERIFY|CERT_HAS_EXPIRED/);
        expect(new Set(asked)).to.deep.equal(new Set(row.name === undefined ? [] : [row.name]));
      });

  it('one that is asked over HTTP is given up when its handshake takes longer than the destination allows', async () => {
    const silent = createPlainServer((socket) => socket.on('error', () => {}));
    ends.push(() => silent.close());
    const one = new HttpService(serviceAt(await listening(silent), { tls: { ca } }, { tlsHandshake: '100ms' }), tools);
    const asked = one.ask({ method: 'GET', path: '/', headers: [], body: undefined, signal: signal() });
    expect(await asked.catch(reasonOf)).to.equal('unreachable: TLS handshake not done in time');
    one.close();
  });
});
