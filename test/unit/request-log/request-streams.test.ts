import { createServer } from 'node:http';
import { expect } from 'chai';
import type { RecentRequest } from '../../../src/model/answers/request-answers.ts';
import type { RecentSource } from '../../../src/model/recent-request.ts';
import { RecentStreams } from '../../../src/request-log/request-streams.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { listening } from '../../support/proxy-bed.ts';
import { type FollowedStream, followStream } from '../../support/request-stream.ts';

type Passes = (request: RecentRequest) => boolean;

describe('streams of recent requests', () => {
  const clock = new ManualClock();
  const source = {
    capacity: 1_000,
    counts: { seen: 0, kept: 0, oneIn: 1, oneInOfErrors: 1 },
    end: 0,
    at: (number: number) => ({ path: `/${number}` }) as RecentRequest,
  };
  const streams = new RecentStreams(source as unknown as RecentSource, clock);
  const filters: Passes[] = [];
  const server = createServer((_, response) => streams.attach(response, filters.shift() ?? (() => true)));
  const followers: FollowedStream[] = [];
  after(() => {
    for (const follower of followers) follower.close();
    streams.close();
    server.close();
  });

  it('hold the thread for one scan, however slow the filters of followers are, and lose nothing of a quick one', async () => {
    const port = await listening(server);
    const slow = (): boolean => {
      clock.advance(10);
      return false;
    };
    filters.push(...new Array<Passes>(15).fill(slow), () => true);
    for (let at = 0; at < 16; at++) followers.push(await followStream(`http://127.0.0.1:${port}/`));
    expect(streams.size).to.equal(16);
    const quick = followers[15];
    const requestsOf = () => quick?.events.filter(({ event }) => event === 'request') ?? [];
    const scan = (): number => {
      source.end += 5;
      const before = clock.monotonicMs();
      clock.advance(100);
      return clock.monotonicMs() - before - 100;
    };
    // At first each slow filter is asked once: none is known as slow.
    for (let at = 0; at < 20; at++) expect(scan()).to.be.at.most(18);
    await eventually(() => expect(quick?.events.some(({ event }) => event === 'sampling')).to.equal(true));
    const known = streams.counts.events;
    for (let at = 0; at < 100; at++) expect(scan()).to.be.at.most(18);
    expect(streams.counts.events - known).to.equal(500);
    await eventually(() => expect(requestsOf().length).to.be.at.least(500));
  });
});
