// `npm test`: everything that must hold before a change lands, in under ten minutes on two cores. What the machine
// lacks is left out by name, never silently.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Two files at once: what they wait for, they do not wait for one after the other. Each process has its own ports. */
const several = ['--parallel', '--jobs', '2'];

const stages = [
  ['check', process.execPath, ['scripts/check.mjs']],
  ['api', 'mocha', ['test/api/**/*.test.ts', '--timeout', '240000', ...several]],
  ['process', 'mocha', ['test/cluster/**/*.test.ts', 'test/process/**/*.test.ts', '--timeout', '240000', ...several]],
  ['simulation', 'mocha', ['test/simulation/**/*.test.ts', '--timeout', '240000', ...several]],
].filter(([name]) => name === 'check' || existsSync(`test/${name}`));

const only = process.argv.slice(2);
const unknown = only.filter((name) => !stages.some(([stage]) => stage === name));
if (unknown.length > 0) {
  console.error(`test: no stage ${unknown.join(', ')}; there are ${stages.map(([name]) => name).join(', ')}`);
  process.exit(2);
}

for (const [name, command, args] of stages) {
  if (only.length > 0 && !only.includes(name)) continue;
  const startedAt = performance.now();
  console.log(`\n== ${name}`);
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) console.error(error.message);
  if (status !== 0) {
    console.error(`\ntest: ${name} failed`);
    process.exit(1);
  }
  console.log(`== ${name}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
console.log('\nnpm test: all stages passed');
