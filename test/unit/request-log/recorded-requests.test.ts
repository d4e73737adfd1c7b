import { expect } from 'chai';
import type { RecordedPage, RecordedRequest } from '../../../src/model/recent-request.ts';
import { RecordedRequests, type RecordSource } from '../../../src/request-log/recorded-requests.ts';

/** Times of a process, oldest first, as its ring has them. */
function sourceOf(
  name: string,
  times: readonly number[],
  answers = Number.POSITIVE_INFINITY,
): RecordSource & { asked: number[] } {
  const asked: number[] = [];
  return {
    name,
    asked,
    page: async (limit, before = times.length): Promise<RecordedPage | undefined> => {
      asked.push(limit);
      if (asked.length > answers) return undefined;
      const from = Math.max(0, before - limit);
      const requests = times
        .slice(from, before)
        .reverse()
        .map((ms) => ({ time: new Date(ms).toISOString() }) as RecordedRequest);
      return { headers: [name], query: [], requests, before: from === 0 ? null : from };
    },
  };
}

async function newest(sources: readonly RecordSource[], limit: number) {
  const recorded = new RecordedRequests(sources);
  const found: [name: string | undefined, ms: number][] = [];
  for await (const { headers, requests } of recorded.newest(limit))
    for (const { time } of requests) found.push([headers[0], Date.parse(time)]);
  return { found, unreachable: recorded.unreachable };
}

const upTo = (count: number, step: number, from = 0) => Array.from({ length: count }, (_, at) => from + at * step);

describe('recorded requests of several processes', () => {
  it('are the newest of all, in one order', async () => {
    const { found } = await newest(
      [sourceOf('a', upTo(100, 3)), sourceOf('b', upTo(200, 2, 1)), sourceOf('c', [])],
      120,
    );
    const all = [...upTo(100, 3).map((ms) => ['a', ms]), ...upTo(200, 2, 1).map((ms) => ['b', ms])] as const;
    const times = all.map(([, ms]) => Number(ms)).sort((x, y) => y - x);
    expect(found.map(([, ms]) => ms)).to.deep.equal(times.slice(0, 120));
    expect(new Set(found.map(([name]) => name))).to.deep.equal(new Set(['a', 'b']));
  });

  it('are all there are where these are fewer than the limit', async () => {
    const { found, unreachable } = await newest([sourceOf('a', upTo(700, 1)), sourceOf('b', upTo(3, 1))], 10_000);
    expect([found.length, unreachable]).to.deep.equal([703, []]);
  });

  it('are asked for in pages, and no more of them than is wanted', async () => {
    const quiet = sourceOf('quiet', upTo(5_000, 1));
    const { found } = await newest([quiet, sourceOf('busy', upTo(1_000, 1, 1_000_000))], 600);
    expect(found.every(([name]) => name === 'busy')).to.equal(true);
    expect(quiet.asked).to.deep.equal([200]);
  });

  it('name a process that does not answer, or not to the end, and keep the others', async () => {
    const sources = [sourceOf('b', upTo(10, 1), 0), sourceOf('a', upTo(1_000, 1), 1), sourceOf('c', upTo(5, 1))];
    const { found, unreachable } = await newest(sources, 10_000);
    expect([found.length, unreachable]).to.deep.equal([205, ['a', 'b']]);
  });
});
