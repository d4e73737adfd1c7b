// Compare plan: the settings of a comparison, precomputed (contract.md §2.4.2).
import { parseByteSize } from '../../../model/byte-size.ts';
import { routeDefaults } from '../../../model/defaults.ts';
import type { MirrorCompare } from '../../../model/mirror-compare.ts';
import { type PointerPattern, patternOf } from './json-difference.ts';

export interface ComparePlan {
  readonly status: boolean;
  /** Lower-case names. */
  readonly headers: readonly string[];
  readonly body: 'json' | 'bytes' | 'none';
  readonly ignore: readonly PointerPattern[];
  readonly maxBytes: number;
  readonly latency: boolean;
  /** Share of the copies, 0…1. */
  readonly sample: number;
}

const defaults = routeDefaults.mirrorCompare;

export const compileCompare = (compare: MirrorCompare): ComparePlan => ({
  status: compare.status ?? defaults.status,
  headers: (compare.headers ?? defaults.headers).map((name) => name.toLowerCase()),
  body: compare.body ?? defaults.body,
  ignore: (compare.ignore ?? []).map(patternOf),
  maxBytes: parseByteSize(compare.maxBytes ?? defaults.maxBytes) ?? 0,
  latency: compare.latency ?? defaults.latency,
  sample: (compare.sample ?? defaults.sample) / 100,
});
