import { expect } from 'chai';
import { parsePool } from '../../../src/controller/publish/gateway-addresses.ts';
import { base, manifest, options, route, translated } from '../../support/manifests.ts';

describe('translation of manifests', () => {
  it('closes the connections of a TCPRoute whose share leads nowhere, and gives them to no other', () => {
    const { entities } =
      translated(`${base.replace('{ name: http, port: 80, protocol: HTTP }', '{ name: tcp, port: 81, protocol: TCP }')}---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: cart, namespace: shop }
spec:
  parentRefs: [{ name: web, sectionName: tcp }]
  rules: [{ backendRefs: [{ name: cart, port: 80, weight: 3 }, { name: none, port: 80, weight: 1 }] }]
`);
    const [{ forward } = {}] = entities.streamRoutes as { forward: object }[];
    expect(forward).to.deep.equal({
      destinations: [
        { destinationId: 'service:shop:cart:80:tcp', weight: 3 },
        { destinationId: 'service:none', weight: 1 },
      ],
      failover: false,
    });
  });

  it('makes one listener of a port, with a section for each listener of the Gateway', () => {
    const { entities, problems } = translated(base);
    expect(problems).to.deep.equal([]);
    expect(entities.listeners).to.deep.equal([
      {
        id: 'gateway:shop:web:80',
        name: 'shop/web:80',
        address: '10.0.0.1',
        port: 80,
        http2: true,
        sections: [{ name: 'http' }, { name: 'inner', hostnames: ['*.inner.example'] }],
      },
    ]);
  });

  it('gives Gateways an address each, the one that they ask for, or every one where there is no pool', () => {
    const gateway = (name: string, more = '') => `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop }
spec: { gatewayClassName: sluice, ${more} listeners: [{ name: http, port: 81, protocol: HTTP }] }
`;
    const text = `${base}${gateway('asks', 'addresses: [{ type: IPAddress, value: 10.0.0.9 }],')}${gateway('next')}`;
    const addresses = (pool: string) => {
      const { entities } = translated(text, { pool: parsePool(pool) ?? options.pool });
      return (entities.listeners as { id: string; address: string }[]).map(({ id, address }) => [
        id.split(':')[2],
        address,
      ]);
    };
    expect(addresses('10.0.0.0/24')).to.have.deep.members([
      ['web', '10.0.0.1'],
      ['asks', '10.0.0.9'],
      ['next', '10.0.0.2'],
    ]);
    expect(new Set(addresses('0.0.0.0/32').map(([, address]) => address))).to.deep.equal(new Set(['0.0.0.0']));
  });

  it('binds a route to the listeners that take it, with the host names that they have in common', () => {
    const { entities } = translated(
      route(
        '{ parentRefs: [{ name: web }], hostnames: [a.inner.example], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }',
      ),
    );
    const [bound] = entities.routes as { listenerIds: string[]; match: object }[];
    expect(bound?.listenerIds).to.deep.equal(['gateway:shop:web:80/http', 'gateway:shop:web:80/inner']);
    expect(bound?.match).to.deep.equal({ pathPrefix: '/', hostnames: ['a.inner.example'] });
  });

  it('answers 500 for the share of a backend that is not there, and says so', () => {
    const { entities, problems } = translated(
      route(
        '{ parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: cart, port: 80, weight: 3 }, { name: no, port: 80 }] }] }',
      ),
    );
    const [first] = entities.routes as { forward: { destinations: object[] } }[];
    expect(first?.forward.destinations).to.deep.equal([
      { destinationId: 'service:shop:cart:80', weight: 3 },
      { directResponse: { status: 500, body: '' }, weight: 1 },
    ]);
    expect(problems).to.deep.equal(['HTTPRoute shop/cart: BackendNotFound: there is no Service shop/no']);
  });

  it('names routes of other Gateways, kinds that are not taken and listeners of unknown protocols', () => {
    const { problems } = translated(
      `${route('{ parentRefs: [{ name: other }], rules: [{}] }')}---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: old }
`.replace('{ name: http, port: 80, protocol: HTTP }', '{ name: http, port: 80, protocol: UDP }'),
    );
    expect(problems).to.deep.equal([
      'manifest: Ingress old is not taken',
      'Gateway shop/web, listener http: UnsupportedProtocol: protocol UDP is not supported',
      'HTTPRoute shop/cart: no parent of it is a Gateway of this controller',
    ]);
  });

  it('sends no plain text to a port whose protocol is TLS: a share of it is 500 without a BackendTLSPolicy', () => {
    const secure = base.replace('{ port: 80 }', '{ port: 80, appProtocol: kubernetes.io/wss }');
    const text = route('{ parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }').replace(
      base,
      secure,
    );
    const { entities, problems } = translated(text);
    expect(entities).to.not.have.property('destinations');
    expect(problems.join()).to.contain('UnsupportedProtocol');
    const policy = manifest(
      'BackendTLSPolicy',
      'cart',
      "{ targetRefs: [{ group: '', kind: Service, name: cart }], validation: { hostname: a.test, wellKnownCACertificates: System } }",
    );
    expect(translated(text + policy).problems).to.deep.equal([]);
  });

  it('refuses references to other namespaces without a grant', () => {
    const foreign = route(
      '{ parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: stock, namespace: depot, port: 80 }] }] }',
    );
    const service = `---
apiVersion: v1
kind: Service
metadata: { name: stock, namespace: depot }
spec: { ports: [{ port: 80 }] }
`;
    const grant = `---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: shop, namespace: depot }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop }]
  to: [{ group: '', kind: Service }]
`;
    expect(translated(foreign + service).problems[0]).to.contain('RefNotPermitted');
    expect(translated(foreign + service + grant).problems).to.deep.equal([]);
  });
});
