// Three real nodes on one machine, each with its own store, ports and settings file. Started together unless a test says
// otherwise; each can be stopped, killed and started again.
import { join } from 'node:path';
import { type ApiClient, apiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { type CallOptions, call } from './http-call.ts';
import { type LaunchedSluice, launchSluice, newFolder } from './sluice-process.ts';
import type { StubResolver } from './stub-resolver.ts';

export interface ClusterSetup {
  readonly nodeIds?: readonly string[];
  /** YAML below `controlPlane:` that all nodes share, two spaces in. */
  readonly controlPlane?: string;
  /** API key and trust of those who ask the nodes. */
  readonly caller?: Pick<CallOptions, 'key' | 'tls'>;
  /** Cluster token; without one only private addresses are let in. */
  readonly clusterToken?: string | undefined;
  /** Nodes in every node's list of peers; all by default. The others name the founders and themselves. */
  readonly founders?: readonly string[];
  readonly autoJoin?: 'none' | 'learner';
  /** The nodes find each other by the name that it knows, in place of a list of peers. */
  readonly resolver?: StubResolver;
  /** Raft port that `from` dials in place of that of `to`: for a link in between. */
  readonly via?: (from: string, to: string, ports: NodePorts) => Promise<number>;
  /** Port where the others reach the API of a node, in place of its own. */
  readonly apiVia?: (nodeId: string, ports: NodePorts) => Promise<number>;
  readonly env?: (nodeId: string) => NodeJS.ProcessEnv;
  /** Below `data` of each node's folder, for the program to make. */
  readonly storeBelow?: string;
  /** Workers of the proxy of each node. Default: 1. */
  readonly workers?: number;
  /** Further sections of every node's settings file. */
  readonly more?: string;
}

interface NodePorts {
  /** Port of raft: by discovery the same for all, each on its own address of loopback. */
  readonly raft: number;
  readonly api: number;
}

export interface ClusterNode {
  readonly nodeId: string;
  readonly ports: NodePorts;
  readonly url: string;
  /** Address that its proxy listens on, in place of those that listeners name: each node has its own of loopback. */
  readonly proxyAddress: string;
  readonly folder: string;
  readonly storePath: string;
  /** Client of the API over plain HTTP. */
  readonly api: ApiClient;
  overview(): Promise<Overview>;
  /** Every line of all its lives. */
  readonly output: string[];
  /** Resolves when it is ready; rejects when it ends before, by `stop` as well. */
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  /** Process from its start to its stop. */
  readonly process: LaunchedSluice | undefined;
}

interface Overview {
  readonly leader: string | null;
  readonly clusterId: string;
  readonly members: readonly {
    readonly nodeId: string;
    readonly incarnation: number;
    readonly role: string;
    readonly lag: number | null;
    readonly raftAddress: string;
  }[];
  readonly candidates: readonly { readonly nodeId: string; readonly raftAddress: string }[];
}

export class NodeCluster {
  readonly nodes: readonly ClusterNode[];

  private constructor(nodes: readonly ClusterNode[]) {
    this.nodes = nodes;
  }

  /** Prepares the nodes; none runs yet. */
  static async prepare(setup: ClusterSetup = {}): Promise<NodeCluster> {
    const { nodeIds = ['a', 'b', 'c'], resolver } = setup;
    const ports = new Map<string, NodePorts>();
    const sharedPort = await freePort();
    for (const nodeId of nodeIds) {
      ports.set(nodeId, { raft: resolver === undefined ? await freePort() : sharedPort, api: await freePort() });
    }
    if (resolver !== undefined) resolver.addresses = nodeIds.map((_, at) => addressOf(at));
    const nodes = await Promise.all(
      [...ports].map(([nodeId, own]) => clusterNode(nodeId, own, { setup, ports, folder: newFolder() })),
    );
    return new NodeCluster(nodes);
  }

  static async start(setup: ClusterSetup = {}): Promise<NodeCluster> {
    const cluster = await NodeCluster.prepare(setup);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    return cluster;
  }

  node(nodeId: string): ClusterNode {
    const node = this.nodes.find((one) => one.nodeId === nodeId);
    if (node === undefined) throw new Error(`no node ${nodeId}`);
    return node;
  }

  async leader(): Promise<ClusterNode> {
    const running = this.nodes.filter((node) => node.process !== undefined);
    return await eventually(async () => {
      for (const node of running) {
        const { leader, members } = await node.overview().catch(() => nothingKnown);
        const found = running.find(({ nodeId }) => nodeId === leader);
        // Only the answer of the leader itself shows that a member lags.
        if (found !== undefined && members.some(({ role, lag }) => role === 'leader' && lag === 0)) return found;
      }
      throw new Error('there is no leader');
    });
  }

  async followers(): Promise<readonly ClusterNode[]> {
    const { nodeId } = await this.leader();
    return this.nodes.filter((node) => node.nodeId !== nodeId && node.process !== undefined);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop('SIGKILL')));
  }
}

/** Address of loopback for the proxy of a node; each node has one of its own. */
const addressOf = (at: number): string => `127.0.0.${at + 1}`;

/** Overview of a node that does not answer. */
const nothingKnown: Pick<Overview, 'leader' | 'members'> = { leader: null, members: [] };

interface Surroundings {
  readonly setup: ClusterSetup;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly folder: string;
}

async function clusterNode(nodeId: string, ports: NodePorts, around: Surroundings): Promise<ClusterNode> {
  const { setup, folder } = around;
  const proxyAddress = addressOf([...around.ports.keys()].indexOf(nodeId));
  const controlPlane = await sectionOf(nodeId, ports, around);
  const scheme = setup.controlPlane?.includes('tls:') ? 'https' : 'http';
  const url = `${scheme}://127.0.0.1:${ports.api}`;
  const output: string[] = [];
  let running: LaunchedSluice | undefined;
  return {
    nodeId,
    ports,
    url,
    proxyAddress,
    folder,
    storePath: join(folder, 'data', setup.storeBelow ?? ''),
    api: apiClient(url, setup.caller?.key === undefined ? {} : { authorization: `Bearer ${setup.caller.key}` }),
    async overview() {
      const { status, text, json } = await call(url, 'GET', '/api/v1/cluster', { ...setup.caller, withinMs: 1_000 });
      if (status !== 200) throw new Error(`no overview: ${text}`);
      return json as Overview;
    },
    output,
    get process() {
      return running;
    },
    async start() {
      const more = `proxy: { workers: ${setup.workers ?? 1}, bindAddress: ${proxyAddress} }\n${setup.more ?? ''}`;
      const env = { ...setup.resolver?.environment, ...setup.env?.(nodeId) };
      const { storeBelow = '' } = setup;
      running = launchSluice({ folder, storeBelow, port: ports.api, controlPlane, more, env, output });
      await running.ready;
    },
    async stop(signal = 'SIGTERM') {
      const stopping = running;
      running = undefined;
      return (await stopping?.stop(signal)) ?? 0;
    },
  };
}

async function sectionOf(nodeId: string, own: NodePorts, { setup, ports }: Surroundings): Promise<string> {
  const {
    via,
    apiVia,
    autoJoin = 'learner',
    founders = [...ports.keys()],
    clusterToken = 'a cluster token of tests',
  } = setup;
  const at = [...ports.keys()].indexOf(nodeId);
  const peers: string[] = [];
  for (const [peer, direct] of ports) {
    if (peer !== nodeId && !founders.includes(peer)) continue;
    const raft = peer === nodeId || via === undefined ? direct.raft : await via(nodeId, peer, direct);
    peers.push(`"${peer}=127.0.0.1:${raft}"`);
  }
  // Nodes dial the address that a member advertises as well: one without a listener leaves them the links alone.
  const advertised = via === undefined ? '' : `advertiseAddress: "127.0.0.1:${at + 1}", `;
  const apiPort = (await apiVia?.(nodeId, own)) ?? own.api;
  const token = 'clusterToken' in setup && setup.clusterToken === undefined ? '' : `clusterToken: "${clusterToken}", `;
  const bindAddress = `${setup.resolver === undefined ? '127.0.0.1' : addressOf(at)}:${own.raft}`;
  const others =
    setup.resolver === undefined
      ? `peers: [${peers.join(', ')}]`
      : `discovery: { dns: sluice.test }, expect: ${ports.size}`;
  return (
    `  advertiseAddress: 127.0.0.1:${apiPort}\n` +
    `  raft: { nodeId: ${nodeId}, bindAddress: "${bindAddress}", ${advertised}${token}autoJoin: ${autoJoin}, ${others} }\n` +
    (setup.controlPlane ?? '')
  );
}
