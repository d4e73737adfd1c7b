// Connections that are open when their listener changes: who would not be let in any more as it was is told to go, by
// the means of its protocol, and no request is lost to that.
import { connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';

const pair = ({ cert, key }: { cert: string; key: string }) => ({ cert, key });
const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
const successor = makeCertificate({ authority: true, subject: [['CN', 'Successors']] });
const own = pair(makeCertificate({ dnsNames: ['own.test'] }));
const renewed = pair(makeCertificate({ dnsNames: ['own.test'] }));
const agent = pair(makeCertificate({ issuer: authority, uris: ['spiffe://a/agent'] }));

const asking = (mode: string, ca = authority.cert) => ({ http2: true, tls: { ...own, clientAuth: { mode, ca } } });
const quiet = { http2: true, tls: own };
const cleartext = { http2: true };

const rows = [
  // What changes, from what, to what, what the client shows, and who goes.
  ['its certificate is renewed', quiet, { ...quiet, tls: renewed }, {}, 'nobody'],
  ['a certificate is insisted on that it has shown', asking('optional'), asking('require'), agent, 'nobody'],
  ['a certificate is insisted on that it has not shown', asking('optional'), asking('require'), {}, 'both'],
  ['a certificate is insisted on that it was not asked for', quiet, asking('require'), {}, 'both'],
  ['certificates may be shown', quiet, asking('optional'), {}, 'nobody'],
  ['other authorities are trusted', asking('require'), asking('require', successor.cert), agent, 'both'],
  ['certificates are not asked for any more', asking('require'), quiet, agent, 'both'],
  ['HTTP/2 ends', quiet, { tls: own }, {}, 'HTTP/2'],
  ['HTTP/2 in cleartext ends', cleartext, {}, {}, 'HTTP/2'],
  ['TLS begins', cleartext, quiet, {}, 'both'],
  ['TLS ends', quiet, cleartext, {}, 'both'],
  [
    'its version is too old',
    quiet,
    { http2: true, tls: { ...own, minVersion: 'TLSv1_3' } },
    { maxVersion: 'TLSv1.2' },
    'both',
  ],
] as const;

describe('connections that are open when', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const install = (listener: object): Promise<void> =>
    bed.install({
      listeners: [{ id: 'edge', name: 'edge', port, ...listener }],
      routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'in' } }],
    } as object);

  for (const [what, before, after, shown, goes] of rows) {
    const secure = 'tls' in before;
    it(`${what}: ${goes} of HTTP/1.1 ${goes === 'both' ? 'goes' : 'stays'}`, async () => {
      await install(before);
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ...shown };
      const wire = secure ? undefined : bed.wire(port);
      let received = '';
      let ended = false;
      const client: TLSSocket | undefined = secure ? connect(options) : undefined;
      client?.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      client?.on('end', () => (ended = true));
      bed.atEnd(async () => void client?.destroy());
      const text = (): string => wire?.received ?? received;
      const send = (bytes: string): void => {
        if (wire === undefined) client?.write(bytes);
        else wire.send(bytes);
      };
      const answer = (count: number): Promise<string> =>
        eventually(() => {
          const answers = text().match(/HTTP\/1\.1 200 OK.*?\r\n\r\nin/gs) ?? [];
          expect(answers).to.have.length(count);
          return answers[count - 1] ?? '';
        });
      const request = 'GET / HTTP/1.1\r\nHost: own.test\r\n\r\n';
      // The second is on its way when the listener changes.
      send(request + request.slice(0, -2));
      expect(await answer(1)).not.to.contain('Connection: close');
      await install(after);
      send('\r\n');
      const second = await answer(2);
      if (goes === 'both') {
        expect(second).to.contain('Connection: close');
        await eventually(() => expect(wire?.closed ?? ended).to.equal(true));
        return;
      }
      expect(second).not.to.contain('Connection: close');
      send(request);
      expect(await answer(3)).not.to.contain('Connection: close');
    });

    it(`${what}: ${goes} of HTTP/2 ${goes === 'nobody' ? 'stays' : 'goes'}`, async () => {
      await install(before);
      const client = new Http2Client(`${secure ? 'https' : 'http'}://127.0.0.1:${port}`, {
        rejectUnauthorized: false,
        ...shown,
      });
      bed.atEnd(async () => client.close());
      expect(await client.ask({ ':path': '/' })).to.include({ status: 200, body: 'in' });
      await install(after);
      if (goes === 'nobody') {
        expect(await client.ask({ ':path': '/' })).to.include({ status: 200, body: 'in' });
        expect(client.goAways).to.deep.equal([]);
        return;
      }
      await eventually(() => expect(client.goAways).not.to.deep.equal([]));
      expect(client.goAways[0]).to.equal(2 ** 31 - 1);
      await eventually(() => expect(client.closed).to.equal(true));
    });
  }

  it('TLS begins, and are idle: they end', async () => {
    await install(cleartext);
    const wire = bed.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: own.test\r\n\r\n');
    await wire.until(/\r\n\r\nin$/);
    await install(quiet);
    expect(await wire.untilClosed()).to.match(/\r\n\r\nin$/);
  });

  it('HTTP/2 ends: a stream that is open goes on to its end', async () => {
    await install(quiet);
    const client = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    client.on('error', () => {});
    bed.atEnd(async () => client.destroy());
    let goAways = 0;
    client.on('goaway', () => goAways++);
    const stream = client.request({ ':path': '/', ':method': 'POST' });
    let status = 0;
    stream.on('response', (fields) => {
      status = Number(fields[':status']);
    });
    stream.on('error', () => {});
    stream.write('begun');
    await eventually(() => expect(status).to.equal(200));
    await install({ tls: own });
    await eventually(() => expect(goAways).to.be.least(1));
    stream.end('over');
    await eventually(() => expect(client.closed).to.equal(true));
    expect(stream.rstCode).to.equal(0);
  });
});
