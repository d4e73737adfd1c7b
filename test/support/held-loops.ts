// Asks a Sluice process for how long its event loops were held, in CPU time: what else the machine does hardly shows in it.
import type { ChildProcess } from 'node:child_process';
import { eventually } from './eventually.ts';

const preload = new URL('held-loops.mjs', import.meta.url).pathname;

/** Variables for the environment of the measured process. */
export const heldLoopsEnv: NodeJS.ProcessEnv = { NODE_OPTIONS: `--import=${preload}` };

/** Milliseconds by name of the thread: the longest turn since the last time that it was asked, of threads with one name the longer. */
export async function askHeld({
  child,
  output,
}: {
  readonly child: ChildProcess;
  readonly output: readonly string[];
}): Promise<Readonly<Record<string, number>>> {
  const before = output.length;
  child.kill('SIGUSR2');
  return await eventually(() => {
    const line = output.slice(before).find((each) => each.startsWith('held '));
    if (line === undefined) throw new Error('the process does not say how long its loops were held');
    return JSON.parse(line.slice(5)) as Record<string, number>;
  });
}
