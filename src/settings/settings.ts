// The settings file (contract.md §1, architecture.md §9): the configuration of one process. `main.ts` reads it
// once and hands its parts down; no other module reads files or the environment for it.
import { type Address, readAddress } from './address.ts';
import { type ControlPlaneSettings, readControlPlane } from './control-plane-settings.ts';
import { expand, unsetIn } from './environment-variables.ts';
import { type ProxySettings, readProxy } from './proxy-settings.ts';
import { Section, type SettingsProblems } from './section.ts';
import { readTelemetry, type TelemetrySettings } from './telemetry.ts';
import { parseYaml, SettingsError } from './yaml.ts';

interface SessionStoreSettings {
  readonly type: 'redis';
  readonly address: Address;
  readonly password?: string;
  readonly db: number;
}

interface LogSettings {
  readonly format: 'console' | 'json';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
}

export interface Settings {
  readonly mode: 'controlplane' | 'proxy';
  readonly controlPlane: ControlPlaneSettings;
  readonly proxy: ProxySettings;
  readonly sessionStore?: SessionStoreSettings;
  readonly log: LogSettings;
  readonly telemetry: TelemetrySettings;
  /** Oddities that do not stop a start, each with its key's path. */
  readonly warnings: readonly string[];
}

/** Settings without a file: everything on loopback, the store in the working directory. */
export const embeddedDefault = `controlPlane:
  address: 127.0.0.1:8080
  storePath: ./data
`;

export function parseSettings(text: string, environment: Readonly<Record<string, string | undefined>>): Settings {
  const unset = unsetIn(text, environment).map(
    (name) => `the environment variable ${name} is not set, so \${${name}} is empty`,
  );
  const problems: SettingsProblems = { errors: [], warnings: [...unset] };
  const root = new Section(parsed(expand(text, environment), unset), '', problems);
  const mode = readMode(root);
  const settings: Settings = {
    mode,
    controlPlane: readControlPlane(sectionOrEmpty(root, 'controlPlane', problems)),
    proxy: readProxy(sectionOrEmpty(root, 'proxy', problems), mode),
    sessionStore: readSessionStore(root.section('sessionStore')),
    log: readLog(sectionOrEmpty(root, 'log', problems)),
    telemetry: readTelemetry(root.section('telemetry')),
    warnings: problems.warnings,
  };
  root.end();
  if (problems.errors.length > 0) throw new SettingsError([...problems.errors, ...unset].join('; '));
  return settings;
}

/** Throws SettingsError, which names the variables that are not set: YAML stumbles over the text without them. */
function parsed(text: string, unset: readonly string[]): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof SettingsError) || unset.length === 0) throw error;
    throw new SettingsError([error.message, ...unset].join('; '));
  }
}

const sectionOrEmpty = (root: Section, key: string, problems: SettingsProblems): Section =>
  root.section(key) ?? new Section({}, key, problems);

function readMode(root: Section): Settings['mode'] {
  const mode = root.text('mode') ?? 'controlplane';
  if (mode === 'controlplane' || mode === 'proxy') return mode;
  root.error('mode', `has an unknown mode ${JSON.stringify(mode)}: must be controlplane or proxy`);
  return 'controlplane';
}

function readSessionStore(section: Section | undefined): SessionStoreSettings | undefined {
  if (!section) return undefined;
  const type = section.text('type');
  const redis = section.section('redis');
  const settings: SessionStoreSettings = {
    type: 'redis',
    address: (redis && readAddress(redis, 'address')) ?? { host: 'localhost', port: 6379 },
    password: redis?.text('password'),
    db: redis?.integer('db', { min: 0, otherwise: 0 }) ?? 0,
  };
  redis?.end();
  section.end();
  if (type === 'redis') return settings;
  if (type !== undefined) section.warn('type', `is unknown: ${JSON.stringify(type)}; there is no session store`);
  return undefined;
}

function readLog(section: Section): LogSettings {
  const settings: LogSettings = {
    format: section.oneOfOrWarn('format', ['console', 'json'], 'console'),
    level: section.oneOfOrWarn('level', ['debug', 'info', 'warn', 'error'], 'info'),
  };
  section.end();
  return settings;
}
