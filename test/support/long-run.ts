// Length of the runs of `npm run test:faults`, and their progress messages.
import { seededRandom } from './random.ts';

/** `SLUICE_<NAME>_SECONDS`, or what the run takes by default. */
export function secondsOf(name: string, byDefault: number): number {
  return Number(process.env[`SLUICE_${name}_SECONDS`] ?? byDefault);
}

/** Random numbers seeded by `SLUICE_SEED`, or by a drawn seed that is printed. */
export function drawnRandom(): () => number {
  const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 1_000_000);
  say(`SLUICE_SEED=${seed}`);
  return seededRandom(seed);
}

/** Prints a line of progress. */
export function say(text: string): void {
  process.stdout.write(`      ${text}\n`);
}

export const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));

/** Calls `round` again and again until the time is over, with a line of progress every ten seconds. */
export async function repeatFor(seconds: number, round: (at: number) => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let saidAt = startedAt;
  let rounds = 0;
  while (performance.now() - startedAt < seconds * 1_000) {
    await round(rounds++);
    if (performance.now() - saidAt < 10_000) continue;
    saidAt = performance.now();
    say(`${Math.round((saidAt - startedAt) / 1_000)} of ${seconds} s, ${rounds} rounds`);
  }
  return rounds;
}
