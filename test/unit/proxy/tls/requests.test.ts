// Requests that come over TLS: what routes, expressions and upstreams are told of it, and which hosts they may name.
import { expect } from 'chai';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { ask, bodyOf } from '../../../support/secure-client.ts';

const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
const keyPair = ({ cert, key }: { cert: string; key: string }) => ({ cert, key });
const own = keyPair(makeCertificate({ dnsNames: ['own.test', 'localhost'], addresses: ['127.0.0.1', '::1'] }));
const shop = keyPair(makeCertificate({ dnsNames: ['shop.test', '*.shop.test'] }));
const agent = keyPair(
  makeCertificate({
    issuer: authority,
    serial: '0b',
    subject: [
      ['O', 'myorg'],
      ['CN', 'agent-a'],
    ],
    uris: ['spiffe://a/agent', 'spiffe://a/other'],
    dnsNames: ['agent.test'],
  }),
);
const nameless = keyPair(makeCertificate({ issuer: authority, subject: [['CN', 'nameless']] }));
const forged = 'X-Forwarded-Client-Cert: spiffe://a/admin\r\nX_Forwarded_Client_Cert: spiffe://a/admin\r\n';
const request = (host: string, fields = '', path = '/') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}Connection: close\r\n\r\n`;

describe('requests over TLS', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  /** Everything is forwarded to an upstream that answers with the fields it was sent, but for `routes` before it. */
  const serve = async (tls: object | undefined, routes: object[] = [], listener: object = {}): Promise<void> => {
    const upstream = await bed.upstream(({ headers }, response) => response.end(JSON.stringify(headers)));
    await bed.install({
      listeners: [{ id: 'edge', name: 'edge', port, tls, ...listener }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream }],
      routes: [
        ...routes,
        { id: 'z', name: 'z', match: { pathPrefix: '/' }, forward: { destinations: [{ destinationId: 'd' }] } },
      ],
    } as object);
  };
  const mutual = { ...own, clientAuth: { mode: 'optional', ca: authority.cert } };
  const when = (cel: string) => ({
    id: 'a',
    name: 'a',
    match: { path: '/', cel },
    directResponse: { status: 200, body: 'matched' },
  });

  it('have the scheme https, for upstreams and for expressions', async () => {
    await serve(own, [
      { ...when("request.scheme == 'https'"), match: { path: '/cel', cel: "request.scheme == 'https'" } },
    ]);
    expect(JSON.parse(bodyOf(await ask(port)))).to.include({
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'localhost',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(bodyOf(await ask(port, {}, request('localhost', '', '/cel')))).to.equal('matched');
  });

  it('send the upstream the URI names of the client certificate, and never the client’s own field', async () => {
    await serve(mutual);
    const told = async (client: object, fields: string) =>
      JSON.parse(bodyOf(await ask(port, client, request('localhost', fields))));
    for (const fields of ['', forged, `Connection: x-forwarded-client-cert\r\n${forged}`])
      expect(await told(agent, fields)).to.include({ 'x-forwarded-client-cert': 'spiffe://a/agent;spiffe://a/other' });
    for (const client of [{}, nameless])
      expect(await told(client, forged)).to.not.have.property('x-forwarded-client-cert');
    expect(await told(agent, forged)).to.not.have.property('x_forwarded_client_cert');
  });

  it('are matched by the rebuilt field, also where peers are trusted', async () => {
    const routes = [when("request.headers['x-forwarded-client-cert'] == 'spiffe://a/admin'")];
    await serve(mutual, routes, { trustedProxies: ['127.0.0.1'] });
    for (const client of [{}, agent])
      expect(bodyOf(await ask(port, client, request('localhost', forged)))).to.not.equal('matched');
    await serve(mutual, [when("request.headers['x-forwarded-client-cert'].startsWith('spiffe://a/agent;')")]);
    expect(bodyOf(await ask(port, agent, request('localhost', forged)))).to.equal('matched');
  });

  it('without TLS never carry a client certificate', async () => {
    await serve(undefined, [when("'x-forwarded-client-cert' in request.headers || has(request.tls)")]);
    const wire = bed.wire(port);
    wire.send(request('localhost', forged));
    const answer = await wire.untilClosed();
    expect(answer).to.contain('200').and.not.contain('spiffe').and.not.contain('matched');
  });

  it('show expressions the verified client certificate', async () => {
    const certificate = 'request.tls.peerCertificate';
    await serve(mutual, [
      when(
        `${certificate}.uris == ['spiffe://a/agent', 'spiffe://a/other'] && ${certificate}.dnsNames == ['agent.test'] && ` +
          `${certificate}.subject == 'CN=agent-a,O=myorg' && ${certificate}.serial == 'b'`,
      ),
    ]);
    const first = await ask(port, { ...agent, servername: 'own.test' });
    expect(bodyOf(first)).to.equal('matched');
    const again = await ask(port, { ...agent, servername: 'own.test', session: first.session as Buffer });
    expect(again.reused).to.equal(true);
    expect(bodyOf(again)).to.equal('matched');
    expect(bodyOf(await ask(port))).to.not.equal('matched');
  });

  describe('to hosts that the certificate of their connection does not cover', () => {
    const rows = [
      ['own.test', 'own.test', '200'],
      ['own.test', 'OWN.test:443', '200'],
      ['own.test', '127.0.0.1', '200'],
      ['own.test', '[0::1]:99', '200'],
      ['own.test', 'shop.test', '421'],
      ['', 'own.test', '200'],
      ['', 'shop.test', '421'],
      ['shop.test', 'shop.test', '200'],
      ['shop.test', 'a.shop.test', '200'],
      ['a.shop.test', 'a.b.shop.test', '421'],
      ['a.shop.test', 'own.test', '421'],
      ['unknown.test', 'unknown.test', '421'],
      ['unknown.test', 'own.test', '200'],
    ] as const;
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      it(`are answered 421 with strictServerName, in resumed sessions too (${version})`, async () => {
        await serve({ ...own, certificates: [shop], strictServerName: true });
        const only = { minVersion: version, maxVersion: version };
        for (const [servername, host, status] of rows) {
          const first = await ask(port, { ...only, servername }, request(host));
          expect(first.text, `${servername} ${host}`).to.match(new RegExp(`^HTTP/1.1 ${status} `));
          const session = first.session === undefined ? {} : { session: first.session };
          const again = await ask(port, { ...only, servername, ...session }, request(host));
          expect(again.text, `${servername} ${host}`).to.match(new RegExp(`^HTTP/1.1 ${status} `));
        }
        const refused = await ask(port, { servername: 'own.test' }, request('shop.test'));
        expect(JSON.parse(bodyOf(refused))).to.include({ error: 'misdirected_request', status: 421 });
      });

    it('are answered 421 where the server name is of another section', async () => {
      const sections = [
        { name: 'shop', hostnames: ['shop.test'] },
        { name: 'sub', hostnames: ['*.shop.test'] },
        { name: 'rest' },
      ];
      const tls = { ...own, certificates: [{ ...shop, serverNames: ['*'] }], strictServerName: true };
      await serve(tls, [], { sections });
      for (const [servername, host, status] of [
        ['shop.test', 'shop.test', '200'],
        ['shop.test', 'a.shop.test', '421'],
        ['a.shop.test', 'b.shop.test', '200'],
        ['a.shop.test', 'a.b.shop.test', '200'],
        ['a.shop.test', 'shop.test', '421'],
        ['else.test', 'other.test', '200'],
        ['else.test', 'shop.test', '421'],
        ['', 'own.test', '200'],
        ['', 'shop.test', '421'],
      ] as const) {
        const answer = await ask(port, { servername }, request(host));
        expect(answer.text, `${servername} ${host}`).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      }
      await serve({ ...tls, strictServerName: false }, [], { sections });
      expect((await ask(port, { servername: 'a.shop.test' }, request('shop.test'))).text).to.match(/^HTTP\/1.1 200 /);
    });

    it('are served without it', async () => {
      await serve({ ...own, certificates: [shop] });
      expect((await ask(port, { servername: 'own.test' }, request('shop.test'))).text).to.match(/^HTTP\/1.1 200 /);
    });
  });
});
