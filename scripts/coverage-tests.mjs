// Unit tests and those of threads for `npm run coverage`: three processes of mocha with a third of the files each. Workers of
// `mocha --parallel` are killed a second after their last test, and what they covered is lost when writing it takes longer.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';

const processes = 3;
const files = globSync(['test/unit/**/*.test.ts', 'test/threads/**/*.test.ts']).sort();

const codes = await Promise.all(Array.from({ length: processes }, (_, part) => run(part)));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

/** Resolves with the exit code. Each process has ports of its own (test/support/free-port.ts). */
function run(part) {
  const own = files.filter((_, i) => i % processes === part);
  const env = { ...process.env, MOCHA_WORKER_ID: String(part) };
  const child = spawn('mocha', [...own, '--reporter', 'dot'], { stdio: 'inherit', env });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
}
