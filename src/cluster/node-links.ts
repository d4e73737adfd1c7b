// Links of this node's API to those of the others, made from the settings: the way to the leader, and the door at which
// other nodes' writes come in.
import { randomUUID } from 'node:crypto';
import { type ControlPlaneSettings, clusterSecret } from '../settings/control-plane-settings.ts';
import { clusterTokenMin } from '../settings/raft-settings.ts';
import type { Command } from '../state/command.ts';
import type { Malformed } from '../state/command-codec.ts';
import type { WorkTraces } from '../telemetry/traces/work-traces.ts';
import type { Clock } from '../util/clock.ts';
import { LeaderOperations } from './members/leader-operations.ts';
import { PeerClient } from './peers/peer-client.ts';
import { PeerServer, type PeerServerOptions } from './peers/peer-server.ts';
import { LeaderConnections } from './relay/leader-connections.ts';
import { RelayClient } from './relay/relay-client.ts';
import { relayKey } from './relay/relay-credential.ts';
import { RelayServer } from './relay/relay-server.ts';
import type { RelayTarget } from './relay/relayed-write.ts';
import { HashClient } from './state-hash/hash-client.ts';
import { HashServer, type HashServerOptions } from './state-hash/hash-server.ts';

export interface NodeLinksOptions {
  readonly settings: ControlPlaneSettings;
  /** Undefined until this node belongs to a cluster. */
  readonly clusterId: () => string | undefined;
  readonly clock: Clock;
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
}

export class NodeLinks {
  readonly relay: RelayClient;
  readonly leader: LeaderOperations;
  readonly hashes: HashClient;
  readonly peers: PeerClient;
  readonly #options: NodeLinksOptions;
  readonly #connections: LeaderConnections;
  readonly #key: Uint8Array | undefined;

  constructor(options: NodeLinksOptions) {
    const { settings, clusterId, clock, traces } = options;
    const secret = clusterSecret(settings);
    const key = secret === undefined ? undefined : relayKey(secret);
    const connections = new LeaderConnections({ tls: settings.tls, clock });
    this.#options = options;
    this.#connections = connections;
    this.#key = key;
    this.relay = new RelayClient({ connections, clusterId, key, clock, newNonce, traces, turnEnd });
    this.leader = new LeaderOperations(connections);
    this.hashes = new HashClient({ connections, clusterId, key, clock, newNonce });
    this.peers = new PeerClient({ connections, clusterId, key, clock, newNonce });
  }

  /** Undefined without a `raft` section: nothing is relayed to a cluster of one. */
  server(target: RelayTarget, decode: (bytes: Uint8Array) => Command | Malformed): RelayServer | undefined {
    const { settings, clusterId, clock } = this.#options;
    return settings.raft && new RelayServer({ target, decode, clusterId, clock, key: this.#key });
  }

  /** Undefined without a `raft` section, as above. */
  hashServer(own: Pick<HashServerOptions, 'member' | 'hashes'>): HashServer | undefined {
    const { settings, clusterId, clock } = this.#options;
    return settings.raft && new HashServer({ ...own, clusterId, clock, key: this.#key });
  }

  /** Undefined without a `raft` section, as above. */
  peerServer(own: Pick<PeerServerOptions, 'answer'>): PeerServer | undefined {
    const { settings, clusterId, clock } = this.#options;
    const nodeId = settings.raft?.nodeId;
    return nodeId === undefined ? undefined : new PeerServer({ ...own, nodeId, clusterId, clock, key: this.#key });
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    await this.#connections.close();
  }
}

/** Returns the warning about weak proof of membership; undefined when the proof is sound. */
export function trustWarning(settings: ControlPlaneSettings): string | undefined {
  const { raft } = settings;
  if (raft === undefined || raft.tls !== undefined) return undefined;
  const secret = clusterSecret(settings);
  if (secret === undefined) {
    return (
      'nothing but a private address tells members of the cluster from strangers, so no node joins by itself: ' +
      'set controlPlane.raft.clusterToken, the same on every node'
    );
  }
  if (secret.length >= clusterTokenMin) return undefined;
  return (
    `an API key of fewer than ${clusterTokenMin} characters stands in for the cluster token and can be guessed: ` +
    'set controlPlane.raft.clusterToken, the same on every node'
  );
}

/** Writes of the turns of one loop arrive one by one; behind them is the next moment that nothing waits in. */
const turnEnd = (run: () => void): void => void setImmediate(run);

const newNonce = (): string => randomUUID();
