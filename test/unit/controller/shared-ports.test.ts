// Listeners of one port share one listener of Sluice: what is wrong with one of them is no fault of the others.
import { expect } from 'chai';
import { makeCertificate } from '../../support/made-certificates.ts';
import { base, manifest, translated } from '../../support/manifests.ts';

const secret = (name: string, { cert, key }: { readonly cert: string; readonly key: string }): string => `---
apiVersion: v1
kind: Secret
metadata: { name: ${name}, namespace: shop }
stringData: ${JSON.stringify({ 'tls.crt': cert, 'tls.key': key })}
`;

const gateway = base.replace(
  'spec:\n  gatewayClassName',
  'spec:\n  allowedListeners: { namespaces: { from: All } }\n  gatewayClassName',
);

const https = (name: string) =>
  `{ name: ${name}, port: 443, protocol: HTTPS, hostname: ${name}.test, tls: { certificateRefs: [{ group: '', kind: Secret, name: ${name} }] } }`;

describe('a port of several listeners', () => {
  it('is not closed by a certificate that TLS cannot use: its listener alone is not served', () => {
    const weak = secret('weak', makeCertificate({ dnsNames: ['weak.test'], keyType: 'rsa', keyBits: 512 }));
    const good = secret('good', makeCertificate({ dnsNames: ['good.test'] }));
    const sets = manifest(
      'ListenerSet',
      'a',
      `{ parentRef: { name: web }, listeners: [${https('weak')}, ${https('good')}] }`,
    );
    const { entities, problems } = translated(`${gateway}${weak}${good}${sets}`);
    const listeners = entities.listeners as { tls?: object; sections: { hostnames: string[] }[] }[];
    const listener = listeners.find(({ tls }) => tls !== undefined);
    expect(listener?.sections.map(({ hostnames }) => hostnames)).to.deep.equal([['good.test']]);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(
      /^ListenerSet shop\/a, listener weak: InvalidCertificateRef: Secret shop\/weak: TLS cannot use it/,
    );
  });

  it('serves as many as Sluice takes, the older ones, and tells those that find no room', () => {
    const listeners = (set: number): string =>
      Array.from(
        { length: 60 },
        (_, n) => `{ name: l${n}, port: 8080, protocol: HTTP, hostname: h${n}.s${set}.test }`,
      ).join(', ');
    const sets = Array.from({ length: 17 }, (_, n) =>
      manifest(
        'ListenerSet',
        `s${String(n).padStart(2, '0')}`,
        `{ parentRef: { name: web }, listeners: [${listeners(n)}] }`,
      ),
    );
    const { entities, problems } = translated(`${gateway}${sets.join('')}`);
    const sections = (entities.listeners as { port: number; sections: object[] }[]).find(({ port }) => port === 8080);
    expect(sections?.sections).to.have.length(1000);
    expect(problems).to.have.length(20);
    expect(problems[0]).to.match(/^ListenerSet shop\/s16, listener l40: TooManyListeners: a port takes 1000 listeners/);
  });

  it('serves neither of two listeners of one host name, and no HTTPS listener without a certificate', () => {
    const twice = base.replace(
      "hostname: '*.inner.example' }",
      'hostname: a.test }\n    - { name: again, port: 80, protocol: HTTP, hostname: a.test }\n    - { name: secure, port: 443, protocol: HTTPS }',
    );
    const { entities, problems } = translated(
      `${twice}${manifest('HTTPRoute', 'a', '{ parentRefs: [{ name: web }], hostnames: [a.test], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }')}`,
    );
    expect(
      (entities.listeners as { port: number; sections: object[] }[]).map(({ port, sections }) => [port, sections]),
    ).to.deep.equal([[80, [{ name: 'http' }]]]);
    expect(entities.routes?.[0]).to.deep.include({ listenerIds: ['gateway:shop:web:80/http'] });
    expect(problems.filter((problem) => problem.includes('HostnameConflict'))).to.have.length(2);
    expect(problems.join()).to.contain('listener secure: InvalidCertificateRef');
  });

  it('has a section of an id that Sluice takes for a ListenerSet and a listener of the longest names', () => {
    const long = (letter: string): string => `${letter.repeat(60)}.`.repeat(4) + letter.repeat(9);
    const set = manifest(
      'ListenerSet',
      long('a'),
      `{ parentRef: { name: web }, listeners: [{ name: ${long('b')}, port: 81, protocol: HTTP }] }`,
    );
    const { problems } = translated(
      `${gateway}${set}`.replace(
        'namespace: shop }\nspec: { parentRef: { name: web }',
        `namespace: ${'n'.repeat(63)} }\nspec: { parentRef: { name: web, namespace: shop }`,
      ),
    );
    expect(problems).to.deep.equal([]);
  });
});

describe('names of header fields', () => {
  const route = (match: string, filters = '') =>
    translated(
      `${base}${manifest('HTTPRoute', 'cart', `{ parentRefs: [{ name: web }], rules: [{ matches: [{ headers: [${match}] }], filters: [${filters}], backendRefs: [{ name: cart, port: 80 }] }] }`)}`,
    ).entities.routes?.[0] as { match: { headers: object[] }; forward: { headers: object } };

  it('that differ in case alone are one in a match: the first counts', () => {
    expect(route('{ name: Foo, value: a }, { name: foo, value: b }').match.headers).to.deep.equal([
      { name: 'Foo', value: 'a' },
    ]);
  });

  it('that differ in case alone are one in each list of a filter: the first counts', () => {
    const list = '[{ name: Foo, value: a }, { name: foo, value: b }]';
    const filter = `{ type: RequestHeaderModifier, requestHeaderModifier: { set: ${list}, add: ${list} } }`;
    expect(route('{ name: x, value: y }', filter).forward.headers).to.deep.equal({
      interpolate: false,
      requestHeadersToAdd: [
        { key: 'Foo', value: 'a' },
        { key: 'Foo', value: 'a', append: true },
      ],
    });
  });
});

describe('a Service without ready endpoints that the controller writes', () => {
  it('has its share answered with 503, and is not connected to by its name', () => {
    const spec = '{ parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: cart, port: 80, weight: 2 }] }] }';
    const { entities } = translated(`${base}${manifest('HTTPRoute', 'cart', spec)}`, { endpoints: 'controller' });
    expect(entities.routes?.[0]).to.have.deep.nested.property('forward.destinations', [
      { directResponse: { status: 503, body: '' }, weight: 2 },
    ]);
    expect(entities).to.not.have.property('destinations');
  });
});
