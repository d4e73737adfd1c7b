// Program behind the command line: reads the settings, starts the node or proxy, stops it on signals.
import { existsSync, readFileSync } from 'node:fs';
import { contents } from '../program/disk.ts';
import { banner } from './banner.ts';
import type { ControlPlane } from './control-plane.ts';
import { tracesOf } from './process-traces.ts';
import type { ProxyProcess } from './proxy-mode.ts';
import { embeddedDefault, parseSettings, type Settings } from './settings/settings.ts';
import { createLogger, type Logger, type RootLogger } from './telemetry/logger.ts';
import { SignalEcho } from './util/signal-echo.ts';
import { programVersion } from './version.ts';
import { releaseYoungGeneration } from './young-generation.ts';

/** Operation on a store that replaces serving from it. */
export type Recovery = 'restore' | 'force-new-cluster';

/** Serves until a signal comes. */
export async function run(configFile: string | undefined): Promise<void> {
  const settings = parseSettings(readSettingsText(configFile), process.env);
  contents.mayUnpackIn(settings.controlPlane.storePath);
  const logger = createLogger(settings.log);
  for (const warning of settings.warnings) logger.warn({}, `settings: ${warning}`);
  await (settings.mode === 'proxy' ? runProxy : runControlPlane)(settings, logger);
}

async function runControlPlane(settings: Settings, logger: RootLogger): Promise<void> {
  const startedAt = performance.now();
  const end: { removed?: () => void } = {};
  const starting = start(settings, logger, () => end.removed?.());
  const stop = stopOnSignals(starting, logger);
  end.removed = () => void stop();
  reopenLogsOnHangup(starting);
  const controlPlane = await starting;
  logger.info({ address: controlPlane.address }, 'the API listens');
  await controlPlane.ready;
  releaseYoungGeneration();
  logger.info({ address: controlPlane.address, ms: Math.round(performance.now() - startedAt) }, 'ready');
  if (settings.log.format === 'console') logger.print(banner({ version: programVersion(), controlPlane }));
}

/** Runs proxy mode without loading the control plane. */
async function runProxy(settings: Settings, logger: RootLogger): Promise<void> {
  const startedAt = performance.now();
  const starting = startProxyMode(settings, logger);
  stopOnSignals(starting, logger);
  reopenLogsOnHangup(starting);
  const { id, adminAddress: address, ready } = await starting;
  logger.info({ id, address }, 'the proxy runs');
  await ready;
  releaseYoungGeneration();
  logger.info({ id, address, ms: Math.round(performance.now() - startedAt) }, 'ready');
}

/** Starts the proxy; its threads load their code while this thread loads its own. */
async function startProxyMode(settings: Settings, logger: RootLogger): Promise<ProxyProcess> {
  const { ReadyThreads } = await import('./proxy/worker/ready-threads.ts');
  const threads = new ReadyThreads(settings.proxy.workers);
  const { startProxy } = await import('./proxy-mode.ts');
  return startProxy(settings, logger, programVersion(), threads);
}

/** Starts the control plane, imported only now: --help and a wrong key need not wait for the frameworks. */
async function start(settings: Settings, logger: RootLogger, onRemoved: () => void): Promise<ControlPlane> {
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
  return startControlPlane(settings, { core, logger, traces, onFatal: () => process.exit(1), onRemoved });
}

/** Runs a recovery while no node uses the store; returns its report for the operator. */
export async function recover(
  task: Recovery,
  { config, backup }: { readonly config?: string | undefined; readonly backup?: string | undefined },
): Promise<string> {
  const { controlPlane } = parseSettings(readSettingsText(config), process.env);
  contents.mayUnpackIn(controlPlane.storePath);
  const { forceNewCluster, restore } = await import('./cluster/checkpoints/disaster-recovery.ts');
  return task === 'restore' ? await restore(controlPlane, backup ?? '') : await forceNewCluster(controlPlane);
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

/** From the first moment on: without a handler, the first process of a container would not hear a signal at all. Returns how to stop without one. */
function stopOnSignals(starting: Promise<{ stop(): Promise<void> }>, logger: Logger): () => Promise<void> {
  const echo = new SignalEcho();
  let wasSignalled = false;
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ending ??= end(starting, logger);
    return ending;
  };
  const onSignal = async (signal: NodeJS.Signals) => {
    if (echo.repeats(signal)) return;
    if (wasSignalled) {
      logger.warn({ signal }, 'second signal: stopping at once');
      process.exit(130);
    }
    wasSignalled = true;
    logger.info({ signal }, 'stopping: requests in flight may finish');
    await stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return stop;
}

/** Drains, closes everything and ends the process. */
async function end(starting: Promise<{ stop(): Promise<void> }>, logger: Logger): Promise<void> {
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
}

/** Reopens log files on SIGHUP, which logrotate sends after it has moved them away. */
function reopenLogsOnHangup(starting: Promise<{ reopenLogs(): void }>): void {
  process.on('SIGHUP', () => {
    starting.then(
      (running) => running.reopenLogs(),
      () => undefined,
    );
  });
}
