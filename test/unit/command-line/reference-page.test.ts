import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { clientCommands, commandsOf, everyCommand } from '../../../src/command-line/commands.ts';
import { completionFor } from '../../../src/command-line/documents/completions.ts';
import { manPage } from '../../../src/command-line/documents/man-page.ts';
import { referencePage } from '../../../src/command-line/documents/reference-page.ts';
import { shells } from '../../../src/command-line/shells.ts';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('documents of the command line', () => {
  it('docs/cli.md is what the commands say: npm run commands writes it', async () => {
    const page = read('docs/cli.md');
    expect(referencePage(page, await everyCommand())).to.equal(page);
  });

  it('man page and completions name every command', async () => {
    const [commands, every] = [await clientCommands(), await everyCommand()];
    const man = manPage({ version: '1.0.0', date: '2026-01-01T00:00:00Z' }, every).replaceAll('\\-', '-');
    for (const { words } of commands) expect(man).to.contain(`sluice ${words}`);
    for (const shell of shells)
      for (const word of commands.flatMap(({ words }) => words.split(' ')))
        expect(completionFor(shell, every), shell).to.contain(word);
  });

  it('each command has words of its own, of which the first one finds it', async () => {
    for (const command of await clientCommands())
      expect(await commandsOf(command.words.split(' ', 1)[0])).to.include(command);
    const all = (await everyCommand()).map(({ words }) => words);
    expect(new Set(all).size).to.equal(all.length);
  });
});
