// Traffic figures of a proxy, apart for the stable configuration and for a candidate (fleet.md §4): a few numbers per
// worker in shared memory, added up by main. Counted for every request, metrics on or off.
import type { MirrorCounts } from '../../model/answers/proxy-messages.ts';
import type { ShadowCounts } from '../../model/answers/rollout-answers.ts';
import { latencyBuckets } from '../../model/message-limits.ts';
import { shadowCountNames, sumOfShadows } from '../../model/shadow.ts';
import type { ShadowKind } from '../../model/shadow-kinds.ts';
import { isRefusal, latencyBucketOf } from '../../model/traffic-cells.ts';
import { sumOfMirrors } from '../../model/traffic-windows.ts';

/** Places per role: seven counters, then the buckets of latency. */
const counters = 7;
const mirrorCompared = 4;
const mirrorMismatched = 5;
const refused = 6;
const perRole = counters + latencyBuckets;
/** Behind both roles. */
const shadowAt = 2 * perRole;
const shadowCounters = shadowCountNames.length;
const undecidedAt = shadowAt + shadowCountNames.indexOf('undecided');
const sameAt = shadowAt + shadowCountNames.indexOf('same');

export type ConfigRole = 'stable' | 'candidate';

/** Since the start of the process. */
export interface RoleFigures {
  readonly requests: number;
  /** Answers of 500 and above that were not the proxy's own errors. */
  readonly serverErrors: number;
  /** Answers of 400 to 499 that were not the proxy's own errors. */
  readonly clientErrors: number;
  /** Errors that the proxy itself reported, of whichever status. */
  readonly proxyErrors: number;
  /** Those of them of a status from 400 to 499. */
  readonly refusals: number;
  readonly latency: readonly number[];
  /** Responses of mirrors that were compared; absent without any. */
  readonly mirror?: MirrorCounts;
  /** Comparisons of stable with candidates, of the candidate; absent without any. */
  readonly shadow?: ShadowCounts;
}

export const newFigureBytes = (): SharedArrayBuffer => new SharedArrayBuffer((2 * perRole + shadowCounters) * 8);

/** Figures of one worker, which alone counts in them; any thread may read. */
export class Figures {
  readonly #cells: Float64Array;

  constructor(bytes: SharedArrayBuffer = newFigureBytes()) {
    this.#cells = new Float64Array(bytes);
  }

  count(role: ConfigRole, status: number, isProxyError: boolean, ms: number): void {
    const cells = this.#cells;
    const base = role === 'stable' ? 0 : perRole;
    cells[base] = (cells[base] ?? 0) + 1;
    const kind = isProxyError ? 3 : status >= 500 ? 1 : status >= 400 ? 2 : 0;
    if (kind > 0) cells[base + kind] = (cells[base + kind] ?? 0) + 1;
    if (isProxyError && isRefusal(status)) this.#add(base + refused);
    const bucket = base + counters + latencyBucketOf(ms);
    cells[bucket] = (cells[bucket] ?? 0) + 1;
  }

  /** Counts a comparison of the responses of a primary and its mirror. */
  countComparison(role: ConfigRole, isSame: boolean): void {
    const base = role === 'stable' ? 0 : perRole;
    this.#add(base + mirrorCompared);
    if (!isSame) this.#add(base + mirrorMismatched);
  }

  /** Counts a request that was matched against a candidate; `kinds` is empty where nothing differs. */
  countShadow(kinds: readonly ShadowKind[]): void {
    this.#add(shadowAt);
    if (kinds.length === 0) this.#add(sameAt);
    for (const kind of kinds) this.#add(shadowAt + shadowCountNames.indexOf(kind));
  }

  countUndecided(): void {
    this.#add(undecidedAt);
  }

  read(role: ConfigRole): RoleFigures {
    const base = role === 'stable' ? 0 : perRole;
    const [
      requests = 0,
      serverErrors = 0,
      clientErrors = 0,
      proxyErrors = 0,
      compared = 0,
      mismatched = 0,
      refusals = 0,
      ...latency
    ] = this.#cells.subarray(base, base + perRole);
    const mirror = compared > 0 ? { mirror: { compared, mismatched } } : {};
    const shadow = role === 'candidate' ? this.#shadow() : undefined;
    const counts = { requests, serverErrors, clientErrors, proxyErrors, refusals };
    return { ...counts, latency, ...mirror, ...(shadow && { shadow }) };
  }

  #shadow(): ShadowCounts | undefined {
    const cells = this.#cells.subarray(shadowAt, shadowAt + shadowCounters);
    if (cells.every((count) => count === 0)) return undefined;
    const counts = Object.fromEntries(shadowCountNames.map((name, at) => [name, cells[at] ?? 0]));
    return counts as unknown as ShadowCounts;
  }

  #add(place: number): void {
    this.#cells[place] = (this.#cells[place] ?? 0) + 1;
  }
}

/** Adds up the figures of all workers. */
export function sumOfFigures(list: readonly RoleFigures[]): RoleFigures {
  const sum = { requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0, refusals: 0 };
  const latency = new Array<number>(latencyBuckets).fill(0);
  for (const each of list) {
    sum.requests += each.requests;
    sum.serverErrors += each.serverErrors;
    sum.clientErrors += each.clientErrors;
    sum.proxyErrors += each.proxyErrors;
    sum.refusals += each.refusals;
    for (let i = 0; i < latencyBuckets; i++) latency[i] = (latency[i] ?? 0) + (each.latency[i] ?? 0);
  }
  const mirror = sumOfMirrors(list.map((each) => each.mirror));
  const shadow = sumOfShadows(list.map((each) => each.shadow));
  return { ...sum, latency, ...(mirror && { mirror }), ...(shadow && { shadow }) };
}
