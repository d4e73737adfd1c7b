// Request log of this process, for the API and the admin port of a proxy.

import type { ShownRequests } from '../model/answers/request-answers.ts';
import type { RecentSource } from '../model/recent-request.ts';
import type { Clock } from '../util/clock.ts';
import { limitOf, passesOf } from './request-query.ts';
import { RecentStreams } from './request-streams.ts';

export interface RecentRequestsOptions {
  /** Name of this node, or of this proxy. */
  readonly node: string;
  readonly source: RecentSource;
  readonly clock: Clock;
}

export class RecentRequests {
  readonly streams: RecentStreams;
  readonly #options: RecentRequestsOptions;

  constructor(options: RecentRequestsOptions) {
    this.#options = options;
    this.streams = new RecentStreams(options.source, options.clock);
  }

  /** JSON. Rejects with INVALID. */
  async list(limit: string | undefined, where: string | undefined): Promise<string> {
    const { node, source } = this.#options;
    const most = limitOf(limit);
    const passes = passesOf(where);
    const requests = await source.list(most, passes);
    const answer: ShownRequests = { node, capacity: source.capacity, sampling: source.counts, requests };
    return JSON.stringify(answer);
  }
}
