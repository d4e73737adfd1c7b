// Client: parses the arguments, runs one command in a session, and turns its failure into a message and an exit code.
import { contents } from '../../program/disk.ts';
import { parseArguments } from './arguments.ts';
import type { Command } from './command-declaration.ts';
import { Session, type SessionOptions } from './command-session.ts';
import { clientCommands, everyCommand } from './commands.ts';
import { closeConnections } from './connection/http-call.ts';
import { CommandFailure, exitCodes } from './exit.ts';
import type { Shell } from './shells.ts';

/** Runs a command; resolves with the exit code of the process. */
export async function runClient(args: readonly string[]): Promise<number> {
  leaveQuietly();
  if (asksForHelp(args)) {
    const { helpFor } = await import('./documents/help.ts');
    process.stdout.write(helpFor(args, await clientCommands()));
    return exitCodes.done;
  }
  const parsed = await parseArguments(args);
  if ('problems' in parsed) {
    process.stderr.write(`sluice: ${parsed.problems}\n`);
    return exitCodes.usage;
  }
  try {
    return await runCommand(parsed.command, parsed.args, parsed.flags);
  } catch (error) {
    return report(error);
  } finally {
    closeConnections();
  }
}

async function runCommand(
  command: Command,
  args: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const own = command.flags ?? {};
  const shared = { ...flags, ...Object.fromEntries(Object.keys(own).map((name) => [name, undefined])) };
  const session = new Session({
    ...absent,
    ...defined(shared),
    command: command.words,
    ...more(command),
  } as unknown as SessionOptions);
  const onSignal = (signal: NodeJS.Signals) => {
    if (session.onInterrupt !== undefined && !session.wasInterrupted) {
      session.wasInterrupted = true;
      session.onInterrupt();
      return;
    }
    const { message, code } = session.interrupted();
    process.stderr.write(`\nsluice: ${message}\n`);
    process.exit(signal === 'SIGTERM' ? 143 : code);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return (await command.run(session, args, valuesOf(command, flags) as never)) ?? exitCodes.done;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

async function completionFor(shell: string): Promise<string> {
  const { completionFor: textFor } = await import('./documents/completions.ts');
  return textFor(shell as Shell, await everyCommand());
}

const more = ({ extraForms = [] }: Command) => ({
  extraForms,
  completionFor,
  version: contents.manifest().version,
});

const absent = { server: [], noColor: false, quiet: false, verbose: false, yes: false };

const defined = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Values of the command's own flags: false and `[]` where they are absent. */
function valuesOf(
  { flags = {} }: Command,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const otherwise = { switch: false, texts: [], text: undefined };
  return Object.fromEntries(Object.entries(flags).map(([name, { kind }]) => [name, given[name] ?? otherwise[kind]]));
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  return own[0] === 'help' || own.includes('--help') || own.includes('-h');
}

function report(error: unknown): number {
  if (!(error instanceof CommandFailure)) {
    process.stderr.write(`sluice: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return exitCodes.failed;
  }
  const { message, lines, code } = error;
  const prefix = message.startsWith('refused: ') ? '' : 'sluice: ';
  process.stderr.write(`${prefix}${message.replaceAll('\n', ' ')}\n${lines.map((line) => `${line}\n`).join('')}`);
  return code;
}

/** Ends without a word when the reader of the output has gone, as `head` does. */
function leaveQuietly(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.done);
  });
}
