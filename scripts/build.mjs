// `npm run build`: src/, raft/, disk/, program/ and ui/ to dist/, as a whole or not at all. `nest build` compiles by itself and
// ends with the same second half (nest-plugin.cjs).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint, readStamp, recordedFingerprint } from './fingerprint.mjs';

/** The dashboard and its part of the build. */
const ui = ['ui', 'scripts/ui.mjs'];

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.fingerprint');
/** Dates of the sources beside their fingerprint: a start that finds them unchanged reads none. */
const sourcesRecord = join(dist, '.sources');

/** Options of the compiler, as nest-cli.json names them. */
const tsConfig = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')).compilerOptions.tsConfigPath;

const sources = [
  ...['src', 'raft', 'disk', 'program', 'nest-cli.json', 'tsconfig.json', tsConfig, 'package-lock.json'],
  ...['scripts/bundle.mjs', ...ui],
];

/** Returns whether the build was made from the present sources and still has all of its files. */
export function isBuilt() {
  const stamp = readStamp(stampFile);
  return stamp !== undefined && stamp === stampOf(recordedFingerprint(root, sources, sourcesRecord), dist);
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

/** Returns the fingerprint of the present sources, to be taken before they are compiled. */
export const sourcesFingerprint = () => fingerprint(root, sources);

/** Compiles the sources into the folder. Throws when the compiler refuses, which says why. */
export function compile(modules) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, tsConfig), '--outDir', modules], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the compiler refused');
}

/** Makes dist/ of `fresh`, which holds the compiled modules in `modules` and is gone then. On failure dist/ stays as it is. */
export async function assemble(fresh, madeFrom) {
  const modules = join(fresh, 'modules');
  const { bundle } = await import('./bundle.mjs');
  await bundle(modules, fresh);
  const { writeUi } = await import('./ui.mjs');
  await writeUi(root, join(fresh, 'ui'));
  rmSync(modules, { recursive: true, force: true });
  writeFileSync(join(fresh, 'package.json'), JSON.stringify(await manifest(), undefined, 1));
  writeFileSync(join(fresh, '.fingerprint'), stampOf(madeFrom, fresh));
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const madeFrom = sourcesFingerprint();
  const fresh = `${dist}.${process.pid}`;
  try {
    compile(join(fresh, 'modules'));
    await assemble(fresh, madeFrom);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    console.error(error.message);
    process.exit(1);
  }
}
