// The command line: which settings file, and what to print. Every failure before the start is one line on stderr and exit
// code 1 (contract.md §1). Whatever serves is loaded only when it is to serve.
import { parseArgs } from 'node:util';
import type { Recovery } from './program.ts';
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
    const { recover, run } = await import('./program.ts');
    if (options.task === undefined) await run(options.config);
    else process.stdout.write(`${await recover(options.task, options)}\n`);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

/** How many files each takes. */
const tasks: Readonly<Record<Recovery, number>> = { restore: 1, 'force-new-cluster': 0 };

interface Options {
  readonly config?: string | undefined;
  readonly help?: boolean | undefined;
  readonly version?: boolean | undefined;
  readonly task?: Recovery | undefined;
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

function fail(reason: string): void {
  process.stderr.write(`sluice: ${reason.replaceAll('\n', ' ')}\n`);
  process.exit(1);
}
