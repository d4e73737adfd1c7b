// Reading of a mirror's response beside its primary: counted in chunks and turns of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { DroppedResponse } from '../../../../../src/proxy/forward/mirror/dropped-response.ts';
import type { BodySink, BodySource } from '../../../../../src/proxy/message/body.ts';
import { Wheel } from '../../../../../src/proxy/wheel.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

/** A body that is there whole, in chunks, and is delivered until its sink is full. */
class ReadyBody implements BodySource {
  delivered = 0;
  readonly #chunks: number;
  readonly #chunk: Buffer;
  #sink: BodySink | undefined;

  constructor(chunks: number, bytes: number) {
    this.#chunks = chunks;
    this.#chunk = Buffer.alloc(bytes);
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  pause(): void {}

  abort(): void {}

  resume(): void {
    while (this.delivered < this.#chunks) {
      this.delivered += 1;
      if (this.#sink?.data(this.#chunk) === false) break;
    }
    if (this.delivered === this.#chunks) this.#sink?.end('');
  }
}

function reading(chunks: number, bytes: number) {
  const clock = new ManualClock();
  const primary = { isOver: false };
  const ends = { count: 0 };
  const body = new ReadyBody(chunks, bytes);
  const dropped = new DroppedResponse(body, primary, new Wheel(clock), undefined, () => {
    ends.count += 1;
  });
  body.start(dropped);
  const over = () => {
    primary.isOver = true;
    dropped.onPrimaryOver();
  };
  return { clock, ends, body, dropped, over };
}

const part = 64 << 10;

describe('the response of a mirror', () => {
  it('is read at once where it is short', () => {
    const { ends, body } = reading(10, 1_000);
    expect(body.delivered).to.equal(10);
    expect(ends.count).to.equal(1);
  });

  it('is read no further than a part while the primary passes, and then a part in each turn', async () => {
    const { ends, body, over } = reading(8, part);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(body.delivered).to.equal(1);
    over();
    expect(body.delivered, 'nothing within the turn of the primary').to.equal(1);
    for (let delivered = 2; delivered <= 8; delivered++) {
      await nextTurn();
      expect(body.delivered).to.equal(delivered);
    }
    expect(ends.count).to.equal(1);
  });

  it('waits for a primary for a limited time, and once', async () => {
    const { clock, ends, body } = reading(3, part);
    for (let slot = 0; slot < 5; slot++) clock.advance(50);
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(body.delivered).to.equal(3);
    expect(ends.count).to.equal(1);
    expect(clock.pending).to.be.at.most(1);
  });

  it('is read no more once it is given up', async () => {
    const { ends, body, dropped, over } = reading(3, part);
    dropped.close();
    over();
    await nextTurn();
    await nextTurn();
    expect(body.delivered).to.equal(1);
    expect(ends.count).to.equal(0);
  });
});
