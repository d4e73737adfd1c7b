// Asks a Sluice process for how long its raft thread heard no heartbeat.
import { eventually } from './eventually.ts';
import type { askHeld } from './held-loops.ts';

/** Value of NODE_OPTIONS, or a part of it, for the measured process. */
export const silencesOption = `--import=${new URL('heard-heartbeats.mjs', import.meta.url).pathname}`;

/** The longest silence since the last time that it was asked, milliseconds; 0 for one that hears no heartbeats. */
export async function askSilence({ child, output }: Parameters<typeof askHeld>[0]): Promise<number> {
  const before = output.length;
  child.kill('SIGWINCH');
  return await eventually(() => {
    const line = output.slice(before).find((each) => each.startsWith('silent '));
    if (line === undefined) throw new Error('the process does not say how long it heard no heartbeat');
    return Number(line.slice(7));
  });
}
