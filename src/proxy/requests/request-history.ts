// The ring of recent requests as main reads it.

import type { RecentCounts, RecentRequest, RecentSource } from '../../model/recent-request.ts';
import { inSlices } from '../slices.ts';
import { RequestRing, type RingShape } from './request-ring.ts';

/** How long one slice of a search holds the thread. */
const sliceMs = 4;
/** Between two looks at the clock. */
const perLook = 64;

export class RequestHistory implements RecentSource {
  readonly capacity: number;
  readonly #ring: RequestRing | undefined;

  /** Without a ring there is nothing to remember. */
  constructor(shape: RingShape | undefined) {
    this.capacity = shape?.slots ?? 0;
    this.#ring = shape && new RequestRing(shape);
  }

  get counts(): RecentCounts {
    const sum = { seen: 0, kept: 0, oneIn: 1, oneInOfErrors: 1 };
    for (let place = 0; place < (this.#ring?.shape.workers ?? 0); place++) {
      const { seen = 0, kept = 0, oneIn = 1, oneInOfErrors = 1 } = this.#ring?.told(place) ?? {};
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

  list(limit: number, passes: (request: RecentRequest) => boolean): Promise<RecentRequest[]> {
    return inSlices(this.#found(limit, passes), sliceMs);
  }

  *#found(limit: number, passes: (request: RecentRequest) => boolean): Generator<void, RecentRequest[]> {
    const found: RecentRequest[] = [];
    const oldest = Math.max(0, this.end - this.capacity);
    for (let number = this.end - 1; number >= oldest && found.length < limit; number--) {
      const request = this.at(number);
      if (request !== undefined && passes(request)) found.push(request);
      if (number % perLook === 0) yield;
    }
    return found;
  }
}
