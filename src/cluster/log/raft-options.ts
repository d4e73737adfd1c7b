// The settings file's words in raft's (contract.md §1.3, architecture.md §7.11).
import { join } from 'node:path';
import type { ClusterOptions, RaftOptions } from '../../../raft/index.ts';
import { formatAddress } from '../../settings/address.ts';
import type { ControlPlaneSettings } from '../../settings/control-plane.ts';
import type { RaftSettings } from '../../settings/raft.ts';
import { Cipher } from '../../state/encryption.ts';

/** The only member of a cluster of one without a `raft` section. */
export const singleNodeId = 'single';

export function raftOptions(settings: ControlPlaneSettings, storePath: string): RaftOptions {
  const { raft, encryptionKey } = settings;
  return {
    directory: join(storePath, 'raft'),
    nodeId: raft?.nodeId ?? singleNodeId,
    clientAddress: raft === undefined ? '' : clientAddress(settings, raft),
    keyFingerprint: encryptionKey === undefined ? '' : new Cipher(encryptionKey).fingerprint,
    cluster: raft && clusterOptions(raft),
  };
}

/** Where the other nodes reach the API of this one. */
function clientAddress({ advertiseAddress, address }: ControlPlaneSettings, raft: RaftSettings): string {
  return formatAddress(advertiseAddress ?? { host: raft.advertiseAddress.host, port: address.port });
}

function clusterOptions(raft: RaftSettings): ClusterOptions {
  const { bindAddress, advertiseAddress, peers, discoveryDns, expect, clusterToken, tls, autoJoin } = raft;
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
    autoJoin,
  };
}
