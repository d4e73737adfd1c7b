// docs/cli.md: every command with its arguments, flags and examples, made of the declarations.
import type { Command, Flag } from '../command-declaration.ts';
import { exitMeanings } from '../exit.ts';
import { connectionFlags, formFlags, terminalFlags } from '../global-flags.ts';
import { flagBrief, flagText, usageOf } from './help.ts';

/** Returns the page: the text of `page` before the flags is kept, the rest is made anew. */
export function referencePage(page: string, commands: readonly Command[]): string {
  const [introduction = ''] = page.split(`\n${firstTitle}\n`, 1);
  const shared = { ...connectionFlags, ...formFlags, ...terminalFlags };
  return `${introduction.trimEnd()}

${firstTitle}

${flagTable(shared)}

Environment: \`SLUICE_SERVER\` (several, separated by commas), \`SLUICE_CONTEXT\`, \`SLUICE_API_KEY\`, \`NO_COLOR\`.

## Exit codes

| Code | Means |
|---|---|
${Object.entries(exitMeanings)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join('\n')}

## Commands

| Command | Does |
|---|---|
${commands.map(({ words, brief }) => `| [\`${words}\`](#sluice-${words.replaceAll(' ', '-')}) | ${brief} |`).join('\n')}

${commands.map(section).join('\n')}`;
}

const firstTitle = '## Flags of all commands';

function section(command: Command): string {
  const { words, brief, text, arguments: given = [], flags = {}, examples = [] } = command;
  const parts = [`### sluice ${words}`, `${brief}.`, `\`\`\`text\n${usageOf(command)}\n\`\`\``];
  if (text !== undefined) parts.push(text);
  if (given.length > 0) {
    const rows = given.map(
      ({ name, brief: what, choices = [] }) =>
        `| \`${name}\` | ${[what, choices.join(', ')].filter(Boolean).join(': ')} |`,
    );
    parts.push(`| Argument | Is |\n|---|---|\n${rows.join('\n')}`);
  }
  if (Object.keys(flags).length > 0) parts.push(flagTable(flags));
  for (const { line, does } of examples) parts.push(`\`${line}\` ${does}.`);
  return `${parts.join('\n\n')}\n`;
}

const flagTable = (flags: Readonly<Record<string, Flag>>): string =>
  `| Flag | Does |\n|---|---|\n${Object.entries(flags)
    .map(([name, flag]) => `| \`${flagText(name, flag).replaceAll('|', '\\|')}\` | ${flagBrief(flag)} |`)
    .join('\n')}`;
