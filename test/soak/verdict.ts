// Verdict of a soak: an early and a late part of the run side by side. Memory, by the median, may be more at the end by
// 10 % or 16 MiB. Open files and handles are compared by the lower quartile: those of exchanges in flight on a busy machine
// come and go, and a leak is in every sample.

export interface Sample {
  /** Part of the run that was over, 0 to 1. */
  readonly at: number;
  readonly rss: number;
  /** Open files of the process. */
  readonly descriptors: number;
  /** Active handles of all threads. */
  readonly handles: number;
}

export interface Growth<What extends string = 'RSS' | 'open files' | 'active handles'> {
  readonly what: What;
  readonly early: number;
  readonly late: number;
  /** The most that `late` may be. */
  readonly bound: number;
}

/** Minutes 2 to 4 and 8 to 10 of ten. */
const early = { from: 0.2, to: 0.4 };
const late = { from: 0.8, to: 1 };

const mebibyte = 1 << 20;
/** Tolerance of counts, for connections in flight. */
const countsMore = 32;

/** Throws when a part of the run has no samples. */
export const growths = (samples: readonly Sample[]): Growth[] => [
  growthOf(samples, 'RSS', 0.5, ({ rss }) => rss, 16 * mebibyte),
  growthOf(samples, 'open files', 0.25, ({ descriptors }) => descriptors, countsMore),
  growthOf(samples, 'active handles', 0.25, ({ handles }) => handles, countsMore),
];

/** Compares one figure, which may grow by 10 % or by `more`. Throws as `growths` does. */
export function growthOf<T extends Pick<Sample, 'at'>, What extends string>(
  samples: readonly T[],
  what: What,
  share: number,
  of: (sample: T) => number,
  more: number,
): Growth<What> {
  const [before, after] = [early, late].map((part) =>
    quantile(share, samples.filter(({ at }) => at >= part.from && at <= part.to).map(of)),
  ) as [number, number];
  return { what, early: before, late: after, bound: Math.max(before * 1.1, before + more) };
}

/** The value that a `share` of the others lies below. */
function quantile(share: number, values: readonly number[]): number {
  const value = values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
  if (value === undefined) throw new Error('a part of the run has no samples: it was too short');
  return value;
}
