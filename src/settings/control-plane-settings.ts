// Section `controlPlane` of the settings file (contract.md §1.3, architecture.md §9).
import { addressKey, addressKeyOr, namesHost } from './address.ts';
import { type ApiKey, authSection } from './auth-settings.ts';
import { encryptionSection } from './encryption-key.ts';
import { readKeys, section, type Values } from './key.ts';
import { pemKey, requiredPemKey } from './pem-setting.ts';
import { raftSection } from './raft-settings.ts';
import { duration, oneOf, text, texts } from './scalar-key.ts';
import type { Section } from './section.ts';

const apiTlsKeys = {
  cert: requiredPemKey('certificate chain: the API over TLS, 1.2 at least'),
  key: requiredPemKey('its private key'),
  ca: pemKey('authorities of client certificates; required unless `clientAuth` is `none`'),
  clientAuth: oneOf(['none', 'optional', 'require'], 'none', 'client certificates signed by `ca`', {
    isBlankRefused: true,
  }),
};

export type ApiTls = Values<typeof apiTlsKeys>;

const environmentPattern = /^[A-Za-z_][A-Za-z0-9_]*\*?$|^\*$/;

const secretSourceKeys = {
  env: texts(
    'environment variables that `{{secret:env:…}}` may read; `*` at the end of a name; an empty list means none',
    {
      usual: 'any',
      isBlankRefused: true,
      check: (pattern) =>
        environmentPattern.test(pattern) ? undefined : `has an invalid pattern ${JSON.stringify(pattern)}`,
    },
  ),
  files: texts('directories that `{{secret:file:…}}` may read, by real path; an empty list means none', {
    usual: 'any',
    isBlankRefused: true,
  }),
};

/** Secret sources that snapshots may read (architecture.md §6.18). Absent list = any, empty list = none. */
export type SecretFence = Values<typeof secretSourceKeys>;

export const controlPlaneKeys = {
  address: addressKeyOr(':8080', 'where the API listens; no host means all interfaces'),
  advertiseAddress: addressKey(
    'where the other nodes reach this API; required with `raft` where `raft.advertiseAddress` names no host, or `address` has port 0',
    { usual: 'host of `raft.advertiseAddress`, own port' },
  ),
  storePath: text(
    'directory of all state; made if missing. What lies below it is for the owner alone (mode 0700): without encryption it holds secrets',
    { otherwise: '/data', type: 'path' },
  ),
  tls: section(apiTlsKeys, {
    isProtection: true,
    check({ clientAuth }, at) {
      if (clientAuth !== 'none' && !at.has('ca')) at.error('ca', `is required by clientAuth ${clientAuth}`);
    },
  }),
  auth: authSection,
  encryption: encryptionSection(
    'secrets and snapshots are encrypted in the store. Cannot be switched on for a store that holds some, nor off',
  ),
  raft: raftSection,
  shutdownTimeout: duration(
    'how long requests in flight may take after SIGTERM, in both modes, and those of a listener that was removed; WebSockets are cut then',
    '30s',
  ),
  onStorageFailure: oneOf(
    ['serve', 'exit'],
    'serve',
    'when the store fails: go on proxying and refuse writes (`serve`), or `exit`',
  ),
  onRemoved: oneOf(
    ['serve', 'stop'],
    'stop',
    'when this node learns that it was removed from its cluster: drain and exit with 0 (`stop`), or go on with the configuration ' +
      'that it had (`serve`), not ready and with an `error` line a minute',
  ),
  allowedHosts: texts('further `Host` names that a loopback connection may use', { usual: '`[]`' }),
  secretSources: section(secretSourceKeys, { isProtection: true }),
};

type Read = Values<typeof controlPlaneKeys>;

export interface ControlPlaneSettings extends Omit<Read, 'auth' | 'encryption' | 'allowedHosts'> {
  readonly apiKeys: readonly ApiKey[];
  /** 32 bytes; present = encryption at rest. */
  readonly encryptionKey?: Buffer | undefined;
  /** In lower case. */
  readonly allowedHosts: readonly string[];
}

export function readControlPlane(at: Section): ControlPlaneSettings {
  const { auth, encryption, allowedHosts = [], ...values } = readKeys(at, controlPlaneKeys);
  const settings = {
    ...values,
    apiKeys: auth?.apiKeys ?? [],
    encryptionKey: encryption?.key,
    allowedHosts: allowedHosts.map((host) => host.toLowerCase()),
  };
  requireApiAddress(at, settings);
  requireClusterSecret(at, settings);
  return settings;
}

/** Requires an address of the API that peers can use: followers relay writes to it, and would refuse them without one. */
function requireApiAddress(at: Section, { address, advertiseAddress, raft }: ControlPlaneSettings): void {
  if (raft === undefined) return;
  if (advertiseAddress !== undefined) {
    if (!namesHost(advertiseAddress) || advertiseAddress.port === 0)
      at.error('advertiseAddress', 'must be host:port, for the other nodes connect to it');
  } else if (address.port === 0) {
    at.error('advertiseAddress', 'is required with raft when address lets the system choose the port');
  } else if (raft.bindAddress.port !== 0 && !namesHost(raft.advertiseAddress)) {
    at.error('advertiseAddress', 'is required with raft when raft.advertiseAddress names no host');
  }
}

/**
 * Secret by which the nodes of a cluster know each other: the cluster token, or the first API key with the role admin, which
 * stands in for it. A key of another role never does: its holder would gain the rights of a member. Undefined: there is none.
 */
export function clusterSecret({ raft, apiKeys }: Pick<ControlPlaneSettings, 'raft' | 'apiKeys'>): string | undefined {
  return raft?.clusterToken ?? apiKeys.find(({ role }) => role === 'admin')?.key;
}

/** Requires a secret between nodes where API keys protect the node. */
function requireClusterSecret(at: Section, settings: ControlPlaneSettings): void {
  if (settings.raft === undefined || settings.apiKeys.length === 0 || clusterSecret(settings) !== undefined) return;
  at.error('raft.clusterToken', 'is required: no API key has the role admin, which could stand in for it');
}
