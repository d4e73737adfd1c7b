// Page of man(1), made of the declared commands.
import type { Command, Flag } from '../command-declaration.ts';
import { exitMeanings } from '../exit.ts';
import { globalFlags } from '../global-flags.ts';
import { flagBrief, flagText, usageOf } from './help.ts';

/** @param date ISO 8601 */
export function manPage(
  { version, date }: { readonly version: string; readonly date: string },
  commands: readonly Command[],
): string {
  const lines = [
    `.TH SLUICE 1 "${date.slice(0, 10)}" "sluice ${version}"`,
    '.SH NAME',
    'sluice \\- programmable HTTP reverse proxy with its control plane inside',
    '.SH SYNOPSIS',
    '.B sluice',
    '[\\-\\-config FILE]',
    '.br',
    '.B sluice',
    'COMMAND [ARGUMENTS] [FLAGS]',
    '.SH DESCRIPTION',
    'Without a command it serves: settings are those of \\-\\-config FILE, else config.yaml of the working directory, else the store is in ./data and everything on loopback.',
    'With a command it is the client of the API of any node.',
    '.SH COMMANDS',
  ];
  for (const command of commands) {
    const { brief, text, flags = {}, examples = [] } = command;
    lines.push('.SS', escaped(usageOf(command)), `${escaped(brief)}.`);
    if (text !== undefined) lines.push('.PP', escaped(text.replaceAll('\n', ' ')));
    lines.push(...flagLines(flags));
    for (const { line, does } of examples) lines.push('.PP', `.B ${escaped(line)}`, escaped(`${does}.`));
  }
  lines.push('.SH FLAGS OF ALL COMMANDS', ...flagLines(globalFlags), '.SH EXIT STATUS');
  for (const [code, meaning] of Object.entries(exitMeanings))
    lines.push('.TP', `.B ${code}`, escaped(meaning.replaceAll('`', '')));
  lines.push(
    '.SH SIGNALS',
    'The server drains and exits with 0 at the first SIGTERM or SIGINT, and exits with 130 at once at the second one. SIGHUP opens access logs anew.',
    '.SH ENVIRONMENT',
    'SLUICE_SERVER, SLUICE_CONTEXT, SLUICE_API_KEY, NO_COLOR',
    '.SH FILES',
    '~/.config/sluice/contexts.yaml',
    '',
  );
  return lines.join('\n');
}

const flagLines = (flags: Readonly<Record<string, Flag>>): string[] =>
  Object.entries(flags).flatMap(([name, flag]) => [
    '.TP',
    `.B ${escaped(flagText(name, flag))}`,
    escaped(`${flagBrief(flag)}.`),
  ]);

/** A hyphen is a minus, and a line must not begin as a request of roff. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(['.])/gm, '\\&$1')
    .replaceAll('`', '');
