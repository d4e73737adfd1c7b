// The command line: which settings file, what to print, when to stop. Every failure before the start is one line on
// stderr and exit code 1 (contract.md §1).
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { banner } from './banner.ts';
import type { ControlPlane } from './control-plane.ts';
import { tracesOf } from './process-traces.ts';
import { embeddedDefault, parseSettings, type Settings } from './settings/settings.ts';
import { createLogger, type Logger, type RootLogger } from './telemetry/logger.ts';
import { programVersion } from './version.ts';

const help = `Usage: sluice [--config FILE]
       sluice restore BACKUP [--config FILE]
       sluice force-new-cluster [--config FILE]

A programmable HTTP reverse proxy with its control plane inside.

  --config FILE   settings (YAML); default: config.yaml in this directory if it is
                  there, else everything on loopback with the store in ./data
  restore         fill the empty store of the settings from a backup
  force-new-cluster
                  make what this node has the beginning of a new cluster, when the quorum of
                  the old one is lost for good
  --version       print the version
  --help          print this

Signals: the first SIGTERM or SIGINT drains and exits with 0, a second one exits with 130 at once.
         SIGHUP opens access logs anew, for instance after they were moved away.
Exit codes: 0 stopped as asked, 1 could not start (or the store failed and onStorageFailure is exit), 130 stopped at once.
Settings: docs/settings.md. API: docs/api.md, and the explorer at /api/v1/docs/ of a running one.
`;

export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    const options = parseOptions(args);
    if (options.help) return void process.stdout.write(help);
    if (options.version) return void process.stdout.write(`sluice ${programVersion()}\n`);
    if (options.task === undefined) await run(options.config);
    else await recover(options.task, options);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

async function run(configFile: string | undefined): Promise<void> {
  const settings = parseSettings(readSettingsText(configFile), process.env);
  const logger = createLogger(settings.log);
  for (const warning of settings.warnings) logger.warn({}, `settings: ${warning}`);
  await (settings.mode === 'proxy' ? runProxy : runControlPlane)(settings, logger);
}

async function runControlPlane(settings: Settings, logger: RootLogger): Promise<void> {
  const startedAt = performance.now();
  const starting = start(settings, logger);
  stopOnSignals(starting, logger);
  reopenLogsOnHangup(starting);
  const controlPlane = await starting;
  logger.info({ address: controlPlane.address }, 'the API listens');
  await controlPlane.ready;
  logger.info({ address: controlPlane.address, ms: Math.round(performance.now() - startedAt) }, 'ready');
  if (settings.log.format === 'console') process.stdout.write(banner({ version: programVersion(), controlPlane }));
}

/** Nothing of the control plane is loaded. */
async function runProxy(settings: Settings, logger: RootLogger): Promise<void> {
  const startedAt = performance.now();
  const starting = import('./proxy-mode.ts').then(({ startProxy }) => startProxy(settings, logger, programVersion()));
  stopOnSignals(starting, logger);
  reopenLogsOnHangup(starting);
  const { id, adminAddress: address, ready } = await starting;
  logger.info({ id, address }, 'the proxy runs');
  await ready;
  logger.info({ id, address, ms: Math.round(performance.now() - startedAt) }, 'ready');
}

/** Imported only now: --help and a wrong key need not wait for the frameworks. */
async function start(settings: Settings, logger: RootLogger): Promise<ControlPlane> {
  const instanceId = settings.controlPlane.raft?.nodeId ?? 'single';
  const traces = await tracesOf(settings, { instanceId, version: programVersion() }, logger);
  const core = import('./cluster/core.ts').then(({ openCore }) =>
    openCore({
      settings: settings.controlPlane,
      traces: traces?.work,
      logger: logger.module('raft'),
      level: logger.levels.cell('raft'),
    }),
  );
  // Waited for a moment later; a failure meanwhile is not lost.
  core.catch(() => undefined);
  const { startControlPlane } = await import('./control-plane.ts');
  return startControlPlane(settings, { core, logger, traces, onFatal: () => process.exit(1) });
}

/** Runs while no node uses the store; says what it did and ends. */
async function recover(task: Task, { config, backup }: Options): Promise<void> {
  const { controlPlane } = parseSettings(readSettingsText(config), process.env);
  const { forceNewCluster, restore } = await import('./cluster/checkpoints/recovery.ts');
  const done = task === 'restore' ? restore(controlPlane, backup ?? '') : forceNewCluster(controlPlane);
  process.stdout.write(`${await done}\n`);
}

const tasks = { restore: 1, 'force-new-cluster': 0 } as const;
type Task = keyof typeof tasks;

interface Options {
  readonly config?: string | undefined;
  readonly help?: boolean | undefined;
  readonly version?: boolean | undefined;
  readonly task?: Task | undefined;
  readonly backup?: string | undefined;
}

function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    // `-config` is what users of comparable programs type (contract.md §0.5).
    args: args.map((arg) => arg.replace(/^-config(?==|$)/, '--config')),
    options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [task, backup, ...rest] = positionals;
  if (task === undefined) return values;
  if (task !== 'restore' && task !== 'force-new-cluster') throw new Error(`unknown task ${JSON.stringify(task)}`);
  const given = positionals.length - 1;
  if (given === tasks[task] && rest.length === 0) return { ...values, task, backup };
  throw new Error(task === 'restore' ? 'restore takes one backup file' : `${task} takes no file`);
}

function readSettingsText(configFile: string | undefined): string {
  const file = configFile ?? (existsSync('config.yaml') ? 'config.yaml' : undefined);
  if (file === undefined) return embeddedDefault;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** From the first moment on: without a handler, the first process of a container would not hear a signal at all. */
function stopOnSignals(starting: Promise<{ stop(): Promise<void> }>, logger: Logger): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) {
      logger.warn({ signal }, 'second signal: stopping at once');
      process.exit(130);
    }
    stopping = true;
    logger.info({ signal }, 'stopping: requests in flight may finish');
    // The timers of the parts do not keep a process alive, and what does may be closed already.
    setInterval(() => undefined, 2 ** 30);
    try {
      const running = await starting;
      await running.stop();
      logger.info({}, 'stopped');
      process.exit(0);
    } catch (error) {
      logger.error({ err: error }, 'stopping failed');
      process.exit(1);
    }
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** What logrotate sends after it has moved the files away. */
function reopenLogsOnHangup(starting: Promise<{ reopenLogs(): void }>): void {
  process.on('SIGHUP', () => {
    starting.then(
      (running) => running.reopenLogs(),
      () => undefined,
    );
  });
}

function fail(reason: string): void {
  process.stderr.write(`sluice: ${reason.replaceAll('\n', ' ')}\n`);
  process.exit(1);
}
