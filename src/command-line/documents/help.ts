// Help on the terminal: all commands, those that begin with a word, or one with its arguments and flags.
import { unknownCommand } from '../arguments.ts';
import type { Argument, Command, Flag } from '../command-declaration.ts';
import { exitMeanings } from '../exit.ts';
import { connectionFlags, formFlags, kebab, terminalFlags } from '../global-flags.ts';
import { programCommands } from '../program-commands.ts';

export interface Help {
  readonly text: string;
  /** False where the first word is no command: the text says so. */
  readonly isKnown: boolean;
}

/** Returns the help for arguments that ask for it, of these commands of the client. */
export function helpFor(args: readonly string[], commands: readonly Command[]): Help {
  const every = [...programCommands, ...commands];
  const [first, ...others] = args[0] === 'help' ? args.slice(1) : args;
  if (first === undefined || first.startsWith('-')) return { text: programHelp(commands), isKnown: true };
  const words = [first, ...others.filter((each) => !each.startsWith('-'))];
  for (let length = words.length; length > 0; length--) {
    const asked = words.slice(0, length).join(' ');
    const below = every.filter((each) => each.words === asked || each.words.startsWith(`${asked} `));
    const [only] = below;
    if (below.length === 1 && only !== undefined) return { text: commandHelp(only), isKnown: true };
    if (below.length > 1) return { text: below.map(commandHelp).join('\n'), isKnown: true };
  }
  if (first === 'help') return { text: programHelp(commands), isKnown: true };
  const known = every.map((each) => each.words);
  return { text: `sluice: ${unknownCommand(first, known)}\n`, isKnown: false };
}

/** `sluice get KIND [NAME...]` */
export function usageOf({ words, arguments: given = [], flags = {} }: Command): string {
  return [`sluice ${words}`, ...given.map(argumentText), ...(Object.keys(flags).length > 0 ? ['[FLAGS]'] : [])].join(
    ' ',
  );
}

function argumentText({ name, optional, many }: Argument): string {
  const text = many ? `${name}...` : name;
  return optional ? `[${text}]` : text;
}

/** `-o, --output FORM` */
export function flagText(name: string, flag: Flag): string {
  const long = `--${kebab(name)}${flag.kind === 'switch' ? '' : flag.kind === 'text' && flag.mayBeEmpty ? ` [${flag.value}]` : ` ${flag.value}`}`;
  return flag.alias === undefined ? long : `-${flag.alias}, ${long}`;
}

/** Effect of a flag, with its choices and whether it may be repeated. */
export function flagBrief(flag: Flag): string {
  const choices = flag.kind === 'text' && flag.choices !== undefined ? `: ${flag.choices.join(', ')}` : '';
  return `${flag.brief}${choices}${flag.kind === 'texts' ? '; may be repeated' : ''}`;
}

function commandHelp(command: Command): string {
  const { brief, text, arguments: given = [], flags = {}, examples = [] } = command;
  const parts = [`Usage: ${usageOf(command)}\n\n${brief}.\n`];
  if (text !== undefined) parts.push(`${text}\n`);
  const argumentRows = given.map(
    ({ name, brief: what, choices }): Row => [name, `${what}${choices === undefined ? '' : `: ${choices.join(', ')}`}`],
  );
  if (argumentRows.length > 0) parts.push(`Arguments:\n${rows(argumentRows)}`);
  const flagRows = Object.entries(flags).map(([name, flag]): Row => [flagText(name, flag), flagBrief(flag)]);
  if (flagRows.length > 0) parts.push(`Flags:\n${rows(flagRows)}`);
  if (examples.length > 0)
    parts.push(`Examples:\n${examples.map(({ line, does }) => `  ${line}\n      ${does}\n`).join('')}`);
  parts.push('sluice help lists the flags that all commands share.\n');
  return parts.join('\n');
}

type Row = readonly [string, string];

function rows(all: readonly Row[]): string {
  const width = Math.min(34, Math.max(...all.map(([first]) => first.length)));
  return all.map(([first, second]) => `  ${first.padEnd(width)}  ${second}\n`).join('');
}

function programHelp(commands: readonly Command[]): string {
  const shared = { ...connectionFlags, ...formFlags, ...terminalFlags };
  return `Usage: sluice [--config FILE]
       sluice COMMAND [ARGUMENTS] [FLAGS]

A programmable HTTP reverse proxy with its control plane inside, and the client of its API.

  --config FILE   settings (YAML); default: config.yaml in this directory if it is
                  there, else everything on loopback with the store in ./data

Commands of the program:
${rows(programCommands.map(({ words, brief }) => [words, brief]))}
Commands of the client:
${rows(commands.map(({ words, brief }) => [words, brief]))}
Flags of the client:
${rows(Object.entries<Flag>(shared).map(([name, flag]) => [flagText(name, flag), flagBrief(flag)]))}
Environment: SLUICE_SERVER, SLUICE_CONTEXT, SLUICE_API_KEY, NO_COLOR. Contexts: ~/.config/sluice/contexts.yaml.

Exit codes of the client:
${rows(Object.entries(exitMeanings).map(([code, meaning]) => [code, meaning.replaceAll('`', '')]))}
Exit codes of the server: 0 stopped as asked, 1 could not start (or the store failed and onStorageFailure is exit),
         130 stopped at once.
Signals: the first SIGTERM or SIGINT drains and exits with 0, a second one exits with 130 at once.
         SIGHUP opens access logs anew, for instance after they were moved away.
sluice help COMMAND tells more. Settings: docs/settings.md. API: docs/api.md, and the explorer at /api/v1/docs/ of a running one.
`;
}
