// What a soak shows: the medians of an early and a late part of the run side by side. Memory and handles may be more at
// the end by what the machine's noise explains, not by what a leak would add (issue's bound: 10 % or 16 MiB).

export interface Sample {
  /** Part of the run that was over, 0 to 1. */
  readonly at: number;
  readonly rss: number;
  /** Open files of the process. */
  readonly descriptors: number;
  /** Active handles of all threads. */
  readonly handles: number;
}

export interface Growth {
  readonly what: 'RSS' | 'open files' | 'active handles';
  readonly early: number;
  readonly late: number;
  /** The most that `late` may be. */
  readonly bound: number;
}

/** Minutes 2 to 4 and 8 to 10 of ten. */
export const early = { from: 0.2, to: 0.4 };
export const late = { from: 0.8, to: 1 };

const mebibyte = 1 << 20;
/** What a few connections in flight more or less make of a count. */
const countsMore = 16;

/** Throws when a part of the run has no samples. */
export function growths(samples: readonly Sample[]): Growth[] {
  const compare = (what: Growth['what'], of: (sample: Sample) => number, more: number): Growth => {
    const [before, after] = [early, late].map((part) =>
      median(samples.filter(({ at }) => at >= part.from && at <= part.to).map(of)),
    ) as [number, number];
    return { what, early: before, late: after, bound: Math.max(before * 1.1, before + more) };
  };
  return [
    compare('RSS', ({ rss }) => rss, 16 * mebibyte),
    compare('open files', ({ descriptors }) => descriptors, countsMore),
    compare('active handles', ({ handles }) => handles, countsMore),
  ];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[sorted.length >> 1];
  if (middle === undefined) throw new Error('a part of the run has no samples: it was too short');
  return middle;
}
