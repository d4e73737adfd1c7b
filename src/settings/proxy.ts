// Section `proxy` of the settings file (contract.md §1.4, architecture.md §9).
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { pem, type TlsFiles } from './pem.ts';
import type { Section } from './section.ts';

export interface ProxySettings {
  /** Base URL without trailing slashes; set in proxy mode. */
  readonly controlPlaneUrl?: string;
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
}

export function readProxy(section: Section, mode: 'controlplane' | 'proxy'): ProxySettings {
  const controlPlaneUrl = mode === 'proxy' ? section.required('controlPlaneUrl') : section.text('controlPlaneUrl');
  if (controlPlaneUrl && !isHttpUrl(controlPlaneUrl)) section.error('controlPlaneUrl', 'must be an http or https URL');
  const bindAddress = section.text('bindAddress');
  if (bindAddress !== undefined && isIP(bindAddress) === 0) section.error('bindAddress', 'must be an IP address');
  const settings: ProxySettings = {
    controlPlaneUrl: controlPlaneUrl?.replace(/\/+$/, ''),
    reconnectIntervalMs: section.duration('reconnectInterval', 5_000),
    celBodyMaxSize: section.integer('celBodyMaxSize', { min: 0, otherwise: 65_536 }),
    tls: readProxyTls(section.section('tls')),
    apiKey: section.text('apiKey'),
    workers: section.integer('workers', { min: 1, max: 64, otherwise: availableParallelism() }),
    bindAddress,
    retryBufferBytes: section.integer('retryBufferBytes', { min: 0, otherwise: 65_536 }),
  };
  section.end();
  return settings;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
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
