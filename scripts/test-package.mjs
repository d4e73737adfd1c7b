// `npm run test:package`: packages for both architectures of Linux and tests what came of it, in about four minutes. With
// `--built` it tests what is in out/ already. Tests that lack a tool are left out by name.
import { spawnSync } from 'node:child_process';
import { root } from './build.mjs';
import { mocha } from './mocha.mjs';

const [, , ...args] = process.argv;
if (args.some((arg) => arg !== '--built')) {
  console.error('Usage: npm run test:package [-- --built]');
  process.exit(2);
}
if (!args.includes('--built')) run(process.execPath, ['scripts/package.mjs', '--target', 'linux-x64,linux-arm64']);
process.exitCode = (await mocha(['test/package/**/*.test.ts', '--timeout', '400000'])).code;

function run(command, given) {
  const { status, error } = spawnSync(command, given, { cwd: root, stdio: 'inherit' });
  if (error) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}
