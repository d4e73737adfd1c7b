// Several real Sluices that form one cluster, each with ports that the system gave and a folder of its own.
import { expect } from 'chai';
import { apiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from './sluice-process.ts';

export interface ClusterNode {
  readonly nodeId: string;
  /** `http://127.0.0.1:<port>` of its API, the same at each start. */
  readonly url: string;
  readonly folder: string;
  readonly api: ReturnType<typeof apiClient>;
  /** Resolves when it says that it is ready. */
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  readonly output: readonly string[];
}

export interface ClusterSetup {
  readonly nodeIds?: readonly string[];
  /** YAML below `controlPlane:`, two spaces in, the same for all. */
  readonly controlPlane?: string;
}

export const clusterToken = 'a token that only tests know';

/** Made, not started. */
export async function clusterOf({ nodeIds = ['n1', 'n2', 'n3'], controlPlane = '' }: ClusterSetup = {}) {
  const seats = await Promise.all(nodeIds.map(async (nodeId) => ({ nodeId, raft: await freePort() })));
  const peers = seats.map(({ nodeId, raft }) => `${nodeId}=127.0.0.1:${raft}`);
  return await Promise.all(
    seats.map(async ({ nodeId, raft }) => {
      const section =
        `  raft:\n    nodeId: ${nodeId}\n    bindAddress: 127.0.0.1:${raft}\n` +
        `    peers: [${peers.join(', ')}]\n    clusterToken: ${clusterToken}\n`;
      return nodeOf(nodeId, await freePort(), section + controlPlane);
    }),
  );
}

function nodeOf(nodeId: string, port: number, controlPlane: string): ClusterNode {
  const folder = newFolder();
  const url = `http://127.0.0.1:${port}`;
  let process: SluiceProcess | undefined;
  return {
    nodeId,
    url,
    folder,
    api: apiClient(url),
    async start() {
      process = await startSluice({ folder, port, controlPlane, more: 'proxy: { workers: 1 }' });
    },
    async stop(signal) {
      return (await process?.stop(signal)) ?? 0;
    },
    get output() {
      return process?.output ?? [];
    },
  };
}

export async function startAll(nodes: readonly ClusterNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.start()));
}

interface ClusterBody {
  readonly leader?: { readonly nodeId: string } | string | null;
}

/** Whom all of `nodes` believe to lead. */
export async function leaderOf(nodes: readonly ClusterNode[]): Promise<ClusterNode> {
  return await eventually(async () => {
    const named = await Promise.all(nodes.map(async ({ api }) => (await api.get<ClusterBody>('/cluster')).body.leader));
    const names = new Set(named.map((leader) => (typeof leader === 'object' ? leader?.nodeId : leader)));
    const found = nodes.find(({ nodeId }) => names.has(nodeId));
    expect(names.size).to.equal(1);
    if (found === undefined) throw new Error(`no node leads: ${[...names].join()}`);
    return found;
  });
}
