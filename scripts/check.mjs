// `npm run check`: format, lint, import borders, citations, plain words, dead exports, types, unit tests. Under a minute.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { mocha } from './mocha.mjs';

const tsc = 'node_modules/typescript-native/bin/tsc';
/** Checks that only read, run in parallel. */
const readers = [
  ['format and lint', 'biome', ['check', '.']],
  ['import borders', process.execPath, ['scripts/borders.mjs']],
  ['citations', process.execPath, ['scripts/citations.mjs']],
  ['plain words', process.execPath, ['scripts/words.mjs']],
  ['dead files, exports and packages', 'knip', ['--no-progress']],
  ['types', process.execPath, [tsc, '-p', 'tsconfig.test.json', '--noEmit']],
  ['types of ui', process.execPath, [tsc, '-p', 'ui/tsconfig.json']],
  ['types of raft/core, which is pure', process.execPath, [tsc, '-p', 'raft/core/tsconfig.json']],
];
const unitTests = globSync('test/unit/**/*.test.ts').sort();

const startedAt = performance.now();
// Unit tests run meanwhile, more files at once than processors: many wait for sockets. Their output follows that of the readers.
let held = [];
const abort = new AbortController();
const tests = mocha([...unitTests, '--parallel', '--jobs', '3'], {
  reporter: 'dot',
  signal: abort.signal,
  onOutput: (chunk) => void (held?.push(chunk) ?? process.stdout.write(chunk)),
});

const failed = (await Promise.all(readers.map(read))).filter((name) => name !== undefined);
if (failed.length > 0) end(failed.join(', '));

console.log('\n> unit tests');
for (const chunk of held) process.stdout.write(chunk);
held = undefined;
const { code, names } = await tests;
if (code !== 0) end(['unit tests', ...names].join(': '));
console.log(`  check: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

/** Runs a step and returns its name if it failed. Its output is printed as one piece. */
async function read([name, command, args]) {
  const begun = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [code, output, errors] = await Promise.all([ended(child), text(child.stdout), text(child.stderr)]);
  console.log(`\n> ${name}: ${((performance.now() - begun) / 1000).toFixed(1)} s\n${output}${errors}`.trimEnd());
  return code === 0 ? undefined : name;
}

function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function end(what) {
  abort.abort();
  console.error(`\ncheck: ${what} failed`);
  process.exit(1);
}
