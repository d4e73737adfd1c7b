const leastPauseMs = 5;
const mostPauseMs = 50;

/** Returns the pause before the next look: a twentieth of the wait so far, since looks take the processor from what is waited for. */
const pauseAfter = (waitedMs: number): number => Math.min(mostPauseMs, Math.max(leastPauseMs, waitedMs / 20));

/**
 * Waits until `look` returns without throwing and gives its value; fails with its last error after `withinMs`. The default is for
 * a machine where much else runs: a test that needs a shorter one measures the machine, not the program.
 */
export async function eventually<T>(look: () => T | Promise<T>, { withinMs = 120_000 } = {}): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > startedAt + withinMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - startedAt)));
  }
}

/** Waits until a number has not changed in `looks` looks, 5 ms and more apart, and gives it: what flowed has come to rest. */
export async function settled(read: () => number, looks = 20): Promise<number> {
  let last = read();
  for (let same = 0; same < looks; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const now = read();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}
