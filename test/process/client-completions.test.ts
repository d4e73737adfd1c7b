// Completions in the shells themselves: what each proposes after some words.
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { needs } from '../support/needs.ts';
import { endOf, spawnCommand } from '../support/sluice-process.ts';

type Ask = (words: readonly string[]) => string;

const list = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

/** Script that loads ./completion and prints what the shell proposes for the last word. */
const shells: Readonly<Record<string, Ask>> = {
  bash: (words) =>
    `source ./completion; COMP_WORDS=(sluice ${list(words)}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Stands for the widget: completions are told by compadd and _files.
  zsh: (words) =>
    `compdef() { }; compadd() { shift; print -l -- \${(P)1} }; _files() { print -l -- * }; source ./completion
words=(sluice ${list(words)}); CURRENT=${words.length + 1}; _sluice; print -l -- "path=$PATH"`,
  fish: (words) => `source ./completion; complete -C 'sluice ${words.join(' ')}'`,
};

describe('completions', () => {
  for (const [shell, ask] of Object.entries(shells))
    it(`in ${shell} propose commands, kinds, flags, forms and files`, async function () {
      needs(this, shell);
      const client = new Client({ servers: [] });
      client.write('completion', await client.output('completion', shell));
      client.write('shop.yaml', '');
      const proposed = async (...words: string[]) => {
        const line = `cd '${client.folder}'; ${ask(words)}`;
        const { stdout, stderr } = await endOf(
          spawnCommand([shell, '-c', line], { HOME: client.folder, ...client.env }),
        );
        expect(stderr, words.join(' ')).to.equal('');
        return stdout.split('\n').map((each) => each.split('\t', 1)[0]);
      };
      expect(await proposed('')).to.include.members(['apply', 'rollout', 'version']);
      expect(await proposed('rollout', '')).to.include.members(['start', 'watch']);
      expect(await proposed('cluster', 'members', '')).to.include.members(['add', 'replace']);
      expect(await proposed('get', '')).to.include.members(['routes', 'streamRoutes']);
      expect(await proposed('apply', '--')).to.include.members(['--prune-max', '--server']);
      if (shell !== 'fish') expect(await proposed('get', 'routes', '-o', '')).to.include.members(['wide', 'cel=']);
      expect(await proposed('apply', '-f', '')).to.include('shop.yaml');
      expect(await proposed('backup', '-o', '')).to.include('shop.yaml');
      expect(await proposed('export', '--split', '')).to.include('shop.yaml');
      if (shell === 'zsh') expect(await proposed('')).to.include(`path=${process.env.PATH}`);
    });
});
