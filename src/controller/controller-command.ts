// Command line of sluice-controller. Every failure before the start is one line on stderr and exit code 1.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { createLogger } from '../telemetry/logger.ts';
import { programVersion } from '../version.ts';
import { parseControllerSettings } from './controller-settings.ts';

const help = `Usage: sluice-controller [--config FILE]
       sluice-controller --once [-o yaml|json] [--config FILE] FOLDER|FILE…

Serves the Gateway API of a Kubernetes cluster by Sluice: watches Gateways and routes, writes to Sluice's REST API, and tells
in statuses what became of them.

  --config FILE   settings (YAML); default: everything on loopback
  --once          read manifests in place of a cluster, print what would be written to Sluice, and on stderr what
                  is not accepted or not resolved; exit code 3 when there is any of that
  -o, --output    yaml (default) or json, of --once
  --version       print the version
  --help          print this

The cluster is found by the service account of the pod, else by KUBECONFIG or ~/.kube/config.
Signals: the first SIGTERM or SIGINT gives the lease back and exits with 0, a second one exits with 130 at once.
Settings and kinds: docs/kubernetes.md.
`;

const flags = {
  config: { type: 'string' },
  once: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export async function runControllerCommand(args: readonly string[]): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true });
    if (values.help) return void process.stdout.write(help);
    if (values.version) return void process.stdout.write(`sluice-controller ${programVersion()}\n`);
    if (values.once) return await printOnce(positionals, values);
    if (positionals.length > 0) throw new Error('manifests belong to --once');
    if (values.output !== undefined) throw new Error('--output belongs to --once');
    await serve(values.config);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`sluice-controller: ${reason.replaceAll('\n', ' ')}\n`);
    process.exit(1);
  }
}

const settingsOf = (config: string | undefined) =>
  parseControllerSettings(config === undefined ? '' : readFileSync(config, 'utf8'), process.env);

/** Exit code when something of the manifests is not served as it is written. */
const incomplete = 3;

async function printOnce(paths: readonly string[], options: { config?: string; output?: string }): Promise<void> {
  const { output = 'yaml' } = options;
  if (output !== 'yaml' && output !== 'json') throw new Error('--output must be yaml or json');
  if (paths.length === 0) throw new Error('--once needs a folder or files of manifests');
  const { translateOnce, readManifests, yamlOf } = await import('./once.ts');
  const { entities, problems } = translateOnce(readManifests(paths), settingsOf(options.config).controller);
  process.stdout.write(output === 'json' ? `${JSON.stringify(entities, undefined, 2)}\n` : yamlOf(entities));
  for (const problem of problems) process.stderr.write(`sluice-controller: ${problem}\n`);
  if (problems.length > 0) process.exitCode = incomplete;
}

/**
 * Growth of the heap over what is in use, in percent, after which it is collected. By V8's own measure of a machine with
 * much memory the garbage of 10,000 statuses takes more than what is kept.
 */
const heapGrowth = 30;

async function serve(config: string | undefined): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  const settings = settingsOf(config);
  const logger = createLogger(settings.log);
  for (const warning of settings.warnings) logger.warn({}, warning);
  const { startController } = await import('./controller-process.ts');
  const running = await startController(settings, logger);
  logger.info({ version: programVersion(), controllerName: settings.controller.controllerName }, 'the controller runs');
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130);
      isStopping = true;
      void running.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}
