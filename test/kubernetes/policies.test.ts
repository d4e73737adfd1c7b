// Policies of Sluice's own in a cluster: what their CRDs refuse, and what their statuses tell.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { RefusedError } from '../../src/kubernetes/kubernetes-api.ts';
import { eventually } from '../support/eventually.ts';
import { ClusterBed, routes, type StatusOf } from './cluster-bed.ts';
import { helm, installChart } from './helm.ts';

const apiVersion = 'sluice.dev/v1alpha1';

interface PolicyStatus {
  readonly metadata: StatusOf['metadata'];
  readonly status?: {
    readonly ancestors?: readonly {
      readonly controllerName: string;
      readonly ancestorRef: { readonly name: string };
      readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

describe('policies of sluice.dev', function () {
  this.timeout(240_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
    if (!existsSync(helm)) return this.skip();
    await bed.startSluice();
  });
  afterEach(() => bed?.close());

  it('tell in their statuses, by Gateway, whether they count and whether Sluice takes them', async () => {
    await bed.gatewayClass('policies');
    const namespace = await bed.namespace('policies');
    await installChart(namespace, 'crds', 'sluice-controller-crds');
    const collection = (plural: string) => `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
    const put = (kind: string, plural: string, name: string, spec: object) =>
      eventually(() => bed.put(collection(plural), { apiVersion, kind, metadata: { name, namespace }, spec }));
    await put('Middleware', 'middlewares', 'good', { rateLimit: { requestsPerSecond: 20 } });
    await put('Middleware', 'middlewares', 'bad', { rateLimit: { requestsPerSecond: 'many' } });
    await put('Middleware', 'middlewares', 'unused', { rateLimit: { requestsPerSecond: 20 } });
    const options = { timeouts: { idle: '1m' } };
    await put('UpstreamPolicy', 'upstreampolicies', 'first', { targetRefs: [{ name: 'echo' }], options });
    await put('UpstreamPolicy', 'upstreampolicies', 'second', { targetRefs: [{ name: 'echo' }], options });
    await bed.put(`/api/v1/namespaces/${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo', namespace },
      spec: { ports: [{ port: 80 }] },
    });
    await bed.gateway(namespace, 'web', 'policies');
    for (const name of ['good', 'bad'])
      await bed.put(routes(namespace), {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name, namespace },
        spec: {
          parentRefs: [{ name: 'web' }],
          rules: [
            {
              matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
              filters: [{ type: 'ExtensionRef', extensionRef: { group: 'sluice.dev', kind: 'Middleware', name } }],
              backendRefs: [{ name: 'echo', port: 80 }],
            },
          ],
        },
      });
    await bed.startController();
    const reasons = async (plural: string, name: string) => {
      const { status } = await bed.api.get<PolicyStatus>(`${collection(plural)}/${name}`);
      return (status?.ancestors ?? []).map(({ ancestorRef, conditions = [] }) => [
        ancestorRef.name,
        conditions.find(({ type }) => type === 'Accepted')?.reason,
      ]);
    };
    await eventually(async () => {
      expect(await reasons('middlewares', 'good')).to.deep.equal([['web', 'Accepted']]);
      expect(await reasons('middlewares', 'bad')).to.deep.equal([['web', 'Invalid']]);
      expect(await reasons('upstreampolicies', 'first')).to.deep.equal([['web', 'Accepted']]);
      expect(await reasons('upstreampolicies', 'second')).to.deep.equal([['web', 'Conflicted']]);
    });
    expect(await reasons('middlewares', 'unused')).to.deep.equal([]);
    // A middleware that Sluice refuses holds up no other route; rules that name it answer 500.
    const address = await bed.addressOf(namespace, 'web');
    const statusOf = async (path: string) => (await fetch(`http://${address}${path}`)).status;
    await eventually(async () => expect([await statusOf('/good'), await statusOf('/bad')]).to.deep.equal([503, 500]));
    await put('Middleware', 'middlewares', 'bad', { rateLimit: { requestsPerSecond: 5 } });
    await eventually(async () => expect(await reasons('middlewares', 'bad')).to.deep.equal([['web', 'Accepted']]));
    await bed.api.delete(`${routes(namespace)}/good`);
    await eventually(async () => expect(await reasons('middlewares', 'good')).to.deep.equal([]));
  });

  it('are refused by the API where a rule of their CRD does not hold', async () => {
    const namespace = await bed.namespace('refused');
    await installChart(namespace, 'crds', 'sluice-controller-crds');
    const refusal = (kind: string, plural: string, spec: object) =>
      eventually(async () => {
        const object = { apiVersion, kind, metadata: { name: 'x', namespace }, spec };
        const put = bed.put(`/apis/${apiVersion}/namespaces/${namespace}/${plural}`, object);
        const error: unknown = await put.then(
          () => undefined,
          (each: unknown) => each,
        );
        expect(error).to.be.instanceOf(RefusedError);
        expect((error as RefusedError).status).to.equal(422);
        return (error as RefusedError).message;
      });
    expect(await refusal('Middleware', 'middlewares', { jwt: { issuer: 'me' } })).to.contain('jwt needs keys');
    const targetRefs = [{ name: 'echo' }];
    expect(
      await refusal('UpstreamPolicy', 'upstreampolicies', { targetRefs, options: { healthCheck: {} } }),
    ).to.contain('needs a path');
    const gateways = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }];
    const options = { maxConnsPerHost: 1 };
    expect(await refusal('UpstreamPolicy', 'upstreampolicies', { targetRefs: gateways, options })).to.contain(
      'targets are Services',
    );
  });
});
