// `npm run build`: src/ and raft/ to dist/, as a whole or not at all.
import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint } from './fingerprint.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, 'dist');
export const stampFile = join(dist, '.fingerprint');

/** What a build is made from: when none of it changed, the build is current. */
export const buildFingerprint = () => fingerprint(root, ['src', 'raft', 'tsconfig.json', 'package-lock.json']);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stamp = buildFingerprint();
  const fresh = `${dist}.${process.pid}`;
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.json'), '--outDir', fresh], {
    stdio: 'inherit',
  });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    process.exit(1);
  }
  cpSync(join(root, 'package.json'), join(fresh, 'package.json'));
  writeFileSync(join(fresh, '.fingerprint'), stamp);
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}
