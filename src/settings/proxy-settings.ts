// Section `proxy` of the settings file (contract.md §1.4, architecture.md §9).
import { isAbsolute } from 'node:path';
import { type Address, addressKey, addressOrNoneKey } from './address.ts';
import { bearerKeyProblem } from './bearer-key.ts';
import { dataPlaneKeys } from './data-plane-settings.ts';
import { encryptionSection } from './encryption-key.ts';
import { readKeys, section, type Values } from './key.ts';
import { pemKey } from './pem-setting.ts';
import { proxyLabels } from './proxy-labels.ts';
import { duration, flag, oneOf, text, texts } from './scalar-key.ts';
import type { Section } from './section.ts';

function urlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:'))
    return 'must be an http or https URL';
  if (parsed.username !== '' || parsed.password !== '') return 'must not hold a user or a password; set apiKey';
  if (/[?#]/.test(url)) return 'must not hold a query or a fragment: paths are added to it';
  return undefined;
}

const directoryProblem = (directory: string): string | undefined =>
  isAbsolute(directory) && !directory.includes('\0') ? undefined : 'must be an absolute path';

const idProblem = (id: string): string | undefined =>
  /^[A-Za-z0-9._~:-]{1,128}$/.test(id) ? undefined : 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -';

export const proxyKeys = {
  ...dataPlaneKeys,
  metrics: section({
    address: addressKey(
      'where `/metrics` has those of all listeners that have `metrics`, each series with its `listener`; in both modes. A taken ' +
        'address stops the start',
    ),
  }),
  accessLogDirectories: texts(
    'directories below which [access logs](middlewares/access-log.md) may be; `[]`: `stdout` and `stderr` only. Below the store path ' +
      'nothing counts but `logs`',
    {
      type: 'list of absolute paths',
      usual: '`logs` below the store path, and `/var/log/sluice`',
      check: directoryProblem,
      isBlankRefused: true,
    },
  ),
  bodyDirectories: texts(
    'directories below which files of [stored bodies](tasks/error-pages.md) may be; `[]`: none. Below the store path nothing counts ' +
      'but `bodies`',
    {
      type: 'list of absolute paths',
      usual: '`bodies` below the store path, and `/etc/sluice/bodies`',
      check: directoryProblem,
      isBlankRefused: true,
    },
  ),
  controlPlaneUrl: text(
    'base URL of the control plane; required in mode `proxy`, unless `controlPlaneUrls` is set. Asked again `reconnectInterval` after it ' +
      'was lost',
    { type: 'http or https URL', check: urlProblem },
  ),
  controlPlaneUrls: texts(
    'instead of it, several nodes of one cluster: a random one first, the next at once when it fails, and after a round without ' +
      'success `reconnectInterval` ± 20 %',
    { type: 'list of http or https URLs', lengthMin: 1, check: urlProblem },
  ),
  reconnectInterval: duration('see above', '5s'),
  apiKey: text('sent as `Authorization: Bearer …`; its role may be `proxy`', { check: bearerKeyProblem }),
  tls: section(
    {
      cert: pemKey('certificate chain that this proxy shows to control planes with `clientAuth`'),
      key: pemKey('its private key; both or neither'),
      ca: pemKey('authorities of control planes; may stand alone', { usual: "the system's" }),
      clientAuth: oneOf(['none', 'optional', 'require'], 'none', 'without effect'),
    },
    {
      check(_values, at) {
        if (at.has('cert') !== at.has('key'))
          at.error(at.has('cert') ? 'key' : 'cert', 'is required because cert and key go together');
      },
    },
  ),
  id: text('name in the fleet; the default is kept in the store path', {
    type: 'text, 1 to 128 characters of `A-Z a-z 0-9 . _ ~ : -`',
    usual: 'host name, `-`, 6 hex digits',
    check: idProblem,
  }),
  labels: proxyLabels,
  storePath: text('holds the id and the cached configuration. Not writable: one warning, and no cache', {
    otherwise: './data-proxy',
    type: 'path',
  }),
  lastGood: flag('keep the configuration that was installed last, and begin with it', true),
  encryption: encryptionSection(
    'encrypts that copy. Without it the copy holds secrets in plain text, for its owner alone (mode 0600)',
  ),
  admin: section({
    address: addressOrNoneKey(
      '127.0.0.1:9901',
      'where `/healthz`, `/readyz`, `/metrics`, `/debug/config`, `/requests` and `/mirrors/mismatches` are; `none` for nowhere. One that ' +
        'is written down and taken stops the start, the default only costs a warning',
    ),
  }),
};

type Read = Values<typeof proxyKeys>;

export interface ProxySettings
  extends Omit<Read, 'admin' | 'metrics' | 'encryption' | 'controlPlaneUrl' | 'controlPlaneUrls'> {
  /** Base URLs without trailing slashes; at least one in proxy mode. */
  readonly controlPlaneUrls: readonly string[];
  /** Key of the cache's encryption, 32 bytes. */
  readonly encryptionKey?: Buffer | undefined;
  /** Admin port of a proxy apart from its control plane; without an address there is none. */
  readonly admin: { readonly address: Address | undefined; readonly isConfigured: boolean };
  /** Address of the metrics of all listeners; absent: they are on each listener alone. */
  readonly metricsAddress?: Address | undefined;
}

export function readProxy(at: Section, mode: 'controlplane' | 'proxy'): ProxySettings {
  const {
    admin,
    metrics,
    encryption,
    controlPlaneUrl: one,
    controlPlaneUrls: several,
    ...values
  } = readKeys(at, proxyKeys);
  if (one !== undefined && several !== undefined) at.error('controlPlaneUrls', 'must not stand beside controlPlaneUrl');
  else if (mode === 'proxy' && one === undefined && several === undefined && !at.has('controlPlaneUrls')) {
    at.error('controlPlaneUrl', 'is required, or controlPlaneUrls');
  }
  return {
    ...values,
    controlPlaneUrls: (several ?? (one === undefined ? [] : [one])).map((url) => url.replace(/\/+$/, '')),
    encryptionKey: encryption?.key,
    admin: admin?.address ?? { address: { host: '127.0.0.1', port: 9901 }, isConfigured: false },
    metricsAddress: metrics?.address,
  };
}
