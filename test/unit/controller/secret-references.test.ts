// Texts of objects that refer to secrets of Sluice: an author of a route would read keys of other namespaces by them.
import { expect } from 'chai';
import { base, manifest, route, translated } from '../../support/manifests.ts';

const reference = '{{secret:value:secret:other:tls:tls.key}}';
const rule = (filters: string): string =>
  `{ parentRefs: [{ name: web, sectionName: http }], rules: [{ filters: [${filters}], backendRefs: [{ name: cart, port: 80 }] }] }`;
const header = `{ type: RequestHeaderModifier, requestHeaderModifier: { set: [{ name: x, value: '${reference}' }] } }`;

const responseHeader = `{ type: ResponseHeaderModifier, responseHeaderModifier: { set: [{ name: x, value: '${reference}' }] } }`;

describe('references to secrets of Sluice', () => {
  for (const [place, spec] of [
    ['a header that is set', rule(header)],
    ['a header of a redirect', rule(`{ type: RequestRedirect, requestRedirect: {} }, ${responseHeader}`)],
    [
      'a path that is rewritten',
      rule(`{ type: URLRewrite, urlRewrite: { path: { type: ReplaceFullPath, replaceFullPath: '/${reference}' } } }`),
    ],
    [
      'a header that is matched',
      `{ parentRefs: [{ name: web, sectionName: http }], rules: [{ matches: [{ headers: [{ name: x, value: '${reference}' }] }], backendRefs: [{ name: cart, port: 80 }] }] }`,
    ],
    [
      'a header of a backend',
      `{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80, filters: [${header}] }] }] }`,
    ],
  ] as const)
    it(`are not passed on from ${place}`, () => {
      const { entities, problems } = translated(route(spec));
      expect(JSON.stringify(entities)).to.not.contain('{{secret');
      expect(problems.join()).to.contain('UnsupportedValue');
    });

  it('are not passed on from a Middleware, whose rules answer 500', () => {
    const filter = '{ type: ExtensionRef, extensionRef: { group: sluice.dev, kind: Middleware, name: limit } }';
    const middleware = `---
apiVersion: sluice.dev/v1alpha1
kind: Middleware
metadata: { name: limit, namespace: shop }
spec: { headers: { responseHeadersToAdd: [{ key: x, value: '${reference}' }] } }
`;
    const { entities, problems } = translated(`${route(rule(filter))}${middleware}`);
    expect(entities).to.not.have.property('middlewares');
    expect(entities.routes?.[0]).to.deep.include({ directResponse: { status: 500, body: '' } });
    expect(problems).to.include.members([
      'Middleware shop/limit: Invalid: texts may not refer to secrets of Sluice ({{secret:…}})',
    ]);
  });

  it('are not passed on from a GRPCRoute, nor from an UpstreamPolicy, whose Service has none of its options', () => {
    const policy = `---
apiVersion: sluice.dev/v1alpha1
kind: UpstreamPolicy
metadata: { name: cart, namespace: shop }
spec: { targetRefs: [{ name: cart }], options: { healthCheck: { path: '/${reference}' } } }
`;
    const { entities, problems } = translated(
      `${base}${manifest('GRPCRoute', 'a', rule(header))}${manifest('HTTPRoute', 'b', rule(''))}${policy}`,
    );
    expect(JSON.stringify(entities)).to.not.contain('{{secret');
    expect(entities.routes).to.have.length(1);
    expect(problems.join()).to.contain('GRPCRoute shop/a').and.contain('UpstreamPolicy shop/cart: Invalid');
  });
});
