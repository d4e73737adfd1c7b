// Bodies to clients that return their windows by every policy that RFC 9113 §6.9 allows, against a model of such a client.
import { expect } from 'chai';
import { guards } from '../../../../src/proxy/http2/guards.ts';
import { heldLookMs } from '../../../../src/proxy/http2/send-threshold.ts';
import type { Stream } from '../../../../src/proxy/http2/stream.ts';
import { frame, greeting, request, settings, uint32, WHOLE } from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';
import { seededRandom } from '../../../support/random.ts';

/** `each`: what a frame took, frame by frame. `half`: once half of the window is used. `empty`: once none is left. */
type Policy = 'each' | 'half' | 'empty';

interface Outcome {
  readonly received: number;
  readonly ended: boolean;
  readonly frames: number;
  /** Frames below 64 bytes. */
  readonly small: number;
  /** Number of times that nothing happened until time passed. */
  readonly waits: number;
  readonly failed: string | undefined;
}

const get = (id: number): Buffer => frame('HEADERS', WHOLE, id, request());
const begin = (bed: SessionBed, id: number): Stream => {
  bed.encoder.begin();
  bed.encoder.status(200);
  bed.stream(id).sendHead(bed.encoder, false);
  return bed.stream(id);
};

/** Bytes that a client has taken and not given back, of one window. */
class Window {
  readonly #size: number;
  readonly #policy: Policy;
  #used = 0;

  constructor(size: number, policy: Policy) {
    this.#size = size;
    this.#policy = policy;
  }

  /** Returns the bytes to give back after so many have arrived. */
  take(bytes: number): number {
    this.#used += bytes;
    if (this.#policy === 'half' && this.#used * 2 < this.#size) return 0;
    if (this.#policy === 'empty' && this.#used < this.#size) return 0;
    const back = this.#used;
    this.#used = 0;
    return back;
  }
}

/** Content of all bodies. */
const zeros = Buffer.alloc(65_536);

/** `streams` bodies of `bytes`, sent in chunks of at most `chunkMax`, to a client that reads a frame at a time. */
function download(
  random: () => number,
  policy: Policy,
  windowBytes: number,
  about: { bytes: number; chunkMax: number; streams?: number },
): Outcome {
  const bed = new SessionBed();
  bed.answers = false;
  const ids = Array.from({ length: about.streams ?? 1 }, (_, at) => 2 * at + 1);
  bed.arrive(Buffer.concat([greeting, settings(4, windowBytes), ...ids.map(get)]));
  const left = new Map(ids.map((id) => [id, about.bytes]));
  const windows = new Map([
    [0, new Window(65_535, policy)],
    ...ids.map((id) => [id, new Window(windowBytes, policy)] as const),
  ]);
  const outcome = { received: 0, ended: false, frames: 0, small: 0, waits: 0, failed: undefined as string | undefined };
  let ended = 0;
  let waitsInARow = 0;
  const back: [streamId: number, bytes: number][] = [];
  const feed = (): void => {
    for (const [id, bytes] of left) {
      let rest = bytes;
      const stream = bed.stream(id);
      while (rest > 0 && !stream.wantsRoom && !stream.over) {
        const chunk = Math.min(rest, 1 + Math.floor(random() * about.chunkMax));
        rest -= chunk;
        stream.sendData(zeros.subarray(0, chunk));
        if (rest === 0) stream.sendEnd();
      }
      left.set(id, rest);
    }
  };
  for (const id of ids) begin(bed, id);
  while (ended < ids.length && bed.failed === undefined && waitsInARow < 10) {
    feed();
    const frames = bed.frames().filter(({ type }) => type === 'DATA');
    for (const { streamId, payload, flags } of frames) {
      outcome.received += payload.length;
      outcome.frames++;
      const ends = (flags & 1) !== 0;
      if (payload.length < 64 && !ends) outcome.small++;
      if (ends) ended++;
      for (const id of ends ? [0] : [streamId, 0]) {
        const bytes = windows.get(id)?.take(payload.length) ?? 0;
        if (bytes > 0) back.push([id, bytes]);
      }
    }
    if (frames.length === 0 && back.length === 0) {
      outcome.waits++;
      waitsInARow++;
      bed.clock.advance(heldLookMs);
    } else waitsInARow = 0;
    // Some of what it has read the client gives back now, and the rest later.
    for (let most = Math.ceil(random() * 8); most > 0 && back.length > 0; most--) {
      const [id, bytes] = back.shift() ?? [0, 0];
      bed.arrive(frame('WINDOW_UPDATE', 0, id, uint32(bytes)));
    }
    // As fast as data travels: guards that count by the second are not what this is about.
    if (outcome.frames % 50 === 0) bed.clock.advance(1);
  }
  return { ...outcome, ended: ended === ids.length, failed: bed.failed };
}

describe('the window of a client', () => {
  for (const policy of ['each', 'half', 'empty'] as const) {
    it(`carries whole bodies in sensible frames where it is returned ${policy}`, () => {
      for (let seed = 1; seed <= 60; seed++) {
        const random = seededRandom(seed);
        const size = [64, 100, 1_000, 5_000, 16_384, 30_000, 65_535, 100_000, 1_000_000][seed % 9] ?? 0;
        const streams = 1 + (seed % 3);
        const bytes = Math.min(3_000_000, size * 300) + Math.floor(random() * 1_000);
        // Small chunks are small frames by themselves.
        const outcome = download(random, policy, size, { bytes, chunkMax: 65_536, streams });
        const note = `seed ${seed}, window ${size}, ${JSON.stringify(outcome)}`;
        expect(outcome.failed, note).to.equal(undefined);
        expect([outcome.received, outcome.ended], note).to.deep.equal([bytes * streams, true]);
        // Ends of chunks; and what leaves after it has waited in vain.
        expect(outcome.small, note).to.be.at.most((bytes * streams) / 32_768 / 4 + outcome.waits + 5);
        if (size >= 65_535) expect(outcome.frames, note).to.be.at.most(((bytes * streams) / 16_384) * 3);
        if (policy !== 'empty') expect(outcome.waits, note).to.be.at.most(size < 1_000 ? 200 : 12);
      }
    });
  }

  it('of a few bytes is filled, and its client waits for the guard alone', () => {
    for (const size of [1, 2, 7, 63]) {
      for (const policy of ['each', 'empty'] as const) {
        const bytes = size * (guards.smallFrames.burst - 1);
        const outcome = download(seededRandom(size), policy, size, { bytes, chunkMax: 1_000 });
        expect(outcome.failed).to.equal(undefined);
        expect([outcome.received, outcome.ended]).to.deep.equal([bytes, true]);
      }
    }
  });

  it('that is returned only when it is empty holds no body up for long', () => {
    const outcome = download(seededRandom(1), 'empty', 50_001, { bytes: 4_000_000, chunkMax: 65_536 });
    expect(outcome.ended).to.equal(true);
    expect(outcome.waits).to.be.at.most(20);
  });

  it('delays no message that it has room for', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, get(1)]));
    const stream = begin(bed, 1);
    stream.sendData(Buffer.alloc(65_535 - 25));
    bed.written();
    for (const length of [5, 20]) {
      expect(stream.sendData(Buffer.alloc(length))).to.equal(true);
      expect(bed.said()).to.deep.equal([`DATA 1 ${length}`]);
    }
  });

  it('that has room for part of a message carries it once a wider one has not come in a moment, end and trailers too', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, get(1)]));
    const stream = begin(bed, 1);
    stream.sendData(Buffer.alloc(65_535 - 25));
    bed.written();
    expect(stream.sendData(Buffer.alloc(30))).to.equal(false);
    stream.sendEnd();
    expect(bed.said()).to.deep.equal([]);
    bed.clock.advance(2 * heldLookMs);
    bed.clock.advance(2 * heldLookMs);
    expect(bed.said()).to.deep.equal(['DATA 1 25']);
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(5)));
    bed.arrive(frame('WINDOW_UPDATE', 0, 0, uint32(5)));
    expect(bed.said()).to.deep.equal(['DATA 1 5$']);
  });

  it('of the connection, short of room, holds no stream back for ever while others are given more', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 1_000_000), get(1), get(3)]));
    begin(bed, 1).sendData(Buffer.alloc(65_000));
    begin(bed, 3).sendData(Buffer.alloc(65_000));
    bed.written();
    let sent = 0;
    for (let at = 0; at < 20; at++) {
      bed.clock.advance(heldLookMs);
      bed.arrive(frame('WINDOW_UPDATE', 0, 0, uint32(100)));
      bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(100)));
      for (const { type, streamId, payload } of bed.frames())
        if (type === 'DATA' && streamId === 3) sent += payload.length;
    }
    expect(sent).to.be.greaterThan(1_000);
  });

  it('leaves nothing in the wheel when its connection ends while a frame waits', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, get(1)]));
    begin(bed, 1).sendData(Buffer.alloc(70_000));
    bed.arrive(frame('WINDOW_UPDATE', 0, 0, uint32(10)));
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(10)));
    expect(bed.clock.pending).to.equal(1);
    bed.session.lost('gone');
    bed.clock.advance(heldLookMs);
    expect(bed.clock.pending).to.equal(0);
  });
});
