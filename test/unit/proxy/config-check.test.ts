import { expect } from 'chai';
import { checkConfig } from '../../../src/proxy/config-check.ts';
import { makeCertificate } from '../../support/made-certificates.ts';

const empty = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] };
const directResponse = { status: 200 };
const pointers = (list: readonly { pointer: string }[]) => list.map(({ pointer }) => pointer);

const now = Date.now();

describe('the check of a configuration', () => {
  it('refuses regexes that do not compile and names each', async () => {
    const routes = [
      { id: 'a', name: 'a', match: { pathRegex: '(' }, directResponse },
      { id: 'b', name: 'b', match: { headers: [{ name: 'x', value: '[', regex: true }] }, directResponse },
    ];
    const { problems } = await checkConfig({ ...empty, routes }, now);
    expect(pointers(problems)).to.deep.equal(['/routes/a/match/pathRegex', '/routes/b/match/headers/0/value']);
  });

  it('refuses a middleware that does not exist', async () => {
    const { problems } = await checkConfig(
      {
        ...empty,
        routes: [{ id: 'a', name: 'a', middlewareIds: ['gone'], directResponse }],
      },
      now,
    );
    expect(pointers(problems)).to.deep.equal(['/routes/a/middlewareIds/0']);
  });

  it('names TLS material that cannot be used, is going to expire, or has no name that a client asks for', async () => {
    const day = 86_400_000;
    const made = (dnsNames: readonly string[], days = 100) => {
      const { cert, key } = makeCertificate({ dnsNames, until: new Date(now + days * day + 60_000) });
      return { cert, key };
    };
    const good = made(['a.test']);
    const { cert, key } = makeCertificate({ uris: ['spiffe://a/b'] });
    const nameless = { cert, key };
    const listener = (id: string, tls: object) => ({ id, name: id, port: 1, tls: { ...good, ...tls } });
    const { warnings } = await checkConfig(
      {
        ...empty,
        listeners: [
          listener('good', { certificates: [made(['b.test'])] }),
          listener('ends', made(['a.test'], 13)),
          listener('ended', made(['a.test'], -1)),
          listener('others-key', { key: made(['x.test']).key }),
          listener('trust', { clientAuth: { mode: 'optional', ca: 'none' } }),
          listener('no-trust-needed', { clientAuth: { mode: 'none', ca: 'none' } }),
          listener('several', {
            certificates: [
              made(['b.test']),
              { ...made(['c.test']), cert: good.cert },
              made(['B.test']),
              nameless,
              made(['d.test'], 0),
            ],
          }),
        ],
      },
      now,
    );
    const isoDay = (days: number) => new Date(now + days * day + 60_000).toISOString().slice(0, 10);
    expect(warnings.map(({ pointer, message }) => `${pointer} ${message}`)).to.deep.equal([
      `/listeners/ends/tls its certificate expires on ${isoDay(13)}`,
      `/listeners/ended/tls its certificate has expired on ${isoDay(-1)}`,
      '/listeners/others-key/tls its key cannot be used: key values mismatch: the listener stays closed',
      '/listeners/trust/tls/clientAuth/ca is not a certificate in PEM form: the listener stays closed',
      '/listeners/several/tls/certificates/1 its key cannot be used: key values mismatch: it is left out',
      '/listeners/several/tls/certificates/2 earlier certificates have all its names: no client is going to get it',
      '/listeners/several/tls/certificates/3 its certificate has no DNS name: no client is going to get it',
      `/listeners/several/tls/certificates/4 its certificate expires on ${isoDay(0)}`,
    ]);
  });

  it('names hosts of routes and groups that no certificate of any listener is for', async () => {
    const made = (...dnsNames: string[]) => {
      const { cert, key } = makeCertificate({ dnsNames });
      return { cert, key };
    };
    const listeners = [
      { id: 'a', name: 'a', port: 1, tls: { ...made('a.test'), certificates: [made('*.shop.test')] } },
      { id: 'b', name: 'b', port: 2, tls: made('b.test') },
      { id: 'plain', name: 'plain', port: 3 },
    ];
    const covered = ['A.test', 'b.test', 'x.shop.test', '*.shop.test', '*'];
    const check = async (hosts: string[], bound: object = {}) => {
      const routes = [{ id: 'r', name: 'r', ...bound, match: { hostnames: [...covered, ...hosts] }, directResponse }];
      const groups = [{ id: 'g', name: 'g', ...bound, hostnames: [...covered, ...hosts], routeIds: ['r'] }];
      const { warnings } = await checkConfig({ ...empty, listeners, routes, groups }, now);
      return warnings.map(({ pointer, message }) => `${pointer} ${message}`);
    };
    expect(await check([])).to.deep.equal([]);
    expect(await check(['c.test'])).to.deep.equal([
      '/listeners/a/tls no certificate is for c.test, which routes match',
      '/listeners/b/tls no certificate is for c.test, which routes match',
    ]);
    expect(await check(['c.test'], { listenerIds: ['plain', 'plain/x'] })).to.deep.equal([]);
    expect(await check(['c.test'], { listenerIds: ['plain', 'a/x'] })).to.have.length(2);
    expect(await check(['c.test', 'd.test', '*.test', 'y.x.shop.test']))
      .to.have.length(2)
      .and.to.include('/listeners/b/tls no certificate is for c.test, d.test, *.test and 1 more, which routes match');
  });

  it('warns of what is not built, and leaves what dangles to those who look for it', async () => {
    const { problems, warnings } = await checkConfig(
      {
        ...empty,
        listeners: [{ id: 'l', name: 'l', port: 1, tls: { cert: 'c', key: 'k' } }],
        routes: [{ id: 'a', name: 'a', forward: { destinations: [{ destinationId: 'gone' }] } }],
        groups: [{ id: 'g', name: 'g', routeIds: ['none'] }],
      },
      now,
    );
    expect(problems).to.deep.equal([]);
    expect(pointers(warnings)).to.deep.equal(['/listeners/l/tls']);
  });
});
