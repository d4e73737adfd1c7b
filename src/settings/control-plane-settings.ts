// Section `controlPlane` of the settings file (contract.md §1.3, architecture.md §9).
import { type Role, roles } from '../model/api-role.ts';
import { type Address, namesHost, readAddress } from './address.ts';
import { checkBearerKey } from './bearer-key.ts';
import { readEncryptionKey } from './encryption-key.ts';
import { pem, requiredPem, type TlsFiles } from './pem-setting.ts';
import { type RaftSettings, readRaft } from './raft-settings.ts';
import type { Section } from './section.ts';

export interface ApiKey {
  readonly name: string;
  readonly key: string;
  readonly role: Role;
}

export interface ApiTls extends TlsFiles {
  readonly clientAuth: 'none' | 'optional' | 'require';
}

/** Secret sources that snapshots may read (architecture.md §6.18). Absent list = any, empty list = none. */
export interface SecretFence {
  /** Names of environment variables; a `*` may stand at the end. */
  readonly env?: readonly string[];
  /** Directories, compared by real path. */
  readonly files?: readonly string[];
}

export interface ControlPlaneSettings {
  readonly address: Address;
  readonly advertiseAddress?: Address;
  readonly storePath: string;
  readonly tls?: ApiTls;
  readonly apiKeys: readonly ApiKey[];
  /** 32 bytes; present = encryption at rest. */
  readonly encryptionKey?: Buffer;
  readonly raft?: RaftSettings;
  readonly shutdownTimeoutMs: number;
  readonly onStorageFailure: 'serve' | 'exit';
  /** After the removal from the cluster: go on with the configuration as it was, or drain and stop. */
  readonly onRemoved: 'serve' | 'stop';
  readonly allowedHosts: readonly string[];
  readonly secretSources?: SecretFence;
}

export function readControlPlane(section: Section): ControlPlaneSettings {
  const settings: ControlPlaneSettings = {
    address: readAddress(section, 'address') ?? { host: '', port: 8080 },
    advertiseAddress: readAddress(section, 'advertiseAddress'),
    storePath: section.text('storePath') ?? '/data',
    tls: readApiTls(section.protection('tls')),
    apiKeys: readApiKeys(section.protection('auth')),
    encryptionKey: readEncryptionKey(section.protection('encryption')),
    raft: readRaft(section.section('raft')),
    shutdownTimeoutMs: section.duration('shutdownTimeout', 30_000),
    onStorageFailure: section.oneOf('onStorageFailure', ['serve', 'exit'], 'serve'),
    onRemoved: section.oneOf('onRemoved', ['serve', 'stop'], 'stop'),
    allowedHosts: (section.texts('allowedHosts') ?? []).map((host) => host.toLowerCase()),
    secretSources: readSecretSources(section.protection('secretSources')),
  };
  requireApiAddress(section, settings);
  requireClusterSecret(section, settings);
  section.end();
  return settings;
}

/** Requires an address of the API that peers can use: followers relay writes to it, and would refuse them without one. */
function requireApiAddress(section: Section, { address, advertiseAddress, raft }: ControlPlaneSettings): void {
  if (raft === undefined) return;
  if (advertiseAddress !== undefined) {
    if (!namesHost(advertiseAddress) || advertiseAddress.port === 0)
      section.error('advertiseAddress', 'must be host:port, for the other nodes connect to it');
  } else if (address.port === 0) {
    section.error('advertiseAddress', 'is required with raft when address lets the system choose the port');
  } else if (raft.bindAddress.port !== 0 && !namesHost(raft.advertiseAddress)) {
    section.error('advertiseAddress', 'is required with raft when raft.advertiseAddress names no host');
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
function requireClusterSecret(section: Section, settings: ControlPlaneSettings): void {
  if (settings.raft === undefined || settings.apiKeys.length === 0 || clusterSecret(settings) !== undefined) return;
  section.error('raft.clusterToken', 'is required: no API key has the role admin, which could stand in for it');
}

function readApiTls(section: Section | undefined): ApiTls | undefined {
  if (!section) return undefined;
  section.refuseBlank('clientAuth');
  const tls: ApiTls = {
    cert: requiredPem(section, 'cert'),
    key: requiredPem(section, 'key'),
    ca: pem(section, 'ca'),
    clientAuth: section.oneOf('clientAuth', ['none', 'optional', 'require'], 'none'),
  };
  if (tls.clientAuth !== 'none' && !section.has('ca'))
    section.error('ca', `is required by clientAuth ${tls.clientAuth}`);
  section.end();
  return tls;
}

function readApiKeys(section: Section | undefined): ApiKey[] {
  if (!section) return [];
  section.refuseBlank('apiKeys');
  const keys = section.sections('apiKeys').map((each) => {
    each.refuseBlank('role');
    const key: ApiKey = {
      name: each.required('name'),
      key: each.required('key'),
      role: each.oneOf('role', roles, 'admin'),
    };
    checkBearerKey(each, 'key', key.key);
    each.end();
    return key;
  });
  reportRepeated(section, keys);
  section.end();
  return keys;
}

/** Refuses two keys of one name or one value: the role of a caller would depend on their order. */
function reportRepeated(section: Section, keys: readonly ApiKey[]): void {
  keys.forEach(({ name, key }, at) => {
    const earlier = keys.slice(0, at);
    if (name !== '' && earlier.some((each) => each.name === name))
      section.error(`apiKeys[${at}].name`, 'is used twice');
    if (key !== '' && earlier.some((each) => each.key === key)) section.error(`apiKeys[${at}].key`, 'is used twice');
  });
}

function readSecretSources(section: Section | undefined): SecretFence | undefined {
  if (!section) return undefined;
  section.refuseBlank('env');
  section.refuseBlank('files');
  const sources = { env: section.texts('env'), files: section.texts('files') };
  for (const pattern of sources.env ?? []) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*\*?$|^\*$/.test(pattern))
      section.error('env', `has an invalid pattern ${JSON.stringify(pattern)}`);
  }
  section.end();
  return sources;
}
