// Report of the runs of a case: medians, their spread, and the ratio of Sluice to the others.
import type { Sample } from './loads.ts';
import { isSluice } from './proxies.ts';

export interface Row {
  readonly proxy: string;
  /** CPU per request in µs, the median of the runs; figures that were not measured are absent. */
  readonly micros?: number | undefined;
  /** The middle half of the runs, as a share of the median of the figure that counts. */
  readonly spread: number;
  readonly perSecond?: number | undefined;
  /** Milliseconds. */
  readonly p50?: number | undefined;
  readonly p99?: number | undefined;
  readonly kb?: number | undefined;
  /** The most of all runs. */
  readonly rssMb?: number | undefined;
  /** Milliseconds of CPU, the longest of all runs. */
  readonly heldMs?: number | undefined;
  /** Median of what this one takes of what another takes in the same round, by name. Of Sluice alone. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly failed: string;
}

export type Figure = 'micros' | 'p99' | 'kb';

export function rowsOf(results: ReadonlyMap<string, readonly Sample[]>, figure: Figure): Row[] {
  const counted = (name: string): number[] => (results.get(name) ?? []).map((sample) => sample[figure] ?? Number.NaN);
  return [...results].map(([proxy, samples]) => {
    const of = (key: Figure | 'perSecond' | 'p50'): number | undefined => {
      const values = samples.map((sample) => sample[key] ?? Number.NaN);
      return values.some(Number.isNaN) ? undefined : quantile(values, 0.5);
    };
    const own = counted(proxy);
    const ratios: Record<string, number> = {};
    for (const other of isSluice(proxy) ? results.keys() : []) {
      if (other === proxy || (isSluice(other) && other !== 'sluice')) continue;
      const theirs = counted(other);
      ratios[other] = quantile(
        own.map((value, run) => value / (theirs[run] ?? Number.NaN)),
        0.5,
      );
    }
    return {
      ...{ proxy, micros: of('micros'), perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), kb: of('kb') },
      rssMb: most(samples, 'rssMb'),
      heldMs: most(samples, 'heldMs'),
      spread: own.length < 2 ? Number.NaN : (quantile(own, 0.75) - quantile(own, 0.25)) / quantile(own, 0.5),
      ratios,
      failed: samples.find(({ failed }) => failed !== '')?.failed ?? '',
    };
  });
}

function most(samples: readonly Sample[], key: 'rssMb' | 'heldMs'): number | undefined {
  if (samples.some((sample) => sample[key] === undefined)) return undefined;
  return Math.max(...samples.map((sample) => sample[key] ?? 0));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.round((sorted.length - 1) * share))] ?? Number.NaN;
}

/** Table for the terminal; columns that no row has are left out. */
export function tableOf(rows: readonly Row[], figure: Figure): string {
  const others = [...new Set(rows.flatMap(({ ratios }) => Object.keys(ratios)))];
  const columns: readonly (readonly [string, (row: Row) => string])[] = [
    ['', ({ proxy }) => proxy],
    ['CPU µs', ({ micros }) => number(micros, 1)],
    ['KB each', ({ kb }) => number(kb, 1)],
    ['per second', ({ perSecond }) => number(perSecond, 0)],
    ['p50 ms', ({ p50 }) => number(p50, 2)],
    ['p99 ms', ({ p99 }) => number(p99, 2)],
    ['RSS MB', ({ rssMb }) => number(rssMb, 0)],
    ['held ms', ({ heldMs }) => number(heldMs, 1)],
    ['spread', ({ spread }) => (Number.isNaN(spread) ? '' : `±${(spread * 50).toFixed(0)} %`)],
    ...others.map((other) => [`× ${other}`, ({ ratios }: Row) => number(ratios[other], 2)] as const),
    ['', ({ failed }) => failed],
  ];
  const cells = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))];
  const shown = columns.map((_, at) => at).filter((at) => at === 0 || cells.slice(1).some((line) => line[at] !== ''));
  const widths = shown.map((at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const note = figure === 'micros' ? '' : `  (ratios and spread of ${figure === 'p99' ? 'p99' : 'memory'})\n`;
  return `${note}${cells
    .map((line) =>
      shown
        .map((at, i) =>
          at === 0 ? (line[at] ?? '').padEnd(widths[i] ?? 0) : (line[at] ?? '').padStart(widths[i] ?? 0),
        )
        .join('  '),
    )
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n')}`;
}

const number = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value)
    ? ''
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
