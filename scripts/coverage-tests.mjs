// Unit tests, those of volume and of threads for `npm run coverage`: three processes of mocha with a third of the files each. Workers of
// `mocha --parallel` are killed a second after their last test, and what they covered is lost when writing it takes longer.
import { globSync } from 'node:fs';
import { mocha } from './mocha.mjs';

const processes = 3;
const files = globSync(['unit', 'volume', 'threads'].map((stage) => `test/${stage}/**/*.test.ts`)).sort();

const codes = await Promise.all(Array.from({ length: processes }, (_, part) => run(part)));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

/** Resolves with the exit code. Each process has ports of its own (test/support/free-port.ts). */
async function run(part) {
  const own = files.filter((_, i) => i % processes === part);
  const { code } = await mocha(own, { reporter: 'dot', env: { MOCHA_WORKER_ID: String(part) } });
  return code;
}
