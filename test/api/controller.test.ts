// The controller on a real API of Sluice, without a cluster: objects are given to it by hand, and statuses are kept.
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { Controller } from '../../src/controller/controller.ts';
import { SluiceApi } from '../../src/controller/publish/sluice-api.ts';
import type { ResourceKindName } from '../../src/controller/resource-kinds.ts';
import { KubernetesApi } from '../../src/kubernetes/kubernetes-api.ts';
import { type KubernetesObject, keyOf } from '../../src/kubernetes/objects.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/util/clock.ts';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { base, manifest, options } from '../support/manifests.ts';

const rule = (path: string, filters = ''): string =>
  `{ matches: [{ path: { type: PathPrefix, value: ${path} } }], filters: [${filters}], backendRefs: [{ name: cart, port: 80 }] }`;
const route = (name: string, ...rules: string[]): string =>
  manifest('HTTPRoute', name, `{ parentRefs: [{ name: web, sectionName: http }], rules: [${rules}] }`);
const limited = '{ type: ExtensionRef, extensionRef: { group: sluice.dev, kind: Middleware, name: limit } }';
const limit = (requestsPerSecond: string): string => `---
apiVersion: sluice.dev/v1alpha1
kind: Middleware
metadata: { name: limit, namespace: shop }
spec: { rateLimit: { requestsPerSecond: ${requestsPerSecond} } }
`;

describe('the controller on an API of Sluice', () => {
  let api: ApiServer;
  let ends: (() => Promise<void>)[] = [];
  /** Statuses of routes and policies as they were written last, by plural and name. */
  const statuses = new Map<string, string>();
  beforeEach(async () => {
    api = await ApiServer.start();
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
    ends = [];
    await api.stop();
  });

  /** Starts a controller of an owner, and returns what it takes objects by. */
  function controllerOf(owner: string): (text: string) => void {
    const noCluster = async () => ({});
    const merge = async (path: string, { status }: { status: object }) => {
      statuses.set(path.split('/').slice(-3, -1).join('/'), JSON.stringify(status));
    };
    const kubernetes = { merge, apply: noCluster, create: noCluster } as unknown as KubernetesApi;
    const sluice = new SluiceApi({ urls: [api.base], apiKey: undefined, tls: undefined });
    const tools = { kubernetes, sluice, clock: systemClock, logger: silentLogger, instance: owner };
    const controller = new Controller({ ...options, owner }, tools, () => true);
    ends.push(async () => {
      controller.close();
      await sluice.close();
    });
    controller.lead(0);
    let version = 0;
    return (text) => {
      for (const document of parseAllDocuments(text)) {
        const { kind, ...object } = document.toJS() as KubernetesObject & { kind: ResourceKindName };
        version++;
        const metadata = { ...object.metadata, generation: version, resourceVersion: String(version) };
        controller.take(kind, keyOf(object), { ...object, kind, metadata } as KubernetesObject);
      }
    };
  }

  const live = () => (api.feed.current?.snapshot.routes ?? []) as readonly { id: string; directResponse?: object }[];
  const liveIds = () => live().map(({ id }) => id);

  it('publishes the routes of others where Sluice refuses a middleware, and answers 500 for those that name it', async () => {
    const take = controllerOf('sluice-controller');
    take(`${base}${limit('many')}${route('a', rule('/a', limited))}${route('b', rule('/b'))}`);
    await eventually(() => {
      expect(liveIds()).to.include.members(['httproute:shop:a:0:0:0', 'httproute:shop:b:0:0:0']);
      expect(live().find(({ id }) => id.includes(':a:'))?.directResponse).to.deep.equal({ status: 500 });
    });
    take(limit('5'));
    await eventually(() => expect(live().find(({ id }) => id.includes(':a:'))).to.have.property('forward'));
    // The live version stays in force while Sluice refuses another one.
    take(limit('lots'));
    take(route('c', rule('/c')));
    await eventually(() => expect(liveIds()).to.include('httproute:shop:c:0:0:0'));
    expect(live().find(({ id }) => id.includes(':a:'))).to.have.property('forward');
  });

  it('publishes the routes of others where one has no name or path that Sluice takes', async () => {
    const take = controllerOf('sluice-controller');
    const bad =
      '{ matches: [{ path: { type: RegularExpression, value: "/(a" } }], backendRefs: [{ name: cart, port: 80 }] }';
    take(`${base}${route('bad', bad)}${route('bad-too', bad)}${route('b', rule('/b'))}`);
    await eventually(() => expect(liveIds()).to.deep.equal(['httproute:shop:b:0:0:0']));
  });

  it('publishes a route whose own middleware Sluice refused, once that is mended', async () => {
    const take = controllerOf('sluice-controller');
    const redirect = (value: string): string =>
      route(
        'moved',
        `{ filters: [{ type: RequestRedirect, requestRedirect: { hostname: x.test } }, { type: ResponseHeaderModifier, responseHeaderModifier: { set: [{ name: X-A, value: "${value}" }] } }] }`,
      );
    take(`${base}${redirect('a\\nb')}${route('b', rule('/b'))}`);
    await eventually(() => expect(liveIds()).to.deep.equal(['httproute:shop:b:0:0:0']));
    take(redirect('ab'));
    await eventually(() => expect(liveIds()).to.include('httproute:shop:moved:0:0:0'));
  });

  it('tells at an UpstreamPolicy that Sluice refuses the destination with its options', async () => {
    const take = controllerOf('sluice-controller');
    const policy = (path: string): string => `---
apiVersion: sluice.dev/v1alpha1
kind: UpstreamPolicy
metadata: { name: cart, namespace: shop }
spec: { targetRefs: [{ name: cart }], options: { healthCheck: { path: ${path} } } }
`;
    take(`${base}${policy('no-slash')}${route('a', rule('/a'))}`);
    const told = () => statuses.get('upstreampolicies/cart');
    await eventually(() => expect(told()).to.contain('"reason":"Invalid"').and.contain('/options/healthCheck/path'));
    take(policy('/health'));
    await eventually(() => expect(told()).to.contain('"reason":"Accepted"').and.not.contain('"Invalid"'));
  });

  it('serves one route on the Gateways of two controllers, each by entities of its own', async () => {
    const [one, two] = [controllerOf('one'), controllerOf('two')];
    const text = `${base}${route('both', rule('/'))}`;
    one(text);
    await eventually(() => expect(liveIds()).to.deep.equal(['one:httproute:shop:both:0:0:0']));
    two(text);
    const both = ['one:httproute:shop:both:0:0:0', 'two:httproute:shop:both:0:0:0'];
    await eventually(() => expect(liveIds()).to.have.members(both));
    one(route('more', rule('/more')));
    await eventually(() => expect(liveIds()).to.have.members([...both, 'one:httproute:shop:more:0:0:0']));
  });

  it('serves an HTTPRoute and a GRPCRoute of one name', async () => {
    const take = controllerOf('sluice-controller');
    const spec =
      '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }';
    take(`${base}${manifest('HTTPRoute', 'cart', spec)}${manifest('GRPCRoute', 'cart', spec)}`);
    await eventually(() =>
      expect(liveIds()).to.have.members(['httproute:shop:cart:0:0:0', 'grpcroute:shop:cart:0:0:0']),
    );
  });
});
