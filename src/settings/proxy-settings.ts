// Section `proxy` of the settings file (contract.md §1.4, architecture.md §9).

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isAbsolute } from 'node:path';
import { type Address, readAddress } from './address.ts';
import { checkBearerKey } from './bearer-key.ts';
import { readEncryptionKey } from './encryption-key.ts';
import { pem, type TlsFiles } from './pem-setting.ts';
import type { Section } from './section.ts';

export interface ProxySettings {
  /** Base URLs without trailing slashes; at least one in proxy mode. */
  readonly controlPlaneUrls: readonly string[];
  /** Name in the fleet; absent: a generated one, kept in the store path. */
  readonly id?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly storePath: string;
  /** True where the last installed configuration is cached, for the next start. */
  readonly lastGood: boolean;
  /** Key of the cache's encryption, 32 bytes. */
  readonly encryptionKey?: Buffer;
  readonly admin: AdminSettings;
  /** Address of the metrics of all listeners; absent: they are on each listener alone. */
  readonly metricsAddress?: Address | undefined;
  readonly reconnectIntervalMs: number;
  /** Bytes of a request body that CEL may see; 0 switches body access off. */
  readonly celBodyMaxSize: number;
  readonly tls?: Partial<TlsFiles>;
  readonly apiKey?: string;
  /** Proxy threads. */
  readonly workers: number;
  /** Overrides the address of every listener. */
  readonly bindAddress?: string;
  readonly retryBufferBytes: number;
  /** Connections of clients; absent: what the descriptors of the process allow. */
  readonly maxConnections?: number;
  /** Bytes of request heads that are not whole. */
  readonly maxUnfinishedHeadBytes: number;
  /** Absolute paths below which access logs may be; absent: `logs` below the store path, and `/var/log/sluice`. */
  readonly accessLogDirectories?: readonly string[];
  /** Absolute paths below which files of stored bodies may be; absent: `bodies` below the store path, and `/etc/sluice/bodies`. */
  readonly bodyDirectories?: readonly string[];
}

/** Admin port of a proxy apart from its control plane. */
interface AdminSettings {
  /** Address to listen on; undefined: no admin port. */
  readonly address: Address | undefined;
  /** True where the settings name the address, so that the operator relies on it. */
  readonly isConfigured: boolean;
}

export function readProxy(section: Section, mode: 'controlplane' | 'proxy'): ProxySettings {
  const bindAddress = section.text('bindAddress');
  if (bindAddress !== undefined && isIP(bindAddress) === 0) section.error('bindAddress', 'must be an IP address');
  const settings: ProxySettings = {
    controlPlaneUrls: readControlPlanes(section, mode === 'proxy'),
    id: readId(section),
    labels: readLabels(section),
    storePath: section.text('storePath') ?? './data-proxy',
    lastGood: section.flag('lastGood', true),
    encryptionKey: readEncryptionKey(section.protection('encryption')),
    admin: readAdmin(section.section('admin')),
    metricsAddress: readMetrics(section.section('metrics')),
    reconnectIntervalMs: section.duration('reconnectInterval', 5_000),
    celBodyMaxSize: section.integer('celBodyMaxSize', { min: 0, otherwise: 65_536 }),
    tls: readProxyTls(section.section('tls')),
    apiKey: section.text('apiKey'),
    workers: section.integer('workers', { min: 1, max: 64, otherwise: availableParallelism() }),
    bindAddress,
    retryBufferBytes: section.integer('retryBufferBytes', { min: 0, otherwise: 65_536 }),
    ...(section.has('maxConnections') && {
      maxConnections: section.integer('maxConnections', { min: 1, max: 0x3fff_ffff, otherwise: 1 }),
    }),
    maxUnfinishedHeadBytes: section.integer('maxUnfinishedHeadBytes', {
      min: 1_048_576,
      max: 0x3fff_ffff,
      otherwise: 64 * 1024 * 1024,
    }),
    accessLogDirectories: readDirectories(section, 'accessLogDirectories'),
    bodyDirectories: readDirectories(section, 'bodyDirectories'),
  };
  checkBearerKey(section, 'apiKey', settings.apiKey);
  section.end();
  return settings;
}

function readDirectories(section: Section, key: string): string[] | undefined {
  section.refuseBlank(key);
  const directories = section.texts(key);
  directories?.forEach((directory, at) => {
    if (!isAbsolute(directory) || directory.includes('\0')) section.error(`${key}[${at}]`, 'must be an absolute path');
  });
  return directories;
}

function readControlPlanes(section: Section, isRequired: boolean): string[] {
  const one = section.text('controlPlaneUrl');
  const several = section.texts('controlPlaneUrls');
  if (one !== undefined && several !== undefined)
    section.error('controlPlaneUrls', 'must not stand beside controlPlaneUrl');
  else if (several?.length === 0) section.error('controlPlaneUrls', 'must have at least one entry');
  else if (isRequired && one === undefined && several === undefined && !section.has('controlPlaneUrls')) {
    section.error('controlPlaneUrl', 'is required, or controlPlaneUrls');
  }
  if (one !== undefined) checkUrl(section, 'controlPlaneUrl', one);
  several?.forEach((url, at) => {
    checkUrl(section, `controlPlaneUrls[${at}]`, url);
  });
  return (several ?? (one === undefined ? [] : [one])).map((url) => url.replace(/\/+$/, ''));
}

function checkUrl(section: Section, key: string, text: string): void {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    section.error(key, 'must be an http or https URL');
  } else if (url.username !== '' || url.password !== '') {
    section.error(key, 'must not hold a user or a password; set apiKey');
  } else if (/[?#]/.test(text)) {
    section.error(key, 'must not hold a query or a fragment: paths are added to it');
  }
}

function readId(section: Section): string | undefined {
  const id = section.text('id');
  if (id === undefined || /^[A-Za-z0-9._~:-]{1,128}$/.test(id)) return id;
  return section.error('id', 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -');
}

const labelsMax = 32;
/** Limit of labels in characters, percent-encoded: a control plane reads heads of 16 KiB. Labels of ASCII always fit. */
const labelsLengthMax = 12_800;
const isVisible = (text: string): boolean => /^[\x21-\x7e\u00a1-\uffff]{1,64}$/.test(text) && text.isWellFormed();

function readLabels(owner: Section): Record<string, string> {
  const section = owner.section('labels');
  if (!section) return {};
  const labels: Record<string, string> = {};
  for (const key of section.keys()) {
    const value = section.text(key);
    if (!isVisible(key) || key === '__proto__') section.error(key, 'must have a name of 1 to 64 visible characters');
    else if (value === undefined || !isVisible(value)) section.error(key, 'must be 1 to 64 visible characters');
    else labels[key] = value;
  }
  if (section.keys().length > labelsMax) owner.error('labels', `must have at most ${labelsMax} entries`);
  const encoded = Object.entries(labels).map((pair) => pair.map(encodeURIComponent).join('='));
  if (encoded.join().length > labelsLengthMax) {
    owner.error('labels', `must have at most ${labelsLengthMax} characters when they are percent-encoded`);
  }
  return labels;
}

function readMetrics(section: Section | undefined): Address | undefined {
  const address = section && readAddress(section, 'address');
  section?.end();
  return address;
}

function readAdmin(section: Section | undefined): AdminSettings {
  const standard = { host: '127.0.0.1', port: 9901 };
  const isConfigured = section?.has('address') ?? false;
  const isNone = section?.text('address') === 'none';
  const address = isNone || section === undefined ? undefined : readAddress(section, 'address');
  section?.end();
  return { address: isNone ? undefined : (address ?? standard), isConfigured };
}

function readProxyTls(section: Section | undefined): Partial<TlsFiles> | undefined {
  if (!section) return undefined;
  const tls = { cert: pem(section, 'cert'), key: pem(section, 'key'), ca: pem(section, 'ca') };
  if (section.has('cert') !== section.has('key')) {
    section.error(section.has('cert') ? 'key' : 'cert', 'is required because cert and key go together');
  }
  section.oneOf('clientAuth', ['none', 'optional', 'require'], 'none');
  section.end();
  return tls;
}
