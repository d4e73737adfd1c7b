// Three real nodes on one machine, each with its own store, ports and settings file. Started together unless a test says
// otherwise; each can be stopped, killed and started again.
import { join } from 'node:path';
import { type ApiClient, apiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from './sluice-process.ts';

export interface ClusterSetup {
  readonly nodeIds?: readonly string[];
  /** YAML below `controlPlane:` that all nodes share, two spaces in. */
  readonly controlPlane?: string;
  /** Sent by the clients of the nodes. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Without one only private addresses are let in. */
  readonly clusterToken?: string | undefined;
  /** Ports that node `from` dials instead of those of `to`: for proxies in between. */
  readonly via?: (from: string, to: string, ports: NodePorts) => NodePorts | Promise<NodePorts>;
}

export interface NodePorts {
  readonly raft: number;
  readonly api: number;
}

export interface ClusterNode {
  readonly nodeId: string;
  readonly ports: NodePorts;
  readonly url: string;
  readonly storePath: string;
  readonly api: ApiClient;
  /** Every line of all its lives. */
  readonly output: string[];
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  /** The process while it runs. */
  readonly process: SluiceProcess | undefined;
}

interface Overview extends Record<string, unknown> {
  readonly leader: string | null;
  readonly clusterId: string;
  readonly members: readonly { readonly nodeId: string; readonly role: string; readonly lag: number | null }[];
}

export class SluiceCluster {
  readonly nodes: readonly ClusterNode[];

  private constructor(nodes: readonly ClusterNode[]) {
    this.nodes = nodes;
  }

  /** Prepares the nodes; none runs yet. */
  static async prepare(setup: ClusterSetup = {}): Promise<SluiceCluster> {
    const { nodeIds = ['a', 'b', 'c'] } = setup;
    const ports = new Map<string, NodePorts>();
    for (const nodeId of nodeIds) ports.set(nodeId, { raft: await freePort(), api: await freePort() });
    const nodes = await Promise.all(
      [...ports].map(([nodeId, own]) => clusterNode(nodeId, own, { setup, ports, folder: newFolder() })),
    );
    return new SluiceCluster(nodes);
  }

  static async start(setup: ClusterSetup = {}): Promise<SluiceCluster> {
    const cluster = await SluiceCluster.prepare(setup);
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
    return await eventually(
      async () => {
        for (const { api } of running) {
          const { body } = await api.get<Overview>('/cluster');
          const leader = running.find(({ nodeId }) => nodeId === body.leader);
          const knows = body.members?.some(({ role, lag }) => role === 'leader' && lag === 0);
          if (leader !== undefined && knows === true) return leader;
        }
        throw new Error('nobody leads');
      },
      { withinMs: 15_000 },
    );
  }

  async followers(): Promise<readonly ClusterNode[]> {
    const { nodeId } = await this.leader();
    return this.nodes.filter((node) => node.nodeId !== nodeId && node.process !== undefined);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop('SIGKILL')));
  }
}

interface Surroundings {
  readonly setup: ClusterSetup;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly folder: string;
}

async function clusterNode(nodeId: string, ports: NodePorts, around: Surroundings): Promise<ClusterNode> {
  const { setup, folder } = around;
  const controlPlane = await sectionOf(nodeId, ports, around);
  const scheme = setup.controlPlane?.includes('tls:') ? 'https' : 'http';
  const url = `${scheme}://127.0.0.1:${ports.api}`;
  const output: string[] = [];
  let running: SluiceProcess | undefined;
  return {
    nodeId,
    ports,
    url,
    storePath: join(folder, 'data'),
    api: apiClient(url, { ...setup.headers }),
    output,
    get process() {
      return running;
    },
    async start() {
      running = await startSluice({ folder, port: ports.api, controlPlane, more: 'proxy: { workers: 1 }' });
      output.push(...running.output);
    },
    async stop(signal = 'SIGTERM') {
      const stopped = await running?.stop(signal);
      running = undefined;
      return stopped ?? 0;
    },
  };
}

async function sectionOf(nodeId: string, own: NodePorts, { setup, ports }: Surroundings): Promise<string> {
  const { via = (_from: string, _to: string, direct: NodePorts) => direct, clusterToken = 'a cluster token of tests' } =
    setup;
  const peers: string[] = [];
  for (const [peer, direct] of ports) {
    const { raft } = peer === nodeId ? direct : await via(nodeId, peer, direct);
    peers.push(`"${peer}=127.0.0.1:${raft}"`);
  }
  const token = 'clusterToken' in setup && setup.clusterToken === undefined ? '' : `clusterToken: "${clusterToken}", `;
  return (
    `  advertiseAddress: 127.0.0.1:${own.api}\n` +
    `  raft: { nodeId: ${nodeId}, bindAddress: "127.0.0.1:${own.raft}", ${token}peers: [${peers.join(', ')}] }\n` +
    (setup.controlPlane ?? '')
  );
}
