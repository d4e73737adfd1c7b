// Discovery of contract.md §7.12 against an API server of its own, with everything that goes wrong in real ones.
import { expect } from 'chai';
import { findCluster, type Machine } from '../../../../src/kubernetes/cluster-access.ts';
import { KubernetesDiscovery } from '../../../../src/proxy/upstream/discovery/kubernetes-discovery.ts';
import { serviceEndpoints } from '../../../../src/proxy/upstream/discovery/service-endpoints.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { KubernetesServer } from '../../../support/kubernetes-server.ts';

const http = { name: 'http', port: 8080 };
const ready = (...addresses: string[]) => ({ addresses, conditions: { ready: true } });

describe('Kubernetes discovery', () => {
  let server: KubernetesServer;
  let discovery: KubernetesDiscovery;
  let told: Map<string, string>;
  let warnings: string[];
  let found: boolean;
  beforeEach(async () => {
    server = new KubernetesServer();
    await server.start();
    server.service('shop', 'cart', { type: 'ClusterIP', ports: [{ name: 'http', port: 80 }] });
    server.slice('shop', 'cart', 'cart-1', [http], [ready('10.1.0.1'), ready('10.1.0.2')]);
    [told, warnings, found] = [new Map(), [], true];
    const note = (_: object, message: string) => warnings.push(message);
    discovery = new KubernetesDiscovery({
      clock: systemClock,
      logger: { ...silentLogger, debug: note, warn: note, child: () => silentLogger, info: note, error: note },
      random: () => 0,
      findCluster: async () =>
        found
          ? {
              url: server.url,
              authorization: async () => (server.token === undefined ? undefined : `Bearer ${server.token}`),
              insecure: false,
            }
          : undefined,
      onEndpoints: ({ id }, endpoints) => told.set(id, endpoints.map(({ host, port }) => `${host}:${port}`).join(' ')),
    });
  });
  afterEach(async () => {
    await discovery.close();
    await server.stop();
  });

  const cart = { id: 'd', host: 'cart.shop.svc.cluster.local', port: 80 };
  const says = (id: string, endpoints: string) => eventually(() => expect(told.get(id)).to.equal(endpoints));

  it('follows pods that come, change and go; one pair of watches per namespace', async () => {
    server.token = 'secret';
    discovery.follow([cart, { id: 'e', host: 'cart.shop', port: 80 }]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await says('e', '10.1.0.1:8080 10.1.0.2:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    server.slice('shop', 'cart', 'cart-2', [http], [ready('10.1.0.3'), { addresses: ['10.1.0.4'] }]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080 10.1.0.3:8080 10.1.0.4:8080');
    server.slice(
      'shop',
      'cart',
      'cart-1',
      [http],
      [{ addresses: ['10.1.0.1'], conditions: { ready: false } }, ready('10.1.0.2')],
    );
    await says('d', '10.1.0.2:8080 10.1.0.3:8080 10.1.0.4:8080');
    server.removeSlice('shop', 'cart-1');
    server.removeSlice('shop', 'cart-2');
    await says('d', '');
  });

  it('reads lists in pages, and knows of services that come later', async () => {
    for (let i = 0; i < 10; i++) server.slice('shop', 'cart', `page-${i}`, [http], [ready(`10.2.0.${i}`)]);
    discovery.follow([cart, { id: 'late', host: 'late.shop', port: 80 }]);
    await eventually(() => expect(told.get('d')?.split(' ')).to.have.length(12));
    server.slice('shop', 'late', 'late-1', [http], [ready('10.3.0.1')]);
    await says('late', '10.3.0.1:8080');
  });

  it('goes on after a watch ends, is torn, or its history is gone', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    const lists = () => server.requests.filter((request) => !request.includes('watch')).length;
    const before = lists();
    server.drop();
    server.slice('shop', 'cart', 'cart-2', [http], [ready('10.1.0.3')]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080 10.1.0.3:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    server.drop({ torn: true });
    server.removeSlice('shop', 'cart-2');
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    expect(lists()).to.equal(before);
    await eventually(() => expect(server.watches).to.equal(2));
    server.drop();
    server.slice('shop', 'cart', 'cart-1', [http], [ready('10.1.0.9')]);
    server.compact();
    await says('d', '10.1.0.9:8080');
    expect(lists()).to.be.greaterThan(before);
  });

  it('begins behind the last bookmark', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    const before = server.requests.length;
    server.service('elsewhere', 'x', {});
    server.bookmark();
    server.compact();
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.drop();
    await eventually(() => expect(server.watches).to.equal(2));
    expect(server.requests.slice(before).every((request) => request.includes('watch=1'))).to.equal(true);
  });

  it('begins with a list again where the API was restored and counts from an earlier version', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    await server.stop();
    server.slice('shop', 'cart', 'cart-1', [http], [ready('10.1.0.8')]);
    server.restore();
    await server.start();
    await says('d', '10.1.0.8:8080');
    await eventually(() => expect(server.watches).to.equal(2));
  });

  it('begins with a list again where the versions of a restored API have caught up', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    server.leave();
    server.slice('shop', 'cart', 'cart-1', [http], [ready('10.1.0.8')]);
    server.restore();
    for (let n = 0; n < 100; n++) server.service('elsewhere', `${n}`, {});
    await eventually(() => expect(server.missed).to.be.at.least(2));
    server.comeBack();
    await says('d', '10.1.0.8:8080');
  });

  it('begins with a list again where an event has an earlier version than those before', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await eventually(() => expect(server.watches).to.equal(2));
    const lists = () => server.requests.filter((request) => !request.includes('watch')).length;
    const before = lists();
    server.restore();
    server.bookmark();
    await eventually(() => expect(lists()).to.equal(before + 2));
  });

  it('reads a list of nothing', async () => {
    discovery.follow([{ id: 'd', host: 'cart.empty', port: 80 }]);
    await eventually(() => expect(server.watches).to.equal(2));
    server.slice('empty', 'cart', 'cart-1', [http], [ready('10.1.0.5')]);
    await says('d', '10.1.0.5:8080');
    expect(warnings).to.deep.equal([]);
  });

  it('looks for a cluster again with the next activation', async () => {
    found = false;
    discovery.follow([cart]);
    await eventually(() => expect(warnings.join()).to.contain('there is no Kubernetes'));
    found = true;
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
  });

  it('keeps what it knows while the API is gone, and catches up', async () => {
    discovery.follow([cart]);
    await says('d', '10.1.0.1:8080 10.1.0.2:8080');
    await server.stop();
    server.slice('shop', 'cart', 'cart-1', [http], [ready('10.1.0.7')]);
    await eventually(() => expect(warnings.join()).to.contain('what is known stays in use'));
    expect(told.get('d')).to.equal('10.1.0.1:8080 10.1.0.2:8080');
    await server.start();
    await says('d', '10.1.0.7:8080');
  });

  it('stops watching what is no longer used, and warns of hosts that name no service', async () => {
    discovery.follow([cart]);
    await eventually(() => expect(server.watches).to.equal(2));
    discovery.follow([{ id: 'x', host: 'localhost', port: 1 }]);
    await eventually(() => expect(server.watches).to.equal(0));
    expect(warnings.join()).to.contain('discovery needs a host of service and namespace');
  });
});

describe('endpoints of a service', () => {
  const metadata = { name: 'x' };
  const endpoints = [ready('10.0.0.1')];
  const of = (spec: object | undefined, ports: object[], port: number) =>
    serviceEndpoints(spec && ({ metadata, spec } as never), [{ metadata, ports, endpoints } as never], port);

  it('have the port of the service port with that number, else the first numbered one, else that of the destination', () => {
    const ports = [
      { name: 'admin', port: 9000 },
      { name: 'web', port: 8080 },
    ];
    const services = { ports: [{ name: 'web', port: 80 }] };
    expect(of(services, ports, 80)[0]?.port).to.equal(8080);
    expect(of(services, ports, 81)[0]?.port).to.equal(9000);
    expect(of(services, [{ name: 'x' }, { name: 'y', port: null }], 81)[0]?.port).to.equal(81);
    expect(of({ ports: [{ port: 80 }] }, [{ name: '', port: 5 }], 80)[0]?.port).to.equal(5);
    expect(of(undefined, ports, 80)[0]?.port).to.equal(9000);
  });

  it('of an external name are that name', () => {
    expect(of({ type: 'ExternalName', externalName: 'db.example.com.' }, [], 5432)).to.deep.equal([
      { host: 'db.example.com', port: 5432 },
    ]);
  });
});

describe('access to a cluster', () => {
  const machine = (files: Record<string, string>, env: Record<string, string> = {}): Machine => ({
    env,
    home: '/home/me',
    read: async (path) => files[path],
  });
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';

  it('is that of the pod, else by kubeconfig, else none', async () => {
    const pod = { [`${folder}/token`]: 'abc\n', [`${folder}/ca.crt`]: 'CA' };
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };
    const access = await findCluster(machine(pod, env));
    expect(access).to.include({ url: 'https://10.0.0.1:6443', ca: 'CA', insecure: false });
    expect(await access?.authorization()).to.equal('Bearer abc');
    expect(await findCluster(machine({}))).to.equal(undefined);
    expect(await findCluster(machine({}, env))).to.equal(undefined);
  });

  it('reads clusters, users and files of a kubeconfig', async () => {
    const config = (user: object, cluster: object = {}) =>
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
        clusters: [{ name: 'k', cluster: { server: 'https://k8s:6443/', ...cluster } }],
        users: [{ name: 'u', user }],
      });
    const find = (text: string, more: Record<string, string> = {}) =>
      findCluster(machine({ '/home/me/.kube/config': text, ...more }));
    const byToken = await find(config({ token: 't' }, { 'certificate-authority-data': btoa('CA') }));
    expect(byToken).to.include({ url: 'https://k8s:6443', ca: 'CA' });
    expect(await byToken?.authorization()).to.equal('Bearer t');
    const byFile = await find(
      config({ tokenFile: 'token', 'client-certificate': 'cert', 'client-key-data': btoa('K') }),
      {
        '/home/me/.kube/token': 'f',
        '/home/me/.kube/cert': 'C',
      },
    );
    expect([byFile?.cert, byFile?.key, await byFile?.authorization()]).to.deep.equal(['C', 'K', 'Bearer f']);
    const byPassword = await find(config({ username: 'me', password: 'pw' }, { 'insecure-skip-tls-verify': true }));
    expect([byPassword?.insecure, await byPassword?.authorization()]).to.deep.equal([true, `Basic ${btoa('me:pw')}`]);
    expect(await (await find(config({})))?.authorization()).to.equal(undefined);
    const broken = await find('users: [{ user: { token: s3cret }').catch((error: Error) => error.message);
    expect(broken).to.contain('/home/me/.kube/config').and.not.contain('s3cret');
    for (const [text, message] of [
      [config({ exec: {} }), 'exec'],
      ['{}', 'nothing is called'],
      [config({}, { server: '' }), 'no server'],
    ] as const) {
      expect(await find(text).catch((error: Error) => error.message)).to.contain(message);
    }
  });
});
