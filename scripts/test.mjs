// `npm test`: everything that must hold before a change lands, in under ten minutes on two cores. What the machine
// lacks is left out by name, never silently; how many tests there were is said at the end.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files at once: what they wait for, they do not wait for one after the other. Each process has its own ports. */
const atOnce = (jobs) => ['--parallel', '--jobs', jobs, ...(process.stdout.isTTY ? ['--color'] : [])];
const several = atOnce('2');

const stages = [
  ['check', process.execPath, ['scripts/check.mjs']],
  // What needs several threads of one process; unit tests know one.
  ['threads', 'mocha', ['test/threads/**/*.test.ts', ...several]],
  ['api', 'mocha', ['test/api/**/*.test.ts', '--timeout', '240000', ...several]],
  // These idle for a third of their time: elections, timeouts, drains.
  [
    'process',
    'mocha',
    ['test/cluster/**/*.test.ts', 'test/process/**/*.test.ts', '--timeout', '240000', ...atOnce('3')],
  ],
  ['simulation', 'mocha', ['test/simulation/**/*.test.ts', '--timeout', '240000', ...several]],
].filter(([name]) => name === 'check' || existsSync(`test/${name}`));

const only = process.argv.slice(2);
const unknown = only.filter((name) => !stages.some(([stage]) => stage === name));
if (unknown.length > 0) {
  console.error(`test: no stage ${unknown.join(', ')}; there are ${stages.map(([name]) => name).join(', ')}`);
  process.exit(2);
}

/** Counts of tests over all stages, as mocha prints them; `pending` tests were skipped. */
const counts = { passing: 0, failing: 0, pending: 0 };
/** File with a line for each test that failed; the reporter writes it. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-failed-'));
const failedTests = join(folder, 'tests');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const countLine = /^ {2}(\d+) (passing|failing|pending)\b/gm;

for (const [name, command, args] of stages) {
  if (only.length > 0 && !only.includes(name)) continue;
  const startedAt = performance.now();
  console.log(`\n== ${name}`);
  const code = await run(command, args);
  if (code !== 0) {
    tell();
    console.error(`\ntest: ${name} failed${failedNames()}`);
    process.exit(1);
  }
  console.log(`== ${name}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
tell();
console.log('npm test: all stages passed');

/** Runs a stage and resolves with its exit code. Its output passes through and is counted. */
function run(command, args) {
  const reporting = command === 'mocha' ? ['--reporter', 'test/support/explaining-reporter.cjs'] : [];
  const env = { ...process.env, SLUICE_FAILED_TESTS: failedTests };
  const child = spawn(command, [...args, ...reporting], { stdio: ['inherit', 'pipe', 'inherit'], env });
  let text = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    text += chunk;
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('close', (code) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are such characters
      for (const [, n, what] of text.replace(/\x1b\[[0-9;]*m/g, '').matchAll(countLine)) counts[what] += Number(n);
      resolve(code ?? 1);
    });
  });
}

/** Returns the names of the tests that failed, for the closing line; none where something else did. */
function failedNames() {
  if (!existsSync(failedTests)) return '';
  const names = readFileSync(failedTests, 'utf8').trim().split('\n');
  return `: ${names.join('; ')}`;
}

function tell() {
  console.log(`\n${counts.passing} passed, ${counts.failing} failed, ${counts.pending} skipped`);
}
