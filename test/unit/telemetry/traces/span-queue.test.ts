import { expect } from 'chai';
import type { FinishedSpan } from '../../../../src/telemetry/traces/finished-span.ts';
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

const span = (n: number): FinishedSpan => ({ name: String(n) }) as unknown as FinishedSpan;
const spans = (count: number): FinishedSpan[] => Array.from({ length: count }, (_, n) => span(n));

interface Line {
  readonly lost: number;
  readonly reason: string;
}

type Done = (failure: string | undefined) => void;

function queueWith(answer: (done: Done, spans: readonly FinishedSpan[]) => void) {
  const clock = new ManualClock();
  const log = logCapture();
  const lines = (): readonly Line[] => log.lines.map((line) => JSON.parse(line));
  const posts: (readonly FinishedSpan[])[] = [];
  const queue = new SpanQueue({
    clock,
    logger: log.logger,
    send(batch, done) {
      posts.push(batch);
      answer(done, batch);
    },
  });
  return { clock, lines, posts, queue };
}

describe('spans on their way to the collector', () => {
  it('gather for a second, or until a post is full', () => {
    const { clock, posts, queue } = queueWith((done) => done(undefined));
    queue.add(spans(2));
    clock.advance(gatherMs - 1);
    expect(posts).to.deep.equal([]);
    queue.add(spans(1));
    clock.advance(1);
    expect(posts.map(({ length }) => length)).to.deep.equal([3]);
    queue.add(spans(postMax));
    expect(posts.map(({ length }) => length)).to.deep.equal([3, postMax]);
  });

  it('go out one post at a time, in order', () => {
    const under: Done[] = [];
    const { clock, posts, queue } = queueWith((done) => under.push(done));
    queue.add(spans(postMax + 5));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(1);
    under[0]?.(undefined);
    clock.advance(gatherMs);
    expect(posts.map((post) => post[0]?.name)).to.deep.equal(['0', String(postMax)]);
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
        queue.add(spans(2_000));
        added += 2_000;
        expect(queue.length).to.be.at.most(queueMax);
        clock.advance(2_000);
      }
      expect(lines().length).to.be.within(9, 11);
      const lost = lines().reduce((sum, line) => sum + line.lost, 0);
      // All but those that wait, or lie in a post that nobody has given up yet.
      expect(lost).to.be.within(added - 60 * 1_000 - queueMax - postMax, added);
    });
  }

  it('an answer after its post was given up changes nothing', async () => {
    const under: Done[] = [];
    const { clock, posts, queue } = queueWith((done) => under.push(done));
    queue.add(spans(1));
    clock.advance(gatherMs);
    clock.advance(postMsMax);
    queue.add(spans(2));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(2);
    under[0]?.(undefined);
    queue.add(spans(3));
    clock.advance(gatherMs);
    expect(posts.length).to.equal(2);
  });

  it('at the end all go out at once, and a collector that does not answer is not waited for', async () => {
    const swift = queueWith((done) => done(undefined));
    swift.queue.add(spans(2 * postMax + 1));
    await swift.queue.close(1_000);
    expect(swift.posts.map(({ length }) => length)).to.deep.equal([postMax, postMax, 1]);
    expect(swift.lines()).to.deep.equal([]);
    const silent = queueWith(() => {});
    silent.queue.add(spans(postMax + 1));
    const closed = silent.queue.close(1_000);
    silent.clock.advance(1_000);
    await closed;
    expect(silent.lines().map(({ lost }) => lost)).to.deep.equal([postMax + 1]);
    expect(silent.clock.pending).to.be.at.most(1);
  });
});
