// Settings file of the controller: YAML, with environment variables as in the settings of Sluice (docs/kubernetes.md).
import { hostname } from 'node:os';
import type { ElectionOptions } from '../kubernetes/leader-election.ts';
import { type Address, readAddress } from '../settings/address.ts';
import { expand, unsetIn } from '../settings/environment-variables.ts';
import { pem } from '../settings/pem-setting.ts';
import { Section, type SettingsProblems } from '../settings/section.ts';
import { parseYaml, SettingsError } from '../settings/yaml.ts';
import type { ControllerOptions } from './controller.ts';
import { parsePool } from './publish/addresses.ts';
import type { SluiceAccess } from './publish/sluice-api.ts';

export interface ControllerSettings {
  readonly controller: ControllerOptions;
  readonly sluice: SluiceAccess;
  /** Undefined: one process, which needs no election. */
  readonly election: ElectionOptions | undefined;
  /** Address of `/healthz`, `/readyz` and `/metrics`. */
  readonly admin: Address;
  readonly log: { readonly format: 'console' | 'json'; readonly level: 'debug' | 'info' | 'warn' | 'error' };
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {SettingsError} names every key that is wrong */
export function parseControllerSettings(text: string, environment: Environment): ControllerSettings {
  const unset = unsetIn(text, environment).map((name) => `the environment variable ${name} is not set`);
  const problems: SettingsProblems = { errors: [], warnings: [...unset] };
  const root = new Section(parseYaml(expand(text, environment)), '', problems);
  const settings: ControllerSettings = {
    controller: readController(root),
    sluice: readSluice(root.section('sluice') ?? new Section({}, 'sluice', problems)),
    election: readElection(root.section('leaderElection') ?? new Section({}, 'leaderElection', problems), environment),
    admin: readAdmin(root.section('admin')),
    log: readLog(root.section('log')),
    warnings: problems.warnings,
  };
  root.end();
  if (problems.errors.length > 0) throw new SettingsError(problems.errors.join('; '));
  return settings;
}

const poolDefault = '0.0.0.0/32';

function readController(root: Section): ControllerOptions {
  const poolText = root.text('addressPool') ?? poolDefault;
  const pool = parsePool(poolText);
  if (pool === undefined) root.error('addressPool', 'must be a range of IPv4 addresses such as 10.0.0.0/24');
  return {
    controllerName: root.text('controllerName') ?? 'sluice.dev/gateway-controller',
    owner: root.text('owner') ?? 'sluice-controller',
    endpoints: root.oneOf('endpoints', ['proxy', 'controller'], 'proxy'),
    clusterDomain: root.text('clusterDomain') ?? 'cluster.local',
    pool: pool ?? { first: 0, last: 0 },
  };
}

function readSluice(section: Section): SluiceAccess {
  const urls = section.texts('urls') ?? [section.text('url') ?? 'http://127.0.0.1:8080'];
  for (const url of urls) {
    const parsed = URL.parse(url);
    if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
      section.error('urls', 'must be http or https URLs');
  }
  const tls = section.section('tls');
  const [cert, key, ca] = tls === undefined ? [] : [pem(tls, 'cert'), pem(tls, 'key'), pem(tls, 'ca')];
  if ((cert === undefined) !== (key === undefined)) tls?.error('cert', 'and key belong together');
  tls?.end();
  const access: SluiceAccess = {
    urls: urls.map((url) => url.replace(/\/+$/, '')),
    apiKey: section.text('apiKey'),
    tls: tls && {
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(ca !== undefined && { ca }),
    },
  };
  section.end();
  return access;
}

function readElection(section: Section, environment: Environment): ControllerSettings['election'] {
  const isOn = section.flag('enabled', true);
  const settings = {
    namespace: section.text('namespace') ?? environment.POD_NAMESPACE ?? 'default',
    name: section.text('name') ?? 'sluice-controller',
    identity: section.text('identity') ?? `${environment.POD_NAME ?? hostname()}_${process.pid}`,
    leaseMs: section.duration('leaseDuration', 15_000),
    renewMs: section.duration('renewDeadline', 10_000),
    retryMs: section.duration('retryPeriod', 2_000),
  };
  if (settings.renewMs >= settings.leaseMs) section.error('renewDeadline', 'must be shorter than leaseDuration');
  if (settings.retryMs >= settings.renewMs) section.error('retryPeriod', 'must be shorter than renewDeadline');
  section.end();
  return isOn ? settings : undefined;
}

function readAdmin(section: Section | undefined): Address {
  const address = section && readAddress(section, 'address');
  section?.end();
  return address ?? { host: '127.0.0.1', port: 9902 };
}

function readLog(section: Section | undefined): ControllerSettings['log'] {
  const log = {
    format: section?.oneOfOrWarn('format', ['console', 'json'], 'console') ?? 'console',
    level: section?.oneOfOrWarn('level', ['debug', 'info', 'warn', 'error'], 'info') ?? 'info',
  };
  section?.end();
  return log;
}
