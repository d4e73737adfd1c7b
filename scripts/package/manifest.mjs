// What a build says of itself (`sluice version --json`): version, commit, its time, and the packages that are part of it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param inputs files that the bundler put into scripts, as it names them */
export function manifestOf(root, inputs) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = git(root, 'rev-parse', 'HEAD');
  const builtAt = new Date(sourceDateEpoch(root) * 1000).toISOString();
  return { version, ...(commit && { commit }), builtAt, dependencies: dependenciesOf(root, inputs) };
}

/** Returns the seconds since 1970 that everything in a package is dated with: SOURCE_DATE_EPOCH, else the time of the commit. */
const sourceDateEpoch = (root) =>
  Number(process.env.SOURCE_DATE_EPOCH ?? (git(root, 'log', '-1', '--format=%ct') || 0));

function dependenciesOf(root, inputs) {
  const folders = new Set(
    inputs.flatMap((input) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const always = ['node_modules/classic-level', 'node_modules/swagger-ui-dist'];
  const found = new Map();
  for (const folder of [...folders, ...always]) {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    found.set(name, [...new Set([...(found.get(name) ?? []), version])]);
  }
  return Object.fromEntries(
    [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, versions]) => [name, versions.join(', ')]),
  );
}

function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
