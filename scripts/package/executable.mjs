// One executable: Node, stripped, with the scripts and the other assets behind its own code.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programOptions } from '../node-options.mjs';

/**
 * Writes the executable of a target.
 *
 * @param assets bytes or text by name; `boot.cjs` comes first and is no asset
 * @param node Node that ships, stripped
 * @param options of V8, besides those that the program always has
 * @param folder for what is between, of this target alone
 */
export function writeExecutable({ assets, manifest, node, folder, output, options = [] }) {
  mkdirSync(folder, { recursive: true });
  const { 'boot.cjs': boot, ...rest } = assets;
  const sha256 = Object.fromEntries(Object.entries(rest).map(([name, bytes]) => [name, sha256Of(bytes)]));
  const all = { ...rest, 'assets.json': JSON.stringify({ manifest, sha256 }) };
  const files = {};
  for (const [name, bytes] of Object.entries(all)) {
    files[name] = join(folder, name.replaceAll('/', '-'));
    writeFileSync(files[name], bytes);
  }
  const main = 'boot.cjs';
  writeFileSync(join(folder, main), boot);
  const base = join(folder, 'node');
  copyFileSync(node, base);
  chmodSync(base, 0o755);
  // The path of the script is part of the executable: it is given as it is from the folder, which differs from run to run.
  writeFileSync(
    join(folder, 'executable.json'),
    JSON.stringify({
      main,
      output,
      executable: base,
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      execArgv: [...programOptions, ...options],
      execArgvExtension: 'none',
      assets: files,
    }),
  );
  run(process.execPath, ['--build-sea', 'executable.json'], folder);
  chmodSync(output, 0o755);
}

export const sha256Of = (bytes) => createHash('sha256').update(bytes).digest('hex');

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
}
