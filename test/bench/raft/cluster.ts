// Real raft processes on loopback for the bench: start, watch who leads, kill, start again.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { RaftOptions } from '../../../raft/member/options.ts';
import { freePort } from '../../support/free-port.ts';
import type { FromNode, ToNode } from './node.ts';

export interface BenchNode {
  readonly options: RaftOptions;
  process: ChildProcess;
  leads: boolean;
  /** Words that it acknowledged. */
  readonly acked: string[];
  /** Time of its first commit in the term that it leads; Unix milliseconds. */
  workingAt: number;
}

export class BenchCluster {
  readonly nodes: BenchNode[] = [];
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async start(size: number): Promise<BenchCluster> {
    const cluster = new BenchCluster(await mkdtemp(join(tmpdir(), 'raft-bench-')));
    const ports = await Promise.all(Array.from({ length: size }, freePort));
    const peers = ports.map((port, at) => ({ nodeId: `n${at + 1}`, address: `127.0.0.1:${port}` }));
    for (const { nodeId, address } of peers) {
      const shared = { peers, discovery: undefined, clusterToken: 'a token for the bench', tls: undefined };
      const member = { bindAddress: address, advertiseAddress: address, autoJoin: 'none' as const, ...shared };
      cluster.#start({
        directory: join(cluster.#directory, nodeId),
        nodeId,
        clientAddress: '',
        keyFingerprint: '',
        cluster: size === 1 ? undefined : member,
      });
    }
    await cluster.working();
    return cluster;
  }

  #start(options: RaftOptions): void {
    const node: BenchNode = { options, process: this.#fork(options), leads: false, workingAt: 0, acked: [] };
    this.nodes.push(node);
    this.#watch(node);
  }

  #fork(options: RaftOptions): ChildProcess {
    const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
    return fork(new URL('./node.ts', import.meta.url), [JSON.stringify(options)], { env, serialization: 'advanced' });
  }

  #watch(node: BenchNode): void {
    node.process.on('message', (message: FromNode) => {
      if (message.type === 'role') node.leads = message.leads;
      if (message.type === 'acked') node.acked.push(message.word);
      if (message.type === 'working') node.workingAt = message.at;
      if (message.type === 'fatal') throw new Error(`${node.options.nodeId}: ${message.reason}`);
    });
  }

  /** The node that leads and has committed since `after`, Unix milliseconds. */
  async working(after = 0): Promise<BenchNode> {
    for (const end = performance.now() + 20_000; performance.now() < end; ) {
      const leader = this.nodes.find((node) => node.leads && node.workingAt > after);
      if (leader !== undefined) return leader;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error('no leader within 20 s');
  }

  async kill(node: BenchNode): Promise<void> {
    node.leads = false;
    node.process.kill('SIGKILL');
    await once(node.process, 'exit');
  }

  restart(node: BenchNode): void {
    node.process = this.#fork(node.options);
    this.#watch(node);
  }

  async ask(node: BenchNode, question: ToNode): Promise<FromNode & { type: 'done' }> {
    node.process.send(question);
    for (;;) {
      const [message]: [FromNode] = (await once(node.process, 'message')) as [FromNode];
      if (message.type === 'done') return message;
    }
  }

  /** Words that the node has applied in this life. */
  async words(node: BenchNode): Promise<readonly string[]> {
    node.process.send({ type: 'words' } satisfies ToNode);
    for (;;) {
      const [message]: [FromNode] = (await once(node.process, 'message')) as [FromNode];
      if (message.type === 'words') return message.words;
    }
  }

  async close(): Promise<void> {
    for (const { process: child } of this.nodes) child.kill('SIGKILL');
    await rm(this.#directory, { recursive: true, force: true });
  }
}
