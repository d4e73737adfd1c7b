// Odd manifests under `--once`: each object that cannot be read, or that Sluice would refuse, is told by its name.
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { base, manifest, route, translated } from '../../support/manifests.ts';

const objects = `${base}
${manifest('ListenerSet', 'set', '{ parentRef: { name: web }, listeners: [{ name: more, port: 81, protocol: HTTP }] }')}
${manifest('HTTPRoute', 'http', '{ parentRefs: [{ name: web, sectionName: http }], hostnames: [a.test], rules: [{ matches: [{ path: { type: Exact, value: /a }, headers: [{ name: x, value: y }] }], filters: [{ type: RequestHeaderModifier, requestHeaderModifier: { set: [{ name: x, value: y }], remove: [z] } }], backendRefs: [{ name: cart, port: 80, weight: 1 }] }] }')}
${manifest('GRPCRoute', 'grpc', '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ matches: [{ method: { service: a, method: b } }], backendRefs: [{ name: cart, port: 80 }] }] }')}
${manifest('TLSRoute', 'tls', '{ parentRefs: [{ name: web, sectionName: http }], hostnames: [a.test], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }')}
${manifest('TCPRoute', 'tcp', '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }')}
${manifest('BackendTLSPolicy', 'policy', '{ targetRefs: [{ group: "", kind: Service, name: cart }], validation: { hostname: a.test, wellKnownCACertificates: System } }')}
${manifest('ReferenceGrant', 'grant', '{ from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: a }], to: [{ group: "", kind: Service }] }')}
`;

/** Pointers of all values below a value, itself apart. */
function* places(value: unknown, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    yield place;
    yield* places(part, place);
  }
}

describe('odd manifests', () => {
  for (const value of [undefined, null, 7, 'text', [], {}, [7], [null], true])
    it(`end no translation: ${JSON.stringify(value) ?? 'nothing'} in the place of each part of each object`, () => {
      const documents = parseAllDocuments(objects);
      const texts = documents.map(String);
      for (const [at, document] of documents.entries()) {
        for (const place of places(document.toJS())) {
          const odd = document.clone() as typeof document;
          if (value === undefined) odd.deleteIn(place);
          else odd.setIn(place, value);
          const text = texts.with(at, odd.toString()).join('\n---\n');
          expect(() => translated(text), stringify({ place, value })).to.not.throw();
        }
      }
    });

  it('are named where they have no kind, no name or no spec', () => {
    const { problems } = translated(`${base}---
kind: HTTPRoute
metadata: {}
---
metadata: { name: x }
---
just text
---
kind: HTTPRoute
metadata: { name: x }
`);
    expect(problems).to.deep.equal([
      'manifest: HTTPRoute: /metadata/name is required',
      'manifest: an object has no kind',
      'manifest: "just text" is no object',
      'manifest: HTTPRoute x: /spec must be an object',
    ]);
  });

  it('are named where they cannot be read, and the others are served', () => {
    const { entities, problems } = translated(
      `${route('{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: 7 }] }')}${manifest(
        'HTTPRoute',
        'good',
        '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }',
      )}`,
    );
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^HTTPRoute shop\/cart cannot be read: /);
    expect(entities.routes).to.have.length(1);
  });

  it('are named where Sluice would refuse what becomes of them', () => {
    const { problems } = translated(
      route(
        '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ matches: [{ path: { type: RegularExpression, value: "/(a" } }], backendRefs: [{ name: cart, port: 80 }] }] }',
      ),
    );
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(
      /^HTTPRoute shop\/cart: Sluice refuses routes\/httproute:shop:cart:0:0:0: \/match\/pathRegex /,
    );
  });

  it('are named where an object is there twice, and where a ListenerSet has no Gateway', () => {
    const set = manifest(
      'ListenerSet',
      'set',
      '{ parentRef: { name: none }, listeners: [{ name: a, port: 81, protocol: HTTP }] }',
    );
    const { problems } = translated(`${base}${set}${set}`);
    expect(problems).to.include.members([
      'manifest: ListenerSet shop/set is there twice: the last one counts',
      'ListenerSet shop/set: its parent is no Gateway of this controller',
    ]);
  });
});
