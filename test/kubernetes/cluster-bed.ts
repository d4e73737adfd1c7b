// Sluice and controllers in the cluster of cluster/start.sh, for tests of what the conformance suite does not see.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { programOptions } from '../../scripts/node-options.mjs';
import { findCluster, thisMachine } from '../../src/kubernetes/cluster-access.ts';
import { KubernetesApi } from '../../src/kubernetes/kubernetes-api.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, spawnNode, startSluice } from '../support/sluice-process.ts';
import { type Relay, startRelay } from './relay.ts';

export interface ControllerHandle {
  readonly adminUrl: string;
  readonly output: readonly string[];
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ControllerWish {
  readonly name?: string;
  readonly controllerName?: string;
  readonly owner?: string;
  /** True: an election with a short lease. */
  readonly elects?: boolean;
  readonly kubeconfig?: string;
  /** Nodes of Sluice. Default: the one that this bed started. */
  readonly sluiceUrls?: readonly string[];
  readonly pool?: string;
}

const main = new URL('../../dist/src/controller/main.js', import.meta.url).pathname;

export class ClusterBed {
  readonly api: KubernetesApi;
  sluice: SluiceProcess | undefined;
  readonly #controllers = new Set<ControllerHandle>();
  readonly #namespaces: string[] = [];
  readonly #classes: string[] = [];
  readonly #others: (() => void)[] = [];

  private constructor(api: KubernetesApi) {
    this.api = api;
  }

  static async open(): Promise<ClusterBed> {
    const access = await findCluster(thisMachine);
    if (access === undefined) throw new Error('there is no cluster');
    return new ClusterBed(new KubernetesApi(access));
  }

  /** Opens the cluster, or leaves the test out where there is none. */
  static async openOrSkip(context: Context): Promise<ClusterBed> {
    if (process.env.KUBE_SERVER !== undefined) return ClusterBed.open();
    const title = context.currentTest?.fullTitle();
    process.stderr.write(`left out, needs the cluster of test/kubernetes/cluster: ${title}\n`);
    return context.skip();
  }

  atEnd(run: () => void): void {
    this.#others.push(run);
  }

  async close(): Promise<void> {
    for (const controller of [...this.#controllers]) await controller.stop();
    for (const run of this.#others) run();
    await this.sluice?.stop();
    for (const name of this.#namespaces) await this.api.delete(`/api/v1/namespaces/${name}`).catch(() => {});
    for (const name of this.#classes) await this.api.delete(`${classes}/${name}`).catch(() => {});
    await this.api.close();
  }

  async startSluice(): Promise<string> {
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? '', HOME: '/' };
    this.sluice = await startSluice({ more: 'proxy: { workers: 1, admin: { address: none } }', env });
    return this.sluice.url;
  }

  async startController(wish: ControllerWish = {}): Promise<ControllerHandle> {
    const port = await freePort();
    const folder = newFolder();
    const file = join(folder, 'controller.yaml');
    const { name = 'controller', controllerName = ownController, owner = 'sluice-controller', elects = false } = wish;
    const times = 'leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms';
    writeFileSync(
      file,
      [
        `controllerName: ${controllerName}`,
        `owner: ${owner}`,
        `sluice: { urls: ${JSON.stringify(wish.sluiceUrls ?? [this.sluice?.url])} }`,
        `addressPool: ${wish.pool ?? '10.250.7.0/24'}`,
        `leaderElection: { enabled: ${elects}, identity: ${name}, name: ${owner}, ${times} }`,
        `admin: { address: "127.0.0.1:${port}" }`,
        'log: { format: json, level: debug }',
      ].join('\n'),
    );
    const env = { KUBECONFIG: wish.kubeconfig ?? process.env.KUBECONFIG ?? '', HOME: '/' };
    const child = spawnNode([...programOptions, main, '--config', file], env);
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => output.push(...bytes.toString('utf8').split('\n').filter(Boolean)));
    const handle: ControllerHandle = {
      adminUrl: `http://127.0.0.1:${port}`,
      output,
      pid: child.pid ?? 0,
      stop: async (signal = 'SIGTERM') => {
        this.#controllers.delete(handle);
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill(signal);
        await once(child, 'close');
      },
    };
    this.#controllers.add(handle);
    await eventually(async () => {
      const { status } = await fetch(`${handle.adminUrl}/healthz`);
      if (status !== 200) throw new Error(`status ${status}`);
    });
    return handle;
  }

  async namespace(name: string): Promise<string> {
    this.#namespaces.push(name);
    await this.put('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  }

  async gatewayClass(name: string, controllerName = ownController): Promise<void> {
    this.#classes.push(name);
    await this.put(classes, { apiVersion, kind: 'GatewayClass', metadata: { name }, spec: { controllerName } });
  }

  /** Applies an object to its collection. */
  put(collection: string, object: Named): Promise<unknown> {
    const options = { fieldManager: 'test', force: true };
    return this.api.apply(`${collection}/${object.metadata.name}`, object, options);
  }

  gateway(namespace: string, name: string, gatewayClassName: string): Promise<unknown> {
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
    return this.put(gateways(namespace), {
      apiVersion,
      kind: 'Gateway',
      metadata: { name, namespace },
      spec: { gatewayClassName, listeners },
    });
  }

  /** Route that redirects to a host: it needs no backend. */
  redirect(namespace: string, name: string, gateway: string, path: string, hostname: string): Promise<unknown> {
    return this.put(routes(namespace), {
      apiVersion,
      kind: 'HTTPRoute',
      metadata: { name, namespace },
      spec: {
        parentRefs: [{ name: gateway }],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: path } }],
            filters: [{ type: 'RequestRedirect', requestRedirect: { hostname } }],
          },
        ],
      },
    });
  }

  async addressOf(namespace: string, gateway: string): Promise<string> {
    return eventually(async () => {
      const { status } = await this.api.get<StatusOf>(`${gateways(namespace)}/${gateway}`);
      const programmed = status?.conditions?.find(({ type }) => type === 'Programmed');
      if (programmed?.status !== 'True') throw new Error(`not programmed: ${JSON.stringify(programmed)}`);
      const address = status?.addresses?.[0]?.value;
      if (address === undefined) throw new Error('no address');
      return address;
    });
  }

  /** Passes connections to the API server on, and cuts them on command. */
  async relayToApi(): Promise<Relay & { readonly kubeconfig: string }> {
    const relay = await startRelay(Number(new URL(process.env.KUBE_SERVER ?? '').port));
    this.atEnd(() => relay.close());
    const kubeconfig = kubeconfigWith(`https://127.0.0.1:${relay.port}`, process.env.KUBE_TOKEN ?? '');
    return { ...relay, kubeconfig };
  }

  /** Access of a service account with rules of its own; none: it may do nothing. */
  async accountWith(namespace: string, name: string, rules: readonly object[]): Promise<string> {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.put(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
    await this.grant(namespace, name, rules);
    const { status } = await this.api.create<{ status: { token: string } } & StatusOf>(`${accounts}/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    });
    return kubeconfigWith(process.env.KUBE_SERVER ?? '', status.token);
  }

  /** Gives a service account the rules in the place of those that it had. */
  async grant(namespace: string, name: string, rules: readonly object[]): Promise<void> {
    const [rbac, role] = ['rbac.authorization.k8s.io', `${namespace}-${name}`];
    const paths = ['clusterroles', 'clusterrolebindings'].map((plural) => `/apis/${rbac}/v1/${plural}`);
    const [roles = '', bindings = ''] = paths;
    const apiGroup = rbac;
    await this.put(roles, { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules });
    await this.put(bindings, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
  }
}

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface StatusOf {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string; readonly generation?: number };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    readonly listeners?: readonly { readonly conditions?: readonly { readonly reason: string }[] }[];
    readonly parents?: readonly {
      readonly controllerName: string;
      readonly conditions?: readonly { readonly type: string; readonly observedGeneration?: number }[];
    }[];
  };
}

const apiVersion = 'gateway.networking.k8s.io/v1';
const ownController = 'sluice.dev/gateway-controller';
const classes = `/apis/${apiVersion}/gatewayclasses`;
export const gateways = (namespace: string): string => `/apis/${apiVersion}/namespaces/${namespace}/gateways`;
export const routes = (namespace: string): string => `/apis/${apiVersion}/namespaces/${namespace}/httproutes`;

function kubeconfigWith(server: string, token: string): string {
  const file = join(newFolder(), 'kubeconfig');
  const cluster = { server, 'certificate-authority': process.env.KUBE_CA };
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 't', cluster }],
      users: [{ name: 't', user: { token } }],
      contexts: [{ name: 't', context: { cluster: 't', user: 't' } }],
      'current-context': 't',
    }),
  );
  return file;
}

export const settle = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Location that a Gateway redirects to. */
export async function location(address: string, path = '/'): Promise<string | null> {
  const response = await fetch(`http://${address}${path}`, { redirect: 'manual' });
  await response.arrayBuffer();
  return response.headers.get('location');
}

export const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: (await response.json()) as { losses: { kind: string }[] } };
};

/** Returns a value of a controller's metrics. `series` begins a line, with its labels. */
export async function metric({ adminUrl }: ControllerHandle, series: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** Time for which a pod that is to end serves on, while proxies learn of it. */
export const preStopSeconds = 3;

/** Pods that answer with their names. `round` is part of the template: another one replaces them. */
export const echoDeployment = (namespace: string, replicas: number, round: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'echo', namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'echo' } },
    template: {
      metadata: { labels: { app: 'echo' }, annotations: { round: String(round) } },
      spec: {
        containers: [
          {
            name: 'echo',
            image: 'echo-basic:v1',
            lifecycle: { preStop: { sleep: { seconds: preStopSeconds } } },
            env: ['POD_NAME', 'NAMESPACE'].map((name) => ({
              name,
              valueFrom: { fieldRef: { fieldPath: name === 'NAMESPACE' ? 'metadata.namespace' : 'metadata.name' } },
            })),
          },
        ],
      },
    },
  },
});

export const echoService = (namespace: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'echo', namespace },
  spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 3000 }] },
});
