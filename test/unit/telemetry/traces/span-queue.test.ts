import { expect } from 'chai';
import type { PackedSpans } from '../../../../src/telemetry/traces/span-encoding.ts';
import {
  gatherMs,
  postMax,
  postMsMax,
  queueMax,
  SpanQueue,
  warnMsMin,
} from '../../../../src/telemetry/traces/span-queue.ts';
import { logCapture } from '../../../support/log-capture.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const batch = (count: number): PackedSpans => ({ bytes: new Uint8Array(count), count });
const sizes = (post: readonly PackedSpans[] | undefined): number[] => (post ?? []).map(({ count }) => count);
const total = (post: readonly PackedSpans[]): number => sizes(post).reduce((sum, count) => sum + count, 0);

interface Line {
  readonly lost: number;
  readonly reason: string;
}

type Done = (failure: string | undefined) => void;

function queueWith(answer: (done: Done) => void) {
  const clock = new ManualClock();
  const log = logCapture();
  const lines = (): readonly Line[] => log.lines.map((line) => JSON.parse(line));
  const posts: (readonly PackedSpans[])[] = [];
  const queue = new SpanQueue({
    clock,
    logger: log.logger,
    send(spans, done) {
      posts.push(spans);
      answer(done);
    },
  });
  return { clock, lines, posts, queue };
}

describe('spans on their way to the collector', () => {
  it('gather for a second, or until a post is full', () => {
    const { clock, posts, queue } = queueWith((done) => done(undefined));
    queue.add(batch(2));
    clock.advance(gatherMs - 1);
    expect(posts).to.deep.equal([]);
    queue.add(batch(1));
    clock.advance(1);
    expect(posts.map(sizes)).to.deep.equal([[2, 1]]);
    queue.add(batch(postMax));
    expect(posts.map(sizes)).to.deep.equal([[2, 1], [postMax]]);
  });

  it('go out one post at a time, in order and by whole batches', () => {
    const under: Done[] = [];
    const { clock, posts, queue } = queueWith((done) => under.push(done));
    for (const count of [256, 200, 57, 3]) queue.add(batch(count));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(1);
    under[0]?.(undefined);
    clock.advance(gatherMs);
    expect(posts.map(sizes)).to.deep.equal([
      [256, 200],
      [57, 3],
    ]);
  });

  const collectors: readonly [string, (done: Done) => void][] = [
    ['down', (done) => done('ECONNREFUSED')],
    ['silent', () => {}],
    ['throwing', () => expect.fail('of itself')],
  ];
  for (const [name, answer] of collectors) {
    it(`a collector that is ${name} for ten minutes costs one warning a minute, and the queue stays within its bounds`, () => {
      const { clock, lines, queue } = queueWith(answer);
      let added = 0;
      for (let ms = 0; ms < 10 * warnMsMin; ms += 2_000) {
        for (let i = 0; i < 8; i++) queue.add(batch(250));
        added += 2_000;
        expect(queue.length).to.be.at.most(queueMax);
        clock.advance(2_000);
      }
      expect(lines().length).to.be.within(9, 11);
      const lost = lines().reduce((sum, line) => sum + line.lost, 0);
      // All but those that wait, or lie in a post that has not been abandoned yet.
      expect(lost).to.be.within(added - 60 * 1_000 - queueMax - postMax, added);
    });
  }

  it('an answer after its post was given up changes nothing', async () => {
    const under: Done[] = [];
    const { clock, posts, queue } = queueWith((done) => under.push(done));
    queue.add(batch(1));
    clock.advance(gatherMs);
    clock.advance(postMsMax);
    queue.add(batch(2));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(2);
    under[0]?.(undefined);
    queue.add(batch(3));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(2);
  });

  it('at the end all go out at once, and a collector that does not answer is not waited for', async () => {
    const swift = queueWith((done) => done(undefined));
    for (let i = 0; i < 2 * postMax; i += 256) swift.queue.add(batch(256));
    swift.queue.add(batch(1));
    await swift.queue.close(1_000);
    expect(swift.posts.map(total)).to.deep.equal([postMax, postMax, 1]);
    expect(swift.lines()).to.deep.equal([]);
    const silent = queueWith(() => {});
    for (const count of [postMax, 1]) silent.queue.add(batch(count));
    const closed = silent.queue.close(1_000);
    silent.clock.advance(1_000);
    await closed;
    expect(silent.lines().map(({ lost }) => lost)).to.deep.equal([postMax + 1]);
    expect(silent.clock.pending).to.be.at.most(1);
  });
});
