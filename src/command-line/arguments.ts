// Parser of arguments: the declared commands as an application of @stricli/core. Its own help and version are left out,
// for help is made of the declarations.
import {
  buildApplication,
  buildCommand,
  buildRouteMap,
  type CommandContext,
  type Command as ParsedCommand,
  type RouteMap,
  run,
  text_en,
} from '@stricli/core';
import { nearestWord } from '../util/nearest-word.ts';
import type { Argument, Command, Flag } from './command-declaration.ts';
import { commandsOf } from './commands.ts';
import { exitCodes } from './exit.ts';
import { flagsOf, globalFlags, kebab } from './global-flags.ts';

export interface Parsed {
  readonly command: Command;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}

interface Context extends CommandContext {
  found?: Parsed;
}

/** Resolves with the command and its values, or with messages about wrong usage. */
export async function parseArguments(args: readonly string[]): Promise<Parsed | { readonly problems: string }> {
  let problems = '';
  const write = (text: string) => {
    problems += text;
  };
  const streams = { stdout: { write }, stderr: { write }, env: {}, exitCode: 0 };
  const context: Context & { process: typeof streams } = { process: streams };
  const given = sharedFlagsLast(args);
  const commands = await commandsOf(given[0]);
  const known = ['help', 'serve', 'restore', 'version', ...commands.map(({ words }) => words)];
  const root = routes(commands, '');
  if (!('getRoutingTargetForInput' in root)) throw new Error('there are no commands');
  const app = buildApplication(
    root,
    {
      name: 'sluice',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      documentation: { disableAnsiColor: true },
      localization: { text: { ...text_en, noCommandRegisteredForInput: ({ input }) => unknownCommand(input, known) } },
      determineExitCode: () => exitCodes.failed,
    },
    {},
  );
  await run(app, given, context);
  return context.found ?? { problems: problems.trim() || unfinished(given, commands) };
}

/** Message about words that begin commands and are none. */
function unfinished(given: readonly string[], commands: readonly Command[]): string {
  const prefix = given.join(' ');
  const below = commands.filter(({ words }) => words.startsWith(`${prefix} `));
  const next = new Set(below.map(({ words }) => words.slice(prefix.length + 1).split(' ', 1)[0]));
  return next.size === 0
    ? 'no command; sluice help lists all'
    : `sluice ${prefix} needs a further word: ${[...next].join(', ')}`;
}

/** Message about a word that is no command, with the nearest one. `known`: words of commands, such as `snapshot create`. */
export function unknownCommand(word: string, known: readonly string[]): string {
  const paths = known.map((each) => each.split(' '));
  const around = paths.find((path) => path.includes(word));
  const near = around?.slice(0, around.indexOf(word) + 1).join(' ') ?? nearestWord(word, new Set(paths.flat()));
  const question = near === undefined ? '' : ` (did you mean ${near}?)`;
  return `unknown command ${JSON.stringify(word)}${question}; sluice help lists all`;
}

/** Commands below `prefix` as a tree; a command whose words begin others' is what stands without a further word. */
function routes(commands: readonly Command[], prefix: string): RouteMap<Context> | ParsedCommand<Context> {
  const below = commands.filter(({ words }) => prefix === '' || words === prefix || words.startsWith(`${prefix} `));
  const own = below.find(({ words }) => words === prefix);
  const names = new Set(below.flatMap(({ words }) => words.slice(prefix.length).trim().split(' ')[0] || []));
  if (own !== undefined && names.size === 0) return parsedCommand(own);
  const map: Record<string, RouteMap<Context> | ParsedCommand<Context>> = {};
  for (const name of names) map[name] = routes(below, prefix === '' ? name : `${prefix} ${name}`);
  if (own !== undefined) map[itself] = parsedCommand(own);
  return buildRouteMap({
    routes: map,
    docs: { brief: prefix },
    ...(own !== undefined && { defaultCommand: itself }),
  });
}

/** Route of a command that has others below it; no word of an argument. */
const itself = '(itself)';

function parsedCommand(command: Command): ParsedCommand<Context> {
  const flags = flagsOf(command);
  const aliases = Object.entries(flags).flatMap(([name, { alias }]) => (alias === undefined ? [] : [[alias, name]]));
  const declared = {
    docs: { brief: command.brief },
    parameters: {
      flags: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, parameterOf(flag)])),
      aliases: Object.fromEntries(aliases),
      positional: positionalOf(command.arguments ?? []),
    },
    func(this: Context, values: Record<string, unknown>, ...args: (string | undefined)[]) {
      this.found = { command, args: args.filter((each) => each !== undefined), flags: values };
    },
  };
  // The library infers types of flags that are written out; these are data.
  return buildCommand(declared as never) as unknown as ParsedCommand<Context>;
}

function parameterOf(flag: Flag): object {
  const { brief } = flag;
  if (flag.kind === 'switch') return { kind: 'boolean', brief, default: false, withNegated: false };
  const shared = { brief, optional: true, placeholder: flag.value };
  if (flag.kind === 'texts') return { ...shared, kind: 'parsed', parse: String, variadic: true };
  if (flag.choices !== undefined) return { ...shared, kind: 'enum', values: flag.choices };
  return { ...shared, kind: 'parsed', parse: String, ...(flag.mayBeEmpty && { inferEmpty: true }) };
}

function positionalOf(given: readonly Argument[]): object {
  const last = given.at(-1);
  const parameter = ({ name, brief, optional }: Argument) => ({
    brief,
    placeholder: name,
    parse: String,
    ...(optional && { optional: true }),
  });
  if (last?.many !== true) return { kind: 'tuple', parameters: given.map(parameter) };
  return { kind: 'array', parameter: parameter(last), minimum: given.filter(({ optional }) => !optional).length };
}

/** Shared flags may stand before the command: they go behind its words. */
function sharedFlagsLast(args: readonly string[]): string[] {
  const first: string[] = [];
  let at = 0;
  while (at < args.length && args[at]?.startsWith('-') && args[at] !== '--') {
    const [name = ''] = (args[at] ?? '').split('=', 1);
    const flag = Object.entries<Flag>(globalFlags).find(
      ([each, { alias }]) =>
        `--${kebab(each)}` === name || `--${each}` === name || (alias !== undefined && `-${alias}` === name),
    )?.[1];
    if (flag === undefined) break;
    const takes = flag.kind === 'switch' || args[at]?.includes('=') ? 1 : 2;
    first.push(...args.slice(at, at + takes));
    at += takes;
  }
  const rest = args.slice(at);
  const end = rest.indexOf('--');
  return end < 0 ? [...rest, ...first] : [...rest.slice(0, end), ...first, ...rest.slice(end)];
}
