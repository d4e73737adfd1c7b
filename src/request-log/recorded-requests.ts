// Recorded requests of several processes, newest first over all of them: each is asked for a page at a time, so that no
// more travels than is wanted.

import type { RecordedBatch, RecordedPage, RecordedRequest } from '../model/recent-request.ts';
import { pageMax } from '../model/recorded-page.ts';

/** Records of one process. */
export interface RecordSource {
  /** Name of the node or proxy. */
  readonly name: string;
  /** Undefined when it does not answer in time. Rejects with INVALID for a filter that takes too long. */
  page(limit: number, before?: number): Promise<RecordedPage | undefined>;
}

const pageMin = 20;

interface Open {
  readonly source: RecordSource;
  page: RecordedPage;
  /** Place in the page. */
  at: number;
}

export class RecordedRequests {
  readonly #sources: readonly RecordSource[];
  readonly #unreachable = new Set<string>();

  constructor(sources: readonly RecordSource[]) {
    this.#sources = sources;
  }

  /** Names of those that did not answer, or not to the end. */
  get unreachable(): readonly string[] {
    return [...this.#unreachable].sort();
  }

  /** At most `limit` requests, the newest of all. Those of one batch are of one process. */
  async *newest(limit: number): AsyncGenerator<RecordedBatch> {
    const open: Open[] = [];
    // Few requests of each are wanted where there are many processes.
    const fair = Math.ceil((2 * limit) / Math.max(1, this.#sources.length));
    const size = Math.min(limit, pageMax, Math.max(fair, pageMin));
    const first = await Promise.all(this.#sources.map((source) => this.#page(source, size)));
    for (const [at, page] of first.entries()) {
      const source = this.#sources[at];
      if (source !== undefined && page !== undefined && page.requests.length > 0) open.push({ source, page, at: 0 });
    }
    for (let left = limit; left > 0 && open.length > 0; ) {
      const newest = open.reduce((best, each) => (timeOf(each) > timeOf(best) ? each : best));
      const requests = runOf(newest, open, left);
      left -= requests.length;
      yield { ...newest.page, requests };
      if (newest.at < newest.page.requests.length) continue;
      const { source, page } = newest;
      const next =
        page.before === null || left === 0 ? undefined : await this.#page(source, Math.min(left, size), page.before);
      if (next === undefined || next.requests.length === 0) open.splice(open.indexOf(newest), 1);
      else Object.assign(newest, { page: next, at: 0 });
    }
  }

  async #page(source: RecordSource, limit: number, before?: number): Promise<RecordedPage | undefined> {
    const page = await source.page(limit, before);
    if (page === undefined) this.#unreachable.add(source.name);
    return page;
  }
}

const timeOf = ({ page, at }: Open): string => page.requests[at]?.time ?? '';

/** Takes the requests of a process that are newer than all of the others. */
function runOf(newest: Open, open: readonly Open[], most: number): readonly RecordedRequest[] {
  const others = open.filter((each) => each !== newest).map(timeOf);
  const bound = others.toSorted().at(-1) ?? '';
  const from = newest.at;
  do newest.at++;
  while (newest.at < newest.page.requests.length && newest.at - from < most && timeOf(newest) > bound);
  return newest.page.requests.slice(from, newest.at);
}
