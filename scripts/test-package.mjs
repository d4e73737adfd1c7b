// `npm run test:package`: packages for both architectures of Linux and tests what came of it, in about four minutes. With
// `--built` it tests what is in out/ already. Tests that lack a tool are left out by name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './build.mjs';
import { mocha } from './mocha.mjs';

const [, , ...args] = process.argv;
if (args.some((arg) => arg !== '--built')) {
  console.error('Usage: npm run test:package [-- --built]');
  process.exit(2);
}
/** Folder of a key of this run, which signs the checksums. */
const keys = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
process.on('exit', () => rmSync(keys, { recursive: true, force: true }));
if (!args.includes('--built')) {
  const key = join(keys, 'key');
  const { status } = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', key]);
  if (status === 0) process.env.SLUICE_TEST_SIGNER = `${key}.pub`;
  const signed = status === 0 ? ['--sign', key] : [];
  run(process.execPath, ['scripts/package.mjs', '--target', 'linux-x64,linux-arm64', ...signed]);
}
process.exitCode = (await mocha(['test/package/**/*.test.ts', '--timeout', '400000'])).code;

function run(command, given) {
  const { status, error } = spawnSync(command, given, { cwd: root, stdio: 'inherit' });
  if (error) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}
