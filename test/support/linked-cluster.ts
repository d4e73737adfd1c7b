// A cluster of real nodes whose connections to one another all pass through links that a test can disturb: the raft
// connections of each ordered pair, and for each node the way by which the others reach its API to relay writes.
import { CuttableLink, type Passage } from './cuttable-link.ts';
import { type ClusterNode, type ClusterSetup, NodeCluster } from './node-cluster.ts';

interface RaftLink {
  readonly from: string;
  readonly to: string;
  readonly link: CuttableLink;
}

export type LinkedSetup = Omit<ClusterSetup, 'via' | 'apiVia'>;

export class LinkedCluster {
  readonly cluster: NodeCluster;
  readonly #raft: readonly RaftLink[];
  readonly #api: ReadonlyMap<string, CuttableLink>;

  private constructor(cluster: NodeCluster, raft: readonly RaftLink[], api: ReadonlyMap<string, CuttableLink>) {
    this.cluster = cluster;
    this.#raft = raft;
    this.#api = api;
  }

  static async start(setup: LinkedSetup = {}): Promise<LinkedCluster> {
    const raft: RaftLink[] = [];
    const api = new Map<string, CuttableLink>();
    const cluster = await NodeCluster.start({
      ...setup,
      via: async (from, to, ports) => {
        const link = await CuttableLink.to(ports.raft);
        raft.push({ from, to, link });
        return link.port;
      },
      apiVia: async (nodeId, ports) => {
        const link = await CuttableLink.to(ports.api);
        api.set(nodeId, link);
        return link.port;
      },
    });
    return new LinkedCluster(cluster, raft, api);
  }

  /** Sets the passage of bytes from `sender` to `receiver`, on connections of either one. */
  pass(sender: string, receiver: string, passage: Passage): void {
    for (const { from, to, link } of this.#raft) {
      if (from === sender && to === receiver) link.pass({ there: passage });
      if (from === receiver && to === sender) link.pass({ back: passage });
    }
  }

  /** Cuts all links between two nodes. */
  separate(one: string, other: string): void {
    this.pass(one, other, { state: 'cut' });
    this.pass(other, one, { state: 'cut' });
  }

  /** Neither hears of the others nor is heard, for raft and for relayed writes. */
  isolate({ nodeId }: ClusterNode): void {
    for (const other of this.cluster.nodes) if (other.nodeId !== nodeId) this.separate(nodeId, other.nodeId);
    this.#api.get(nodeId)?.cut({ there: true, back: true });
  }

  /** Sets the passages of requests and answers of writes that are relayed to this node. */
  passRelayed({ nodeId }: ClusterNode, passages: Parameters<CuttableLink['pass']>[0]): void {
    this.#api.get(nodeId)?.pass(passages);
  }

  reset(): void {
    for (const link of this.#links()) link.reset();
  }

  heal(): void {
    for (const link of this.#links()) link.heal();
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await Promise.all(this.#links().map((link) => link.close()));
  }

  #links(): readonly CuttableLink[] {
    return [...this.#raft.map(({ link }) => link), ...this.#api.values()];
  }
}
