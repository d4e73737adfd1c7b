// `npm run simulate:mutants -- [--seeds N] [--only text] [--jobs J]`: plants each bug of the table in turn and looks
// for the first seed that finds it. Exits 1 when one survives.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { foundOnce, mutants, ofRules } from '../mutants/table.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5000' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '1' },
  },
});

const simulate = fileURLToPath(new URL('./simulate.ts', import.meta.url));
const plant = fileURLToPath(new URL('../mutants/plant.ts', import.meta.url));
const waiting = [...mutants, ...ofRules, ...foundOnce]
  .map(({ name }) => name)
  .filter((name) => name.includes(values.only));
let missed = 0;

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
console.log(missed === 0 ? 'every planted bug was found' : `${missed} planted bugs were not found`);
process.exitCode = missed === 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const startedAt = performance.now();
    const verdict = await hunt(name);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    if (verdict === undefined) missed += 1;
    console.log(
      `${verdict === undefined ? 'MISSED' : 'found '} ${name.padEnd(52)} ${seconds.padStart(6)} s  ${verdict ?? ''}`,
    );
  }
}

/** The seed and the promise that gave it away. */
function hunt(name: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const args = ['--import', plant, simulate, '--json', '--seeds', values.seeds];
    const child = spawn(process.execPath, args, { env: { ...process.env, RAFT_MUTANT: name } });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    child.on('close', () => {
      if (output === '') reject(new Error(`${name} could not be run: ${errors}`));
      else resolve(verdictOf(output));
    });
  });
}

function verdictOf(output: string): string | undefined {
  const { seed, message } = JSON.parse(output.trim().split('\n').at(-1) ?? '{}');
  return seed === undefined ? undefined : `seed ${seed}: ${String(message).slice(0, 100)}`;
}
