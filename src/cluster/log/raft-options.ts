// Translates settings into the options of raft (contract.md §1.3, architecture.md §7.11).
import { join } from 'node:path';
import type { ClusterOptions, RaftOptions } from '../../../raft/index.ts';
import { formatAddress } from '../../settings/address.ts';
import { type ControlPlaneSettings, clusterSecret } from '../../settings/control-plane-settings.ts';
import type { RaftSettings } from '../../settings/raft-settings.ts';
import { Cipher } from '../../state/encryption.ts';

/** The only member of a cluster of one without a `raft` section. */
export const singleNodeId = 'single';

export function raftOptions(settings: ControlPlaneSettings, storePath: string): RaftOptions {
  const { raft, encryptionKey } = settings;
  const secret = clusterSecret(settings);
  return {
    directory: join(storePath, 'raft'),
    nodeId: raft?.nodeId ?? singleNodeId,
    clientAddress: raft === undefined ? '' : clientAddress(settings, raft),
    keyFingerprint: encryptionKey === undefined ? '' : new Cipher(encryptionKey).fingerprint,
    cluster: raft && clusterOptions(raft, secret),
  };
}

/** Address at which the other nodes reach the API of this one. */
function clientAddress({ advertiseAddress, address }: ControlPlaneSettings, raft: RaftSettings): string {
  return formatAddress(advertiseAddress ?? { host: raft.advertiseAddress.host, port: address.port });
}

/**
 * Returns the options of the cluster. With TLS and no token the certificates prove the names of nodes, which an API key
 * would not. Without any proof of membership, a node is taken in by an operator alone, not because it connects.
 */
function clusterOptions(raft: RaftSettings, secret: string | undefined): ClusterOptions {
  const { bindAddress, advertiseAddress, peers, discoveryDns, expect, tls } = raft;
  const clusterToken = raft.clusterToken ?? (tls === undefined ? secret : undefined);
  return {
    bindAddress: formatAddress(bindAddress),
    advertiseAddress: formatAddress(advertiseAddress),
    peers:
      discoveryDns === undefined
        ? peers.map(({ nodeId, address }) => ({ nodeId, address: formatAddress(address) }))
        : [],
    discovery: discoveryDns === undefined ? undefined : { dns: discoveryDns, port: bindAddress.port, expect },
    clusterToken,
    tls,
    autoJoin: clusterToken === undefined && tls === undefined ? 'none' : raft.autoJoin,
  };
}
