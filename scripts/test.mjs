// `npm test`: everything that must hold before a change lands, in under ten minutes on two cores. What the machine
// lacks is left out by name, never silently; how many tests there were is said at the end.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mocha, unsteady } from './mocha.mjs';

/** Files at once: what they wait for, they do not wait for one after the other. Each process has its own ports. */
const atOnce = (jobs) => ['--parallel', '--jobs', jobs, ...(process.stdout.isTTY ? ['--color'] : [])];
const several = atOnce('2');

const stages = [
  ['check'],
  // What needs several threads of one process; unit tests know one.
  ['threads', ['test/threads/**/*.test.ts', ...several]],
  ['api', ['test/api/**/*.test.ts', ...several]],
  // These idle for a third of their time: elections, timeouts, drains.
  ['process', ['test/cluster/**/*.test.ts', 'test/process/**/*.test.ts', ...atOnce('3')]],
  ['simulation', ['test/simulation/**/*.test.ts', ...several]],
].filter(([name]) => name === 'check' || existsSync(`test/${name}`));

const only = process.argv.slice(2);
const unknown = only.filter((name) => !stages.some(([stage]) => stage === name));
if (unknown.length > 0) {
  console.error(`test: no stage ${unknown.join(', ')}; there are ${stages.map(([name]) => name).join(', ')}`);
  process.exit(2);
}

/** Counts of tests over all stages, as mocha prints them; `pending` tests were skipped. */
const counts = { passing: 0, failing: 0, pending: 0 };

const countLine = /^ {2}(\d+) (passing|failing|pending)\b/gm;

for (const [name, args] of stages) {
  if (only.length > 0 && !only.includes(name)) continue;
  const startedAt = performance.now();
  console.log(`\n== ${name}`);
  const { code, names } = args === undefined ? check() : await run(args);
  if (code !== 0) {
    tell();
    console.error(`\ntest: ${name} failed${names.length > 0 ? `: ${names.join('; ')}` : ''}`);
    process.exit(1);
  }
  console.log(`== ${name}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
tell();
if (unsteady.length > 0) console.log(`failed once and passed the second time: ${unsteady.join('; ')}`);
console.log('npm test: all stages passed');

function check() {
  const { status } = spawnSync(process.execPath, ['scripts/check.mjs'], { stdio: 'inherit' });
  return { code: status ?? 1, names: [] };
}

/** Runs a stage of mocha; its output is counted. */
async function run(args) {
  let text = '';
  const ended = await mocha(args, {
    onOutput: (chunk) => {
      process.stdout.write(chunk);
      text += chunk;
    },
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are such characters
  for (const [, n, what] of text.replace(/\x1b\[[0-9;]*m/g, '').matchAll(countLine)) counts[what] += Number(n);
  return ended;
}

function tell() {
  console.log(`\n${counts.passing} passed, ${counts.failing} failed, ${counts.pending} skipped`);
}
