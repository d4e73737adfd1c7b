// `npm test`: everything that must hold before a change lands, in under ten minutes on two cores. What the machine
// lacks is left out by name, never silently; how many tests there were is said at the end.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mocha, unsteady } from './mocha.mjs';

/** Stages and the tests of each, in the order in which they begin: those that compute for long, those that idle, short ones. */
const stages = {
  check: [],
  // Many bytes, large tables, many rounds of random input: seconds each, where unit tests take milliseconds.
  volume: ['volume'],
  simulation: ['simulation'],
  // Elections, time-outs and drains idle for a third of their time.
  process: ['cluster', 'process'],
  // What needs several threads of one process; unit tests know one.
  threads: ['threads'],
  api: ['api'],
};

const names = Object.keys(stages);
const only = process.argv.slice(2);
const unknown = only.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`test: no stage ${unknown.join(', ')}; there are ${names.join(', ')}`);
  process.exit(2);
}
const chosen = names.filter((name) => only.length === 0 || only.includes(name));

/** Counts of tests over all stages, as mocha prints them; `pending` tests were skipped. */
const counts = { passing: 0, failing: 0, pending: 0 };

const countLine = /^ {2}(\d+) (passing|failing|pending)\b/gm;

if (chosen.includes('check')) await stage('check', check);
const files = chosen.flatMap((name) =>
  stages[name].flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`).sort()),
);
// All of them are one run, so that no processor waits for the last file of a stage.
if (files.length > 0) await stage(chosen.filter((name) => name !== 'check').join(', '), () => run(files));
tell();
if (unsteady.length > 0) console.log(`failed once and passed the second time: ${unsteady.join('; ')}`);
console.log('npm test: all stages passed');

async function stage(title, work) {
  const startedAt = performance.now();
  console.log(`\n== ${title}`);
  const { code, names } = await work();
  if (code !== 0) {
    tell();
    console.error(`\ntest: ${title} failed${names.length > 0 ? `: ${names.join('; ')}` : ''}`);
    process.exit(1);
  }
  console.log(`== ${title}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

function check() {
  const { status } = spawnSync(process.execPath, ['scripts/check.mjs'], { stdio: 'inherit' });
  return { code: status ?? 1, names: [] };
}

/** Runs files of tests, four at once: what they wait for, they do not wait for one after the other. Each process has its own ports. */
async function run(files) {
  let text = '';
  const ended = await mocha([...files, '--parallel', '--jobs', '4', ...(process.stdout.isTTY ? ['--color'] : [])], {
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
