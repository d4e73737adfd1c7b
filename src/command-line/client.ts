// Client: parses the arguments, runs one command in a session, and turns its failure into a message and an exit code.
import { constants } from 'node:os';
import { contents } from '../../program/disk.ts';
import { SignalEcho } from '../util/signal-echo.ts';
import { parseArguments } from './arguments.ts';
import type { Command } from './command-declaration.ts';
import { Session, type SessionOptions } from './command-session.ts';
import { clientCommands, everyCommand } from './commands.ts';
import { closeConnections } from './connection/http-call.ts';
import { CommandFailure, exitCodes } from './exit.ts';
import { printable } from './output/text-table.ts';
import type { Shell } from './shells.ts';

/** Runs a command; resolves with the exit code of the process. */
export async function runClient(args: readonly string[]): Promise<number> {
  if (asksForHelp(args)) return await watchOutput(false, () => printHelp(args));
  const parsed = await parseArguments(args);
  if ('problems' in parsed) {
    process.stderr.write(`sluice: ${parsed.problems}\n`);
    return exitCodes.usage;
  }
  const { command, flags } = parsed;
  return await watchOutput(command.isEndless === true, async () => {
    try {
      return await runCommand(command, parsed.args, flags);
    } catch (error) {
      return report(error, flags.verbose === true);
    } finally {
      closeConnections();
    }
  });
}

async function printHelp(args: readonly string[]): Promise<number> {
  const { helpFor } = await import('./documents/help.ts');
  const { text, isKnown } = helpFor(args, await clientCommands());
  (isKnown ? process.stdout : process.stderr).write(text);
  return isKnown ? exitCodes.done : exitCodes.usage;
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
  const echo = new SignalEcho();
  const onSignal = (signal: NodeJS.Signals) => {
    if (echo.repeats(signal)) return;
    if (signal === 'SIGINT' && session.isBehindEditor) return;
    if (session.onInterrupt !== undefined && !session.wasInterrupted) {
      session.wasInterrupted = true;
      session.onInterrupt();
      return;
    }
    const { message, code } = session.interrupted();
    process.stderr.write(`\nsluice: ${message}\n`);
    process.exit(signal === 'SIGINT' ? code : 128 + constants.signals[signal]);
  };
  for (const signal of endingSignals) process.on(signal, onSignal);
  try {
    return (await command.run(session, args, valuesOf(command, flags) as never)) ?? exitCodes.done;
  } finally {
    for (const signal of endingSignals) process.off(signal, onSignal);
  }
}

/** SIGHUP comes when the terminal goes away. */
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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

function report(error: unknown, isVerbose: boolean): number {
  if (!(error instanceof CommandFailure)) {
    process.stderr.write(`sluice: ${unexpectedText(error, isVerbose)}\n`);
    return exitCodes.failed;
  }
  const { message, lines, code } = error;
  const prefix = message.startsWith('refused: ') ? '' : 'sluice: ';
  process.stderr.write(`${prefix}${printable(message, true)}\n${lines.map((line) => `${line}\n`).join('')}`);
  return code;
}

/** Failures of the system explain themselves; another one is a fault of the program, or of an answer. */
function unexpectedText(error: unknown, isVerbose: boolean): string {
  if (!(error instanceof Error)) return printable(String(error), true);
  if (isVerbose) return error.stack ?? error.message;
  const text = printable(error.message, true);
  return 'syscall' in error
    ? text
    : `unexpected failure: ${text}; -v shows where. Is the server of this version, and its address that of the API?`;
}

/**
 * Runs a command; resolves with its exit code. Where the reader of the output has gone, as `head` does, an endless command ends
 * without a word and another one goes on to its end. Output that cannot be written otherwise is a failure.
 */
async function watchOutput(isEndless: boolean, run: () => Promise<number>): Promise<number> {
  let fault: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fault ??= error;
    else if (isEndless) process.exit(exitCodes.done);
  });
  // Nothing is left to tell it with.
  process.stderr.on('error', () => undefined);
  const code = await run();
  await new Promise((resolve) => setImmediate(resolve));
  if (fault === undefined) return code;
  process.stderr.write(`sluice: the output could not be written: ${fault.message}\n`);
  return code === exitCodes.done ? exitCodes.failed : code;
}
