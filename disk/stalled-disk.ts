// A disk that stands still while something waits for it: told from work that takes its time by a write beside it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { lateMs } from './disk-problem.ts';
import { withFile } from './durable-file.ts';

/**
 * Resolves with true when `write` has been under way for `lateAfterMs` while `work` was, with false when `work` has settled. The first
 * write begins after as long. A disk that rejects writes does not stand still.
 */
export async function standsStill(
  work: Promise<unknown>,
  write: () => Promise<unknown>,
  lateAfterMs = lateMs,
): Promise<boolean> {
  const settled = ended(work, 'settled');
  for (;;) {
    const timers = new AbortController();
    const late = () => pauseAwake(lateAfterMs, timers.signal);
    try {
      if ((await Promise.race([settled, late()])) === 'settled') return false;
      const first = await Promise.race([settled, ended(write(), 'written'), late()]);
      if (first !== 'written') return first === 'late';
    } finally {
      timers.abort();
    }
  }
}

/** Parts of a pause. */
const parts = 10;

/** Pauses; a part that takes half of the whole longer than it is begins again. */
async function pauseAwake(ms: number, signal: AbortSignal): Promise<'late'> {
  for (let passed = 0; passed < parts; ) {
    const startMs = performance.now();
    await pause(ms / parts, undefined, { signal });
    if (performance.now() - startMs < ms / parts + ms / 2) passed++;
  }
  return 'late';
}

/** Writes to the disk of a directory, synced, and leaves nothing there. */
export async function probeWrite(directory: string): Promise<void> {
  const path = join(directory, 'probe');
  await withFile(path, 'w', (file) => file.sync());
  await rm(path, { force: true });
}

const ended = <T extends string>(work: Promise<unknown>, how: T): Promise<T> =>
  work.then(
    () => how,
    () => how,
  );
