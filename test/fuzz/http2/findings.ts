// Result of a run of a fuzzer.
export interface FuzzRun {
  /** Frames, or fields of HPACK, that were looked at. */
  readonly looked: number;
  /** Difference, with the bytes that show it; undefined: none. */
  readonly finding: string | undefined;
}

/** Run of a fuzzer, deterministic by its two numbers. */
export const seedOf = (seed: number, run: number): number => (Math.imul(seed, 1_000_003) + run) >>> 0;
