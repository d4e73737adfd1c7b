// Manifest of a build (`sluice version --json`): version, commit, its time, and the packages that are part of it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param inputs files that the bundler put into scripts, as it names them */
export function manifestOf(root, inputs) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { version, ...commitOf(root), dependencies: dependenciesOf(root, packagesIn(inputs)) };
}

/** Returns the commit that is checked out and its time; nothing of either where git does not tell. */
export function commitOf(root) {
  const commit = git(root, 'rev-parse', 'HEAD');
  const seconds = sourceDateEpoch(root);
  return { ...(commit && { commit }), ...(seconds > 0 && { builtAt: new Date(seconds * 1000).toISOString() }) };
}

/** Returns the seconds since 1970 that everything in a package is dated with: SOURCE_DATE_EPOCH, else the time of the commit. */
export const sourceDateEpoch = (root) =>
  Number(process.env.SOURCE_DATE_EPOCH ?? (git(root, 'log', '-1', '--format=%ct') || 0));

/** Returns the folders of the packages that files of the bundler are of, and of those that stay apart from scripts. */
export function packagesIn(inputs) {
  const folders = inputs.flatMap(
    (input) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
  );
  return [...new Set([...folders, 'node_modules/classic-level', 'node_modules/swagger-ui-dist'])].sort();
}

function dependenciesOf(root, folders) {
  const found = new Map();
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    found.set(name, [...new Set([...(found.get(name) ?? []), version])]);
  }
  const byName = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.map(([name, versions]) => [name, versions.join(', ')]));
}

function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
