// The ring of recent requests as main reads it.

import { SluiceError } from '../../errors.ts';
import type { RecentCounts, RecentRequest } from '../../model/answers/request-answers.ts';
import type { RecentSource, RecordedPage, RecordedRequest, RequestSample } from '../../model/recent-request.ts';
import type { ChainCount } from '../../model/traffic-report.ts';
import { inSlices } from '../compile-slices.ts';
import { ChainCounts, chainKeyText } from './chain-counts.ts';
import { LastHits } from './last-hits.ts';
import { RequestRing, type RingShape } from './request-ring.ts';
import { keyText } from './shared-keys.ts';

/** Time slice of a search, in milliseconds. */
const sliceMs = 4;
/** Time that all slices of a search may take together, in milliseconds: the caller's filter may be slow. */
const searchMsMax = 1_000;

export class RequestHistory implements RecentSource {
  readonly capacity: number;
  readonly #ring: RequestRing | undefined;
  readonly #hits: LastHits | undefined;
  readonly #chains: ChainCounts | undefined;
  readonly #nowMs: () => number;

  /** Without a ring there is nothing to remember. `nowMs` is monotonic. */
  constructor(shape: RingShape | undefined, nowMs: () => number = () => performance.now()) {
    this.capacity = shape?.slots ?? 0;
    this.#nowMs = nowMs;
    this.#ring = shape && new RequestRing(shape);
    this.#hits = shape && new LastHits(shape.hits);
    this.#chains = shape && new ChainCounts(shape.chains);
  }

  get counts(): RecentCounts {
    const sum = { seen: 0, kept: 0, oneIn: 1, oneInOfErrors: 1 };
    for (let place = 0; place < (this.#ring?.shape.workers ?? 0); place++) {
      const { seen = 0, kept = 0, oneIn = 1, oneInOfErrors = 1 } = this.#ring?.readCounts(place) ?? {};
      sum.seen += seen;
      sum.kept += kept;
      sum.oneIn = Math.max(sum.oneIn, oneIn);
      sum.oneInOfErrors = Math.max(sum.oneInOfErrors, oneInOfErrors);
    }
    return sum;
  }

  get end(): number {
    return this.#ring?.end ?? 0;
  }

  at(number: number): RecentRequest | undefined {
    return this.#ring?.read(number);
  }

  sample(number: number): RequestSample | undefined {
    return this.#ring?.sample(number);
  }

  lastHit(subject: string): number | undefined {
    return this.#hits?.read(subject);
  }

  hitKey(subject: string): string {
    return keyText(subject);
  }

  hitsSince(ms: number, most: number): readonly (readonly [key: string, ms: number])[] {
    return this.#hits?.since(ms, most) ?? [];
  }

  chainCount(routeId: string, middlewareId: string): ChainCount {
    return this.#chains?.read(routeId, middlewareId) ?? [0, 0];
  }

  chainKey(routeId: string, middlewareId: string): string {
    return chainKeyText(routeId, middlewareId);
  }

  chainCounts(): ReadonlyMap<string, ChainCount> {
    return this.#chains?.all() ?? new Map();
  }

  /** Newest first. Rejects with INVALID where `passes` takes too long. */
  list(limit: number, passes: (request: RecentRequest) => boolean): Promise<RecentRequest[]> {
    return inSlices(
      this.#found(limit, passes, this.end, (number) => this.at(number)),
      sliceMs,
    );
  }

  /** As `list`, with what the records lack. */
  async page(limit: number, passes: (request: RecentRequest) => boolean, before = this.end): Promise<RecordedPage> {
    const { headers = [], query = [] } = this.#ring?.shape ?? {};
    let reached = Math.min(before, this.end);
    const read = (number: number): RecordedRequest | undefined => {
      reached = number;
      return this.#ring?.recorded(number);
    };
    const requests = await inSlices(this.#found(limit, passes, reached, read), sliceMs);
    return { headers, query, requests, before: requests.length < limit || reached === 0 ? null : reached };
  }

  /** Requests before a number, latest first. */
  *#found<T extends RecentRequest>(
    limit: number,
    passes: (request: RecentRequest) => boolean,
    before: number,
    read: (number: number) => T | undefined,
  ): Generator<void, T[]> {
    const found: T[] = [];
    const oldest = Math.max(0, this.end - this.capacity);
    let workedMs = 0;
    for (let number = before - 1; number >= oldest && found.length < limit; number--) {
      const startMs = this.#nowMs();
      const request = read(number);
      if (request !== undefined && passes(request)) found.push(request);
      workedMs += this.#nowMs() - startMs;
      if (workedMs > searchMsMax) throw new SluiceError('INVALID', 'where: takes too long for so many requests');
      // Behind each: one look alone may take as long as an expression may.
      yield;
    }
    return found;
  }
}
