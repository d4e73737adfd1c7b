// Options of raft, given by the program above at the start. Plain data: they cross the thread border.
import { join } from 'node:path';

import type { PeerTls } from '../transport/peer-socket.ts';

export interface StaticPeer {
  readonly nodeId: string;
  /** `host:port` of its raft transport. */
  readonly address: string;
}

export interface ClusterOptions {
  /** Address on which this node listens for peers: `host:port`, or `:port` for all addresses. */
  readonly bindAddress: string;
  /** Address under which peers find it: `host:port`. */
  readonly advertiseAddress: string;
  /** All founding nodes, this one included; empty with `discovery`. A hint for the very first start only. */
  readonly peers: readonly StaticPeer[];
  /** Wins over `peers`. `expect` nodes must have been met before one of them creates the cluster. */
  readonly discovery: { readonly dns: string; readonly port: number; readonly expect: number } | undefined;
  readonly clusterToken: string | undefined;
  readonly tls: PeerTls | undefined;
  /** As a leader, take empty nodes that introduce themselves as learners. */
  readonly autoJoin: 'none' | 'learner';
}

export interface RaftOptions {
  /** Raft's own directory, `<storePath>/raft`. */
  readonly directory: string;
  /** Its name in the cluster. After the first start the log counts; a node that is alone takes a new name over. */
  readonly nodeId: string;
  /** Address of the program above for peers, `host:port` or empty. */
  readonly clientAddress: string;
  /** Fingerprint of the key for data at rest; empty without one. Peers with another key are refused. */
  readonly keyFingerprint: string;
  /** One int32, looked at for each event: 0 while `host.detail` wants to know. Undefined: never. */
  readonly details?: SharedArrayBuffer | undefined;
  /** Undefined: a cluster of one, without a transport. */
  readonly cluster: ClusterOptions | undefined;
}

/** Peers prove that they hold the cluster's secret, or a certificate. True without peers. */
export function arePeersProven({ cluster }: Pick<RaftOptions, 'cluster'>): boolean {
  return cluster === undefined || cluster.clusterToken !== undefined || cluster.tls !== undefined;
}

/** Directory of the checkpoint files: the program above writes them there, raft names and prunes them. */
export function checkpointDirectory({ directory }: Pick<RaftOptions, 'directory'>): string {
  return join(directory, 'checkpoints');
}
