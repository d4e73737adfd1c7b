import { expect } from 'chai';
import { type Sender, SendQueue } from '../../../src/feed/send-queue.ts';

/** Time that passes only while somebody writes. */
class Bench {
  now = 0;
  readonly turns: (() => void)[] = [];
  readonly timers = new Set<() => void>();
  readonly written: string[] = [];
  readonly queue = new SendQueue({
    now: () => this.now,
    after: (_delayMs, run) => {
      this.timers.add(run);
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
  it('writes at once while there is nobody else', () => {
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
    for (const expire of [...bench.timers]) expire();
    bench.turn();
    bench.turn();
    expect(bench.written).to.deep.equal(['b0', 'b1', 'b2', 'b3', 'b4']);
    // What is over is over once.
    for (const each of big) each.done();
    bench.turn();
    expect(bench.written).to.have.length(6);
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
