// One line for each measurement of the raft benches.

export interface Measured {
  readonly latenciesMs: readonly number[];
  readonly seconds: number;
  /** Requests that did not end well. */
  readonly lost: number;
}

export function report(what: string, { latenciesMs, seconds, lost }: Measured): void {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const rate = Math.round(sorted.length / seconds);
  console.log(
    `${what}: ${rate}/s, p50 ${at(sorted, 0.5)}, p99 ${at(sorted, 0.99)}, max ${at(sorted, 1)}, lost ${lost}`,
  );
}

export function gapReport(what: string, gapsMs: readonly number[]): void {
  const sorted = [...gapsMs].sort((a, b) => a - b);
  console.log(`${what}: median ${at(sorted, 0.5)}, max ${at(sorted, 1)} of ${sorted.length}`);
}

function at(sorted: readonly number[], share: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return value === undefined ? '–' : `${value.toFixed(2)} ms`;
}
