// Plants each bug of a table in turn and looks for the first seed that finds it. Exits 1 when one survives.
import { spawn } from 'node:child_process';
import { optionsOf } from './options.ts';

export interface Hunt {
  /** The command, as a URL: its first comment is the help. */
  readonly file: string;
  readonly names: readonly string[];
  /** Arguments of node up to those of the campaign; the bug to plant is named by the variable. */
  readonly args: readonly string[];
  readonly variable: string;
}

/** Arguments of the process: [--seeds N] [--only text] [--jobs J]. */
export async function hunt({ file, names, args, variable }: Hunt): Promise<void> {
  const { values } = optionsOf(file, {
    options: {
      seeds: { type: 'string', default: '6000' },
      only: { type: 'string', default: '' },
      jobs: { type: 'string', default: '1' },
    },
  });
  const waiting = names.filter((name) => name.includes(values.only));
  let missed = 0;
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  console.log(missed === 0 ? 'every planted bug was found' : `${missed} planted bugs were not found`);
  process.exitCode = missed === 0 ? 0 : 1;

  async function work(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startedAt = performance.now();
      const verdict = await verdictOn(name);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      if (verdict === undefined) missed += 1;
      console.log(
        `${verdict === undefined ? 'MISSED' : 'found '} ${name.padEnd(52)} ${seconds.padStart(6)} s  ${verdict ?? ''}`,
      );
    }
  }

  /** The seed and the promise that gave it away. */
  function verdictOn(name: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const env = { ...process.env, [variable]: name };
      const child = spawn(process.execPath, [...args, '--json', '--seeds', values.seeds], { env });
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
        else resolve(readVerdict(output));
      });
    });
  }
}

function readVerdict(output: string): string | undefined {
  const { seed, message } = JSON.parse(output.trim().split('\n').at(-1) ?? '{}');
  return seed === undefined ? undefined : `seed ${seed}: ${String(message).slice(0, 100)}`;
}
