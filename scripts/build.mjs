// `npm run build`: src/, raft/, disk/, program/ and ui/ to dist/, as a whole or not at all.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint, readStamp } from './fingerprint.mjs';

/** The dashboard and its part of the build. */
const ui = ['ui', 'scripts/ui.mjs'];

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.fingerprint');

const sources = ['src', 'raft', 'disk', 'program', 'tsconfig.json', 'package-lock.json', 'scripts/bundle.mjs', ...ui];

/** Returns whether the build was made from the present sources and still has all of its files. */
export function isBuilt() {
  const stamp = readStamp(stampFile);
  return stamp !== undefined && stamp === stampOf(fingerprint(root, sources), dist);
}

/** Stamp of a build: the fingerprint of its sources and the names of its files. */
const stampOf = (madeFrom, folder) => `${madeFrom} ${fileNames(folder)}`;

function fileNames(folder) {
  const names = ['src', 'raft', 'chunks', 'ui'].map((part) => readdirOf(join(folder, part)));
  return createHash('sha256').update(JSON.stringify(names)).digest('hex');
}

function readdirOf(folder) {
  try {
    return readdirSync(folder, { recursive: true }).sort();
  } catch {
    return [];
  }
}

/** Returns the manifest of the package, with the commit and its time where git tells them. */
async function manifest() {
  const { commitOf } = await import('./package/manifest.mjs');
  return { ...JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), ...commitOf(root) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const madeFrom = fingerprint(root, sources);
  const fresh = `${dist}.${process.pid}`;
  const modules = join(fresh, 'modules');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  try {
    const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.json'), '--outDir', modules], {
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error('the compiler refused');
    const { bundle } = await import('./bundle.mjs');
    await bundle(modules, fresh);
    const { writeUi } = await import('./ui.mjs');
    await writeUi(root, join(fresh, 'ui'));
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    console.error(error.message);
    process.exit(1);
  }
  rmSync(modules, { recursive: true, force: true });
  writeFileSync(join(fresh, 'package.json'), JSON.stringify(await manifest(), undefined, 1));
  writeFileSync(join(fresh, '.fingerprint'), stampOf(madeFrom, fresh));
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}
