// The command line: which settings file, and what to print. Every failure before the start is one line on stderr and exit
// code 1 (contract.md §1). The server is loaded only to serve.
import { parseArgs } from 'node:util';
import { contents } from '../program/disk.ts';
import type { Recovery } from './program.ts';

const help = `Usage: sluice [--config FILE]
       sluice restore BACKUP [--config FILE]
       sluice force-new-cluster [--config FILE]
       sluice version [--json]

A programmable HTTP reverse proxy with its control plane inside.

  --config FILE   settings (YAML); default: config.yaml in this directory if it is
                  there, else everything on loopback with the store in ./data
  restore         fill the empty store of the settings from a backup
  force-new-cluster
                  make what this node has the beginning of a new cluster, when the quorum of
                  the old one is lost for good
  version         print the version; with --json commit, time, Node and all dependencies
  help, --help    print this

Signals: the first SIGTERM or SIGINT drains and exits with 0, a second one exits with 130 at once.
         SIGHUP opens access logs anew, for instance after they were moved away.
Exit codes: 0 stopped as asked, 1 could not start (or the store failed and onStorageFailure is exit), 130 stopped at once.
Settings: docs/settings.md. API: docs/api.md, and the explorer at /api/v1/docs/ of a running one.
`;

export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    const options = parseOptions(args);
    if (options.task === 'help') return void process.stdout.write(help);
    if (options.task === 'version') return void process.stdout.write(`${versionText(options.json === true)}\n`);
    const { recover, run } = await import('./program.ts');
    if (options.task === 'serve') await run(options.config);
    else process.stdout.write(`${await recover(options.task, options)}\n`);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

/** Number of files that each task takes. */
const tasks: Readonly<Record<Task, number>> = { serve: 0, restore: 1, 'force-new-cluster': 0, version: 0, help: 0 };

type Task = Recovery | 'serve' | 'version' | 'help';

const flags = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

interface Options {
  readonly task: Task;
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
  readonly backup?: string | undefined;
}

function parseOptions(args: readonly string[]): Options {
  // `-config` is what users of comparable programs type (contract.md §0.5).
  const spelled = args.map((arg) => arg.replace(/^-config(?==|$)/, '--config'));
  for (const arg of spelled) {
    const flag = /^--([^=]+)/.exec(arg)?.[1];
    if (flag !== undefined && !Object.hasOwn(flags, flag))
      throw new Error(`unknown option --${flag}${suggestion(flag, Object.keys(flags), '--')}`);
  }
  const { values, positionals } = parseArgs({ args: spelled, options: flags, allowPositionals: true });
  const { config, json } = values;
  if (values.help) return { task: 'help' };
  if (values.version) return { task: 'version', json };
  const [name = 'serve', backup] = positionals;
  if (!Object.hasOwn(tasks, name)) {
    throw new Error(
      `unknown command ${JSON.stringify(name)}${suggestion(name, Object.keys(tasks), '')}; sluice help lists all`,
    );
  }
  const task = name as Task;
  if (json && task !== 'version') throw new Error('--json belongs to sluice version');
  if (Math.max(positionals.length - 1, 0) !== tasks[task]) {
    throw new Error(tasks[task] === 1 ? `${task} takes one backup file` : `${task} takes no file`);
  }
  return { task, config, json, backup };
}

/** Returns the nearest of `known` as a question, or nothing where none is near. */
function suggestion(word: string, known: readonly string[], prefix: string): string {
  const near = known.find((each) => distance(word, each) <= 2);
  return near === undefined ? '' : ` (did you mean ${prefix}${near}?)`;
}

/** Returns the number of insertions, deletions and substitutions between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let at = 1; at <= a.length; at++) {
    const next = [at];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (a[at - 1] === b[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function versionText(json: boolean): string {
  const { version, commit, builtAt, dependencies } = contents.manifest();
  if (!json) return `sluice ${version}`;
  return JSON.stringify({ version, commit, builtAt, node: process.versions.node, dependencies }, undefined, 2);
}

function fail(reason: string): void {
  process.stderr.write(`sluice: ${reason.replaceAll('\n', ' ')}\n`);
  process.exit(1);
}
