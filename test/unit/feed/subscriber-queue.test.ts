import { expect } from 'chai';
import { type Sender, SendQueue } from '../../../src/feed/subscriber-queue.ts';

/** Clock that moves only while a sender writes. */
class Bench {
  now = 0;
  readonly turns: (() => void)[] = [];
  /** Timers: callbacks, each with its delay. */
  readonly timers = new Map<() => void, number>();
  readonly written: string[] = [];
  readonly queue = new SendQueue({
    now: () => this.now,
    after: (delayMs, run) => {
      this.timers.set(run, delayMs);
      return () => this.timers.delete(run);
    },
    later: (run) => this.turns.push(run),
  });

  sender(name: string, bytes: number, doneAtOnce = true): Sender & { done: () => void } {
    const sender = {
      done: () => {},
      write: (done: () => void): number => {
        this.written.push(name);
        this.now += 3;
        sender.done = done;
        if (doneAtOnce) done();
        return bytes;
      },
    };
    return sender;
  }

  turn(): void {
    for (const run of this.turns.splice(0)) run();
  }
}

describe('the queue of frames', () => {
  it('writes at once while there is no other client', () => {
    const bench = new Bench();
    bench.queue.add(bench.sender('a', 10));
    expect(bench.written).to.deep.equal(['a']);
    expect([bench.turns.length, bench.timers.size]).to.deep.equal([0, 0]);
  });

  it('gives the thread back after some milliseconds, and goes on in the next turn', () => {
    const bench = new Bench();
    const slow = bench.sender('first', 1);
    slow.write = (done) => {
      for (let i = 0; i < 9; i++) bench.queue.add(bench.sender(`s${i}`, 1));
      done();
      return 1;
    };
    bench.queue.add(slow);
    while (bench.written.length < 9) {
      const before = bench.written.length;
      bench.turn();
      expect(bench.written.length - before).to.be.within(1, 3);
    }
    expect(bench.written).to.deep.equal(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7', 's8']);
  });

  it('has so many bytes on their way and no more, until some have left or took too long', () => {
    const bench = new Bench();
    const big = Array.from({ length: 6 }, (_, i) => bench.sender(`b${i}`, 4 * 1024 * 1024, false));
    for (const each of big) bench.queue.add(each);
    bench.turn();
    expect(bench.written).to.deep.equal(['b0', 'b1']);
    big[0]?.done();
    bench.turn();
    expect(bench.written).to.deep.equal(['b0', 'b1', 'b2']);
    for (const expire of [...bench.timers.keys()]) expire();
    bench.turn();
    bench.turn();
    expect(bench.written).to.deep.equal(['b0', 'b1', 'b2', 'b3', 'b4']);
    // What is over is over once.
    for (const each of big) each.done();
    bench.turn();
    expect(bench.written).to.have.length(6);
  });

  it('is not held up for long by many that do not read', () => {
    const bench = new Bench();
    const burst = (first: number): void => {
      for (let i = 0; i < 300; i++) bench.queue.add(bench.sender(`${first + i} does not read`, 2 * 1024 * 1024, false));
      bench.queue.add(bench.sender(`reads behind ${first}`, 2 * 1024 * 1024));
    };
    /** The longest time for which nothing could be written, until it was its turn. */
    const waitOf = (name: string): number => {
      let waitedMs = 0;
      while (!bench.written.includes(name)) {
        bench.turn();
        if (bench.turns.length > 0) continue;
        // All that are on their way take too long, in the order in which they began.
        const over = [...bench.timers];
        waitedMs += Math.max(0, ...over.map(([, delayMs]) => delayMs));
        for (const [expire] of over) {
          bench.timers.delete(expire);
          expire();
        }
      }
      return waitedMs;
    };
    burst(0);
    expect(waitOf('reads behind 0')).to.be.within(200, 1_000);
    // A client that only pauses has the whole limit again once all others had a turn.
    const slow = bench.sender('pauses', 8 * 1024 * 1024, false);
    bench.queue.add(slow);
    bench.turn();
    expect([...bench.timers.values()].at(-1)).to.equal(200);
  });

  it('drops who has gone', () => {
    const bench = new Bench();
    const blocked = [0, 1, 2].map((i) => bench.sender(`b${i}`, 8 * 1024 * 1024, false));
    for (const each of blocked) bench.queue.add(each);
    if (blocked[1]) bench.queue.remove(blocked[1]);
    blocked[0]?.done();
    bench.turn();
    expect(bench.written).to.deep.equal(['b0', 'b2']);
  });
});
