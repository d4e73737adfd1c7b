// The settings file (contract.md §1, architecture.md §9): the configuration of one process. `main.ts` reads it
// once and hands its parts down; no other module reads files or the environment for it.
import { type ControlPlaneSettings, controlPlaneKeys, readControlPlane } from './control-plane-settings.ts';
import { expand, unsetIn } from './environment-variables.ts';
import { type Key, type Keys, readKeys } from './key.ts';
import { type LogSettings, logKeys } from './log-settings.ts';
import { type ProxySettings, proxyKeys, readProxy } from './proxy-settings.ts';
import { Section, type SettingsProblems } from './section.ts';
import { readSessionStore, type SessionStoreSettings, sessionStoreKeys } from './session-store-settings.ts';
import { readTelemetry, type TelemetrySettings, telemetryKeys } from './telemetry.ts';
import { parseYaml, SettingsError } from './yaml.ts';

export interface Settings {
  readonly mode: 'controlplane' | 'proxy';
  readonly controlPlane: ControlPlaneSettings;
  readonly proxy: ProxySettings;
  readonly sessionStore?: SessionStoreSettings | undefined;
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

const modeKey: Key<Settings['mode'], ''> = {
  type: '`controlplane`, `proxy`',
  usual: '`controlplane`',
  meaning:
    '`controlplane` runs the API, the store and the proxy; `proxy` runs the proxy alone, which follows a control plane ' +
    '([operations](operations.md#proxies-apart-from-the-control-plane))',
  unit: '',
  read(root, name) {
    const mode = root.text(name) ?? 'controlplane';
    if (mode === 'controlplane' || mode === 'proxy') return mode;
    root.error(name, `has an unknown mode ${JSON.stringify(mode)}: must be controlplane or proxy`);
    return 'controlplane';
  },
};

/** Keys of the file by section; those of the section '' stand at the top. */
export const settingsKeys: Readonly<Record<string, Keys>> = {
  '': { mode: modeKey },
  controlPlane: controlPlaneKeys,
  proxy: proxyKeys,
  sessionStore: sessionStoreKeys,
  log: logKeys,
  telemetry: telemetryKeys,
};

export function parseSettings(text: string, environment: Readonly<Record<string, string | undefined>>): Settings {
  const unset = unsetIn(text, environment).map(
    (name) => `the environment variable ${name} is not set, so \${${name}} is empty`,
  );
  const problems: SettingsProblems = { errors: [], warnings: [...unset] };
  const root = new Section(parsed(expand(text, environment), unset), '', problems);
  const mode = modeKey.read(root, 'mode');
  const at = (name: string): Section => root.section(name) ?? root.absent(name);
  const settings: Settings = {
    mode,
    controlPlane: readControlPlane(at('controlPlane')),
    proxy: readProxy(at('proxy'), mode),
    sessionStore: readSessionStore(root.section('sessionStore')),
    log: readKeys(at('log'), logKeys),
    telemetry: readTelemetry(at('telemetry')),
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
