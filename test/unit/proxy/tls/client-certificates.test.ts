// Client certificates: who gets in, and what is known of them.
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { PeerCertificate } from '../../../../src/proxy/tls/client-certificate.ts';
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
  ] as const;
  for (const [mode, what, shown, admitted] of rows)
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      it(`${admitted ? 'admits' : 'refuses'} with ${mode}: ${what} (${version})`, async () => {
        await serve(mode);
        const asked = ask(port, { ...shown, minVersion: version, maxVersion: version });
        const body = await asked.then(bodyOf, () => 'out');
        expect(body).to.equal(admitted ? 'in' : 'out');
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
