import { expect } from 'chai';
import fc from 'fast-check';
import { collected, HeldBody, WholeBody } from '../../../../src/proxy/exchange/held-body.ts';
import type { BodySink, BodySource } from '../../../../src/proxy/message/body.ts';
import { pump } from '../../../../src/proxy/message/body.ts';
import { HeldBodies } from '../../../../src/proxy/middleware/held-bodies.ts';

/** Delivers when told to, and respects a full sink as a socket does. */
class HandSource implements BodySource {
  sink: BodySink | undefined;
  paused = false;
  aborted = false;
  readonly #waiting: (Buffer | 'end')[] = [];

  start(sink: BodySink): void {
    this.sink = sink;
    this.#flow();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#flow();
  }

  abort(): void {
    this.aborted = true;
  }

  push(...parts: readonly (string | 'END')[]): void {
    for (const part of parts) this.#waiting.push(part === 'END' ? 'end' : Buffer.from(part));
    this.#flow();
  }

  #flow(): void {
    while (this.sink !== undefined && !this.paused) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next === 'end') this.sink.end('x: 1\r\n');
      else {
        if (!this.sink.data(next)) this.paused = true;
        // What was given is overwritten once the call returns.
        next.fill(0);
      }
    }
  }
}

/** Takes `room` chunks at a time; `wake` makes room again. */
class HandSink implements BodySink {
  text = '';
  ended = false;
  trailers = '';
  #room: number;
  readonly #each: number;
  #source: BodySource | undefined;

  constructor(each = Number.POSITIVE_INFINITY) {
    this.#each = each;
    this.#room = each;
  }

  from(source: BodySource): void {
    this.#source = source;
  }

  data(chunk: Buffer): boolean {
    if (this.ended) throw new Error('data after the end');
    this.text += chunk.toString();
    return --this.#room > 0;
  }

  end(trailers: string): void {
    this.ended = true;
    this.trailers = trailers;
  }

  fail(): void {}

  wake(): void {
    this.#room = this.#each;
    this.#source?.resume();
  }
}

describe('a held body', () => {
  it('is read until more than the limit has come, and goes on whole', () => {
    const source = new HandSource();
    const held = new HeldBody(source);
    let told = 0;
    expect(held.collect(5, () => told++)).to.equal(false);
    source.push('abc', 'def', 'ghi', 'END');
    expect(told).to.equal(1);
    expect([held.bytes.toString(), held.whole]).to.deep.equal(['abcdef', false]);
    const sink = new HandSink();
    pump(held, sink);
    expect([sink.text, sink.ended, sink.trailers]).to.deep.equal(['abcdefghi', true, 'x: 1\r\n']);
  });

  it('is reported at once when it has arrived already', () => {
    const held = new HeldBody(new WholeBody(Buffer.from('abc')));
    expect(held.collect(10, () => expect.fail('late'))).to.equal(true);
    expect([held.bytes.toString(), held.whole]).to.deep.equal(['abc', true]);
  });

  it('that arrives byte by byte holds twice its bytes at most, in one object, and is passed on in large pieces', () => {
    const source = new HandSource();
    const held = new HeldBody(source);
    held.keep(65_536);
    pump(held, new HandSink());
    for (let i = 0; i < 60_000; i++) source.push('x');
    expect(held.memory).to.be.within(60_000, 2 * 65_536);
    const pieces: number[] = [];
    held.rewind();
    held.start({ from() {}, data: (chunk) => pieces.push(chunk.length) > 0, end() {}, fail() {} });
    expect(pieces).to.deep.equal([60_000]);
  });

  it('releases passed bytes once it is not sent again, and passes on pending ones', () => {
    const source = new HandSource();
    const held = new HeldBody(source);
    held.keep(100);
    const sink = new HandSink(2);
    pump(held, sink);
    source.push('abc', 'def');
    expect(sink.text).to.equal('abcdef');
    held.release();
    expect([held.memory, held.replayable]).to.deep.equal([0, false]);
    source.push('ghi', 'END');
    sink.wake();
    expect([sink.text, sink.ended, held.memory]).to.deep.equal(['abcdefghi', true, 0]);
  });

  it('releases collected bytes once the sink has them, where it is not sent again', () => {
    const source = new HandSource();
    const held = new HeldBody(source);
    held.collect(3, () => {});
    source.push('abcd');
    held.keep(100);
    held.release();
    const sink = new HandSink();
    pump(held, sink);
    source.push('e', 'END');
    expect([sink.text, sink.ended, held.memory]).to.deep.equal(['abcde', true, 0]);
  });

  it('can be sent again while it was kept, and not after more has passed', () => {
    const source = new HandSource();
    const held = new HeldBody(source);
    held.keep(6);
    pump(held, new HandSink());
    source.push('abc', 'def');
    expect(held.replayable).to.equal(true);
    held.rewind();
    const second = new HandSink();
    pump(held, second);
    expect(second.text).to.equal('abcdef');
    source.push('g', 'END');
    expect([second.text, second.ended, held.replayable]).to.deep.equal(['abcdefg', true, false]);
  });

  it('arrives whole and in order when it is split, collected, kept, slowed and sent again', () => {
    const parts = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 12 });
    const numbers = fc.record({ collect: fc.nat(30), keep: fc.nat(60), each: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(parts, fc.nat(12), numbers, fc.boolean(), (chunks, before, { collect, keep, each }, again) => {
        const source = new HandSource();
        const held = new HeldBody(source);
        held.keep(keep);
        source.push(...chunks.slice(0, before));
        if (collect > 0) held.collect(collect, () => {});
        let sink = new HandSink(each);
        pump(held, sink);
        source.push(...chunks.slice(before));
        if (again && held.replayable) {
          held.rewind();
          sink = new HandSink(each);
          pump(held, sink);
        }
        source.push('END');
        for (let i = 0; i < 40 && !sink.ended; i++) sink.wake();
        expect(sink.text).to.equal(chunks.join(''));
        expect(sink.ended).to.equal(true);
      }),
      { numRuns: 500, seed: 7 },
    );
  });

  describe('that is counted among others', () => {
    /** Bodies that may hold ten bytes together. */
    const ten = () => new HeldBodies(10);

    it('ends its collection where there is no room for more, and gives its room back', async () => {
      const bodies = ten();
      const [one, other, third] = [new HandSource(), new HandSource(), new HandSource()];
      const held = new HeldBody(one);
      const count = bodies.count();
      const first = collected(held, 100, count);
      one.push('12345678', 'END');
      expect(await first).to.include({ whole: true, lacksRoom: false });
      const second = collected(new HeldBody(other), 100, bodies.count());
      other.push('123', 'END');
      expect(await second).to.include({ whole: false, lacksRoom: true });
      const sink = new HandSink();
      pump(held, sink);
      expect(sink.text).to.equal('12345678');
      const last = collected(new HeldBody(third), 100, bodies.count());
      third.push('1234567890', 'END');
      expect(await last).to.include({ whole: true, lacksRoom: false });
    });

    it('is counted once, with the bytes that were read before, and not at all after its end', async () => {
      const bodies = ten();
      const source = new HandSource();
      const held = new HeldBody(source);
      const uncounted = collected(held, 3);
      source.push('12345678');
      await uncounted;
      const counts = [bodies.count(), bodies.count()];
      const again = collected(held, 100, counts[0]);
      source.push('9', 'END');
      expect(await again).to.include({ whole: true, lacksRoom: false });
      expect(await collected(held, 100, counts[1])).to.include({ whole: true, lacksRoom: false });
      expect(bodies.count().grow(2)).to.equal(false);
      for (const count of counts) count.release();
      for (const count of counts) expect(count.grow(100), 'nothing is counted any more').to.equal(true);
      expect(bodies.count().grow(10)).to.equal(true);
    });
  });
});
