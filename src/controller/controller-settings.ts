// Settings file of the controller: YAML, with environment variables as in the settings of Sluice (docs/kubernetes.md).
import { hostname } from 'node:os';
import type { ElectionOptions } from '../kubernetes/leader-election.ts';
import { type Address, addressKeyOr } from '../settings/address.ts';
import { expand, unsetIn } from '../settings/environment-variables.ts';
import { type Keys, presentSection, readKeys, section, type Values } from '../settings/key.ts';
import { type LogSettings, logKeys } from '../settings/log-settings.ts';
import { pemKey } from '../settings/pem-setting.ts';
import { duration, flag, oneOf, text, texts } from '../settings/scalar-key.ts';
import { Section, type SettingsProblems } from '../settings/section.ts';
import { parseYaml, SettingsError } from '../settings/yaml.ts';
import type { ClusterModelOptions } from './cluster-model.ts';
import { defaultOwner } from './graph/entity-id.ts';
import { parsePool } from './publish/gateway-addresses.ts';
import type { SluiceAccess } from './publish/sluice-api.ts';

export interface ControllerSettings {
  readonly controller: ClusterModelOptions;
  readonly sluice: SluiceAccess;
  /** Undefined: one process, which needs no election. */
  readonly election: ElectionOptions | undefined;
  /** Address of `/healthz`, `/readyz` and `/metrics`. */
  readonly admin: Address;
  readonly log: LogSettings;
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

function urlProblem(url: string): string | undefined {
  const protocol = URL.parse(url)?.protocol;
  return protocol === 'http:' || protocol === 'https:' ? undefined : 'must be an http or https URL';
}

const poolDefault = '0.0.0.0/32';

const sluiceKeys = {
  url: text('node of Sluice', { otherwise: 'http://127.0.0.1:8080', check: urlProblem }),
  urls: texts('instead of it, nodes of one cluster; the next one is asked when one cannot be reached', {
    check: urlProblem,
  }),
  apiKey: text('key with the role editor'),
  tls: section(
    {
      cert: pemKey('certificate chain that the controller shows'),
      key: pemKey('its private key; both or neither'),
      ca: pemKey('authorities of Sluice', { usual: "the system's" }),
    },
    {
      check({ cert, key }, at) {
        if ((cert === undefined) !== (key === undefined)) at.error('cert', 'and key belong together');
      },
    },
  ),
};

const electionKeys = {
  enabled: flag('one of several processes writes, by a Lease; the others know everything and are ready', true),
  namespace: text('namespace of the Lease', { usual: '`$POD_NAMESPACE` or `default`' }),
  name: text('name of the Lease', { otherwise: 'sluice-controller' }),
  identity: text('holder of the Lease', { usual: 'pod name and process' }),
  leaseDuration: duration('the others take over after it without a renewal', '15s'),
  renewDeadline: duration('a holder that cannot renew for it stops writing; shorter than `leaseDuration`', '10s'),
  retryPeriod: duration('time between two attempts; shorter than `renewDeadline`', '2s'),
};

/** Keys of the file. */
export const controllerKeys = {
  controllerName: text('GatewayClasses of this name are served, others left alone', {
    otherwise: 'sluice.dev/gateway-controller',
  }),
  owner: text('owner of the entities in Sluice; controllers of different classes need different ones', {
    otherwise: defaultOwner,
  }),
  sluice: presentSection(sluiceKeys),
  addressPool: text(
    'addresses of Gateways, one each. The default is every address, for all Gateways together: their ports have to differ, and they ' +
      'get no Service',
    {
      type: 'range of IPv4 addresses',
      otherwise: poolDefault,
      check: (pool) =>
        parsePool(pool) === undefined ? 'must be a range of IPv4 addresses such as 10.0.0.0/24' : undefined,
    },
  ),
  service: text(
    'instead of it, `namespace/name` of the Service by which clients reach the proxies: its addresses are those of all Gateways, and ' +
      'the `targetPort` of its port is where the proxies listen',
    { check: (name) => (/^[^/]+\/[^/]+$/.test(name) ? undefined : 'must be the namespace and the name of a Service') },
  ),
  endpoints: oneOf(['proxy', 'controller'], 'proxy', 'who finds the pods of Services'),
  clusterDomain: text('domain of names of Services', { otherwise: 'cluster.local' }),
  leaderElection: presentSection(electionKeys),
  admin: presentSection({
    address: addressKeyOr(
      '127.0.0.1:9902',
      'where `/healthz`, `/readyz` (503 until every kind has been listed; `losses` names kinds whose watch is lost) and `/metrics` ' +
        '([observability](observability.md)) are',
    ),
  }),
  log: presentSection(logKeys),
} satisfies Keys;

/** @throws {SettingsError} names every key that is wrong */
export function parseControllerSettings(file: string, environment: Environment): ControllerSettings {
  const unset = unsetIn(file, environment).map((name) => `the environment variable ${name} is not set`);
  const problems: SettingsProblems = { errors: [], warnings: [...unset] };
  const root = new Section(parseYaml(expand(file, environment)), '', problems);
  const { sluice, leaderElection, admin, log, addressPool, service, ...controller } = readKeys(root, controllerKeys);
  if (service !== undefined && addressPool !== poolDefault) root.error('service', 'and addressPool exclude each other');
  const election = electionOf(leaderElection, environment);
  requireOrder(root, election);
  if (problems.errors.length > 0) throw new SettingsError(problems.errors.join('; '));
  return {
    controller: {
      ...controller,
      pool: parsePool(addressPool) ?? { first: 0, last: 0 },
      service: service === undefined ? undefined : serviceOf(service),
    },
    sluice: accessOf(sluice),
    election: leaderElection.enabled ? election : undefined,
    admin: admin.address,
    log,
    warnings: problems.warnings,
  };
}

function serviceOf(service: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = service.split('/');
  return { namespace, name };
}

function accessOf({ url, urls = [url], apiKey, tls }: Values<typeof sluiceKeys>): SluiceAccess {
  const { cert, key, ca } = tls ?? {};
  return {
    urls: urls.map((each) => each.replace(/\/+$/, '')),
    apiKey,
    tls: tls && {
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(ca !== undefined && { ca }),
    },
  };
}

function electionOf(values: Values<typeof electionKeys>, environment: Environment): ElectionOptions {
  return {
    namespace: values.namespace ?? environment.POD_NAMESPACE ?? 'default',
    name: values.name,
    identity: values.identity ?? `${environment.POD_NAME ?? hostname()}_${process.pid}`,
    leaseMs: values.leaseDurationMs,
    renewMs: values.renewDeadlineMs,
    retryMs: values.retryPeriodMs,
  };
}

function requireOrder(root: Section, { leaseMs, renewMs, retryMs }: ElectionOptions): void {
  if (renewMs >= leaseMs) root.error('leaderElection.renewDeadline', 'must be shorter than leaseDuration');
  if (retryMs >= renewMs) root.error('leaderElection.retryPeriod', 'must be shorter than renewDeadline');
}
