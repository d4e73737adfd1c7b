// Node of a target: from the package registry, once, held against the integrity that targets.mjs names.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeVersion } from './targets.mjs';

/** Returns the path of the executable. */
export function nodeOf({ node: name, integrity }, root) {
  const cache = join(root, 'node_modules/.cache/node');
  const folder = join(cache, `${name}-${nodeVersion}`);
  const executable = join(folder, 'package/bin/node');
  if (existsSync(executable)) return executable;
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const packed = run('npm', ['pack', `${name}@${nodeVersion}`, '--silent', '--pack-destination', fresh], root);
  const archive = join(fresh, packed.trim().split('\n').at(-1));
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name}@${nodeVersion} is not what was pinned: ${found}`);
  run('tar', ['-xzf', archive, '-C', fresh], root);
  rmSync(archive);
  renameSync(fresh, folder);
  return executable;
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
