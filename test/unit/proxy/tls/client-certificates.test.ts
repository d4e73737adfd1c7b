// Client certificates: who gets in, and what is known of them.
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { PeerCertificate } from '../../../../src/proxy/tls/client-certificate.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { type CertificateWish, makeCertificate } from '../../../support/made-certificates.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { ask, bodyOf } from '../../../support/secure-client.ts';

const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
const strangers = makeCertificate({ authority: true, subject: [['CN', 'Strangers']] });
const pair = (wish: CertificateWish) => {
  const { cert, key } = makeCertificate(wish);
  return { cert, key };
};
const own = pair({ dnsNames: ['own.test'] });
const agent = pair({ issuer: authority, uris: ['spiffe://a/agent'] });
const stranger = pair({ issuer: strangers, uris: ['spiffe://a/agent'] });
const expired = pair({ issuer: authority, uris: ['spiffe://a/agent'], until: new Date(Date.now() - 1_000) });

describe('a listener that asks for client certificates', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const serve = (mode: string): Promise<void> =>
    bed.install({
      listeners: [{ id: 'edge', name: 'edge', port, tls: { ...own, clientAuth: { mode, ca: authority.cert } } }],
      routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'in' } }],
    } as object);

  const rows = [
    ['require', 'a certificate of its authority', agent, true],
    ['require', 'none', {}, false],
    ['require', "a stranger's", stranger, false],
    ['require', 'one that has expired', expired, false],
    ['optional', 'a certificate of its authority', agent, true],
    ['optional', 'none', {}, true],
    ['optional', "a stranger's", stranger, false],
    ['none', "a stranger's", stranger, true],
    ['unverified', "a stranger's", stranger, true],
    ['unverified', 'one that has expired', expired, true],
    ['unverified', 'none', {}, true],
    ['unverified', 'a certificate of its authority', agent, true],
  ] as const;
  for (const [mode, what, shown, admitted] of rows)
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      it(`${admitted ? 'admits' : 'refuses'} with ${mode}: ${what} (${version})`, async () => {
        await serve(mode);
        const asked = ask(port, { ...shown, minVersion: version, maxVersion: version });
        const body = await asked.then(bodyOf, () => 'out');
        expect(body).to.equal(admitted ? 'in' : 'out');
      });

  describe('without verifying them', () => {
    const forwarding = async (clientAuth: object): Promise<void> => {
      const upstream = await bed.upstream(({ headers }, response) => response.end(JSON.stringify(headers)));
      await bed.install({
        listeners: [{ id: 'edge', name: 'edge', port, tls: { ...own, clientAuth } }],
        destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream }],
        routes: [
          {
            ...{ id: 'a', name: 'a', match: { cel: 'has(request.tls)' } },
            directResponse: { status: 200, body: 'known' },
          },
          { id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } },
        ],
      } as object);
    };
    const forged =
      'GET / HTTP/1.1\r\nHost: own.test\r\nX-Forwarded-Client-Cert: spiffe://a/agent\r\nConnection: close\r\n\r\n';

    for (const [what, clientAuth] of [
      ['with an authority', { mode: 'unverified', ca: authority.cert }],
      ['without one', { mode: 'unverified' }],
    ] as const)
      it(`takes none for an identity ${what}, in resumed sessions too`, async () => {
        await forwarding(clientAuth);
        for (const client of [agent, stranger, expired, {}]) {
          const first = await ask(port, { ...client, servername: 'own.test' }, forged);
          const session = first.session === undefined ? {} : { session: first.session };
          const again = await ask(port, { ...client, servername: 'own.test', ...session }, forged);
          for (const answer of [first, again]) {
            expect(answer.text).to.match(/^HTTP\/1\.1 200 /);
            expect(JSON.parse(bodyOf(answer))).to.not.have.property('x-forwarded-client-cert');
          }
        }
      });

    it('ends connections with an identity when verification ends', async () => {
      await forwarding({ mode: 'optional', ca: authority.cert });
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...agent });
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
      });
      let isClosed = false;
      socket.on('close', () => {
        isClosed = true;
      });
      const request = 'GET / HTTP/1.1\r\nHost: own.test\r\n\r\n';
      socket.write(request);
      await eventually(() => expect(text).to.match(/known$/));
      await forwarding({ mode: 'unverified', ca: authority.cert });
      await eventually(() => expect(isClosed).to.equal(true));
    });
  });

  it('stays closed without a usable authority', async () => {
    const tls = {
      ...own,
      clientAuth: {
        mode: 'require',
        ca: `${authority.cert}\n-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----`,
      },
    };
    await bed.install({ listeners: [{ id: 'edge', name: 'edge', port, tls }] } as object);
    expect(bed.proxy.listeners()[0]).to.deep.include({
      state: 'closed',
      reason: '/listeners/edge/tls/clientAuth/ca cannot be read: certificate 2 of it: the listener stays closed',
    });
  });
});

describe('a client certificate', () => {
  const known = (wish: CertificateWish) => new PeerCertificate(new X509Certificate(makeCertificate(wish).cert), '');

  it('is its names, its subject in the order of the contract, and its serial', () => {
    const { facts } = known({
      serial: '00a1',
      dnsNames: ['a.test', '*.b.test'],
      uris: ['spiffe://a/one', 'spiffe://a/two'],
      addresses: ['127.0.0.1', '::1'],
      subject: [
        ['C', 'DE'],
        ['ST', 'Hesse'],
        ['L', 'Kassel'],
        ['O', 'myorg'],
        ['OU', 'x'],
        ['OU', 'y'],
        ['title', 'left out'],
        ['CN', 'agent-a'],
        ['street', 'Way 1'],
        ['postalCode', '34117'],
        ['serialNumber', '77'],
      ],
    });
    expect(facts.peerCertificate).to.deep.equal({
      uris: ['spiffe://a/one', 'spiffe://a/two'],
      dnsNames: ['a.test', '*.b.test'],
      subject: 'SERIALNUMBER=77,CN=agent-a,POSTALCODE=34117,STREET=Way 1,ST=Hesse,L=Kassel,OU=x+OU=y,O=myorg,C=DE',
      serial: 'a1',
    });
  });

  it('is not ambiguous: separators are escaped', () => {
    const { facts, forwarded } = known({
      subject: [['CN', ' #a,O="b"\\+<c>; ']],
      uris: ['spiffe://a/x, URI:spiffe://a/root', 'spiffe://a/y;spiffe://a/root', 'spiffe://a/\r\nX-Evil: 1'],
    });
    expect(facts.peerCertificate.subject).to.equal('CN=\\ #a\\,O=\\"b\\"\\\\\\+\\<c\\>\\;\\ ');
    expect(facts.peerCertificate.uris).to.have.length(3);
    expect(forwarded.split(';')).to.deep.equal([
      'spiffe://a/x,%20URI:spiffe://a/root',
      'spiffe://a/y%3Bspiffe://a/root',
      'spiffe://a/%0D%0AX-Evil:%201',
    ]);
  });
});
