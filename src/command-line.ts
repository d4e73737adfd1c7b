// The command line of the program: serves, recovers, tells its version, or hands over to the client. A failure before the
// start of the server is one line on stderr and exit code 1 (contract.md §1). The server is loaded only to serve, the
// client only for its commands.
import { parseArgs } from 'node:util';
import { contents } from '../program/disk.ts';
import type { Recovery } from './program.ts';
import { nearestWord } from './util/nearest-word.ts';

export async function runCommandLine(args: readonly string[]): Promise<void> {
  if (isForClient(args)) {
    const { runClient } = await import('./command-line/client.ts');
    process.exitCode = await runClient(args);
    return;
  }
  try {
    const options = parseOptions(args);
    if (options.task === 'version') return print(versionText(options.json === true));
    const { recover, run } = await import('./program.ts');
    if (options.task === 'serve') await run(options.config);
    else print(await recover(options.task, options));
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

/** Number of files that each task takes. */
const tasks: Readonly<Record<Task, number>> = { serve: 0, restore: 1, 'force-new-cluster': 0, version: 0 };

type Task = Recovery | 'serve' | 'version';

const flags = {
  config: { type: 'string' },
  version: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** Flags that say that a command of the client follows, for they stand before its words too. */
const clientFlags =
  /^(--(server|context|api-key-file|ca|cert|key|timeout|output|no-color|quiet|verbose|yes)(=|$)|-[oqv])/;

/** A word that is no task of the program is a command of the client; so is everything that asks for help. */
function isForClient(args: readonly string[]): boolean {
  const [first] = args;
  if (args.includes('--help') || args.includes('-h')) return true;
  if (first === undefined) return false;
  return first.startsWith('-') ? clientFlags.test(first) : !Object.hasOwn(tasks, first);
}

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
      throw new Error(`unknown option --${flag}${suggestion(flag)}`);
  }
  const { values, positionals } = parseArgs({ args: spelled, options: flags, allowPositionals: true });
  const { config, json } = values;
  if (values.version) return { task: 'version', json };
  const [name = 'serve', backup] = positionals;
  if (!Object.hasOwn(tasks, name)) throw new Error(`${JSON.stringify(name)} is no command; sluice help lists all`);
  const task = name as Task;
  if (json && task !== 'version') throw new Error('--json belongs to sluice version');
  if (Math.max(positionals.length - 1, 0) !== tasks[task]) {
    throw new Error(tasks[task] === 1 ? `${task} takes one backup file` : `${task} takes no file`);
  }
  return { task, config, json, backup };
}

/** Returns the nearest option as a question, or nothing where none is near. */
function suggestion(word: string): string {
  const near = nearestWord(word, Object.keys(flags));
  return near === undefined ? '' : ` (did you mean --${near}?)`;
}

function versionText(json: boolean): string {
  const { version, commit, builtAt, dependencies } = contents.manifest();
  if (!json) return `sluice ${version}`;
  return JSON.stringify({ version, commit, builtAt, node: process.versions.node, dependencies }, undefined, 2);
}

/** Writes a result; a reader that goes away, as `head` does, is no failure. */
function print(text: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(`the output could not be written: ${error.message}`);
  });
  process.stdout.write(`${text}\n`);
}

function fail(reason: string): void {
  process.stderr.write(`sluice: ${reason.replaceAll('\n', ' ')}\n`);
  process.exit(1);
}
