// Floods, each on one connection: the connection ends with ENHANCE_YOUR_CALM before it has caused much work.
import { expect } from 'chai';
import { guards } from '../../../../src/proxy/http2/guards.ts';
import {
  block,
  END_HEADERS,
  frame,
  greeting,
  post,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';

const get = (id: number): Buffer => frame('HEADERS', WHOLE, id, request());

/** Sends part after part until the connection has ended; returns how many it took. */
function flood(bed: SessionBed, part: (at: number) => Buffer, most: number): number {
  bed.arrive(greeting);
  for (let at = 0; at < most; at++) {
    bed.arrive(part(at));
    if (bed.failed === undefined) continue;
    expect(bed.said().at(-1)).to.equal('GOAWAY calm');
    return at + 1;
  }
  return Number.POSITIVE_INFINITY;
}

describe('a client that floods', () => {
  for (const [what, part, most] of [
    [
      'RST_STREAM (rapid reset)',
      (at: number) => Buffer.concat([frame('HEADERS', END_HEADERS, 2 * at + 1, post()), reset(2 * at + 1)]),
      101,
    ],
    [
      'its own faults (made you reset)',
      (at: number) =>
        Buffer.concat([
          frame('HEADERS', END_HEADERS, 2 * at + 1, post()),
          frame('WINDOW_UPDATE', 0, 2 * at + 1, uint32(0)),
        ]),
      101,
    ],
    ['malformed requests', (at: number) => frame('HEADERS', WHOLE, 2 * at + 1, block([':method', 'GET'])), 101],
    ['SETTINGS', () => settings(), guards.settings.burst],
    ['PING', () => frame('PING', 0, 0, Buffer.alloc(8)), guards.pings.burst + 1],
    ['PRIORITY', () => frame('PRIORITY', 0, 1, Buffer.alloc(5)), guards.idleFrames.burst + 1],
    ['WINDOW_UPDATE', () => frame('WINDOW_UPDATE', 0, 0, uint32(1)), guards.idleFrames.burst + 1],
    ['unknown frames', () => frame(99, 0, 0, Buffer.alloc(100)), guards.idleFrames.burst + 1],
  ] as const) {
    it(`with ${what} gets ENHANCE_YOUR_CALM`, () => {
      const bed = new SessionBed();
      bed.answers = false;
      expect(flood(bed, part, 20_000)).to.be.at.most(most);
    });
  }

  it('with empty DATA, streams beyond the limit or endless header blocks gets it too', () => {
    const empty = new SessionBed();
    const emptyData = (at: number) => (at === 0 ? frame('HEADERS', END_HEADERS, 1, post()) : frame('DATA', 0, 1));
    expect(flood(empty, emptyData, 1_000)).to.equal(guards.emptyData.burst + 2);

    const padded = new SessionBed();
    const padding = (at: number) =>
      at === 0 ? frame('HEADERS', END_HEADERS, 1, post()) : frame('DATA', 0x8, 1, Buffer.from([3, 0, 0, 0]));
    expect(flood(padded, padding, 1_000)).to.equal(guards.emptyData.burst + 2);

    const small = new SessionBed();
    const byte = frame('DATA', 0, 1, Buffer.from('x'));
    const bytes = Buffer.concat(Array.from({ length: 1_000 }, () => byte));
    const smallData = (at: number) => (at === 0 ? frame('HEADERS', END_HEADERS, 1, post()) : bytes);
    expect(flood(small, smallData, 1_000)).to.equal(guards.smallData.burst / 1_000 + 2);

    const many = new SessionBed({ streamsMax: 10 });
    many.answers = false;
    expect(flood(many, (at) => get(2 * at + 1), 1_000)).to.equal(10 + guards.streamErrors.burst + 1);

    const endless = new SessionBed();
    const part = (at: number) =>
      at === 0 ? frame('HEADERS', 0, 1, request()) : frame('CONTINUATION', 0, 1, Buffer.alloc(16_384));
    expect(flood(endless, part, 1_000)).to.be.at.most(66);

    const emptyParts = new SessionBed();
    const emptyPart = (at: number) => (at === 0 ? frame('HEADERS', 0, 1, request()) : frame('CONTINUATION', 0, 1));
    expect(flood(emptyParts, emptyPart, 1_000)).to.equal(guards.blockFramesMax + 1);
  });

  it('is not one that streams small messages as fast as gRPC does', () => {
    const bed = new SessionBed();
    bed.arrive(Buffer.concat([greeting, frame('HEADERS', END_HEADERS, 1, post())]));
    const messages = Buffer.concat(Array.from({ length: 400 }, () => frame('DATA', 0, 1, Buffer.alloc(20))));
    for (let at = 0; at < 1_000; at++) {
      bed.arrive(messages);
      bed.clock.advance(10);
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('is not one that sends the same in its time', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(greeting);
    for (let at = 0; at < 1_000; at++) {
      bed.arrive(Buffer.concat([get(2 * at + 1), reset(2 * at + 1), frame('PING', 0, 0, Buffer.alloc(8))]));
      bed.clock.advance(11);
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('gains nothing by opening windows by single bytes', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 0), get(1)]));
    answer(bed, 1);
    bed.stream(1).sendData(Buffer.alloc(60_000));
    let sent = 0;
    for (; bed.failed === undefined && sent < 60_000; sent++) bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(1)));
    expect(sent).to.be.at.most(guards.smallFrames.burst + 1);
  });

  it('is not one that opens both windows for each 4 KiB that it reads, as Go’s does, nor when it reads late', () => {
    const bed = new SessionBed();
    bed.answers = false;
    const room = uint32(4 << 20);
    bed.arrive(Buffer.concat([greeting, settings(4, 4 << 20), frame('WINDOW_UPDATE', 0, 0, room), get(1)]));
    answer(bed, 1);
    const read = uint32(4_096);
    const both = Buffer.concat([frame('WINDOW_UPDATE', 0, 0, read), frame('WINDOW_UPDATE', 0, 1, read)]);
    bed.stream(1).sendData(Buffer.alloc(4 << 20));
    bed.written();
    for (let at = 0; at < 1_024; at++) bed.arrive(both);
    for (let at = 0; at < 5_000; at++) {
      if (at % 100 === 0) bed.stream(1).sendData(Buffer.alloc(100 * 4_096));
      if (at % 100 === 0) bed.written();
      bed.arrive(both);
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('is not one whose windows leave a byte over each time, as Node’s do with large responses', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 1), get(1)]));
    answer(bed, 1);
    const window = uint32(2 * 16_384 + 1);
    const windows = 2 * guards.smallFrames.burst;
    for (let at = 0; at < windows; at++) {
      if (at % 100 === 0) bed.stream(1).sendData(Buffer.alloc(100 * (2 * 16_384 + 1) + 1));
      bed.arrive(Buffer.concat([frame('WINDOW_UPDATE', 0, 0, window), frame('WINDOW_UPDATE', 0, 1, window)]));
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('with windows of zero loses its connection', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 0)]));
    for (let at = 0; at <= guards.stalledStreamsMax; at++) {
      bed.arrive(get(2 * at + 1));
    }
    answerBegun(bed);
    bed.clock.advance(60_000);
    bed.session.checkStall();
    expect(bed.failed).to.equal(undefined);
    // Single bytes of window are no reading.
    for (let second = 0; second < guards.stalledMs / 1_000; second++) {
      answerBegun(bed);
      bed.arrive(Buffer.concat([1, 3, 5].map((id) => frame('WINDOW_UPDATE', 0, id, uint32(1)))));
      bed.clock.advance(1_000);
      bed.session.checkStall();
    }
    expect(bed.failed).to.include('ENHANCE_YOUR_CALM');
  });

  it('with tiny windows has few requests in flight, the others as these end or time passes', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 1)]));
    const most = guards.begunWithTinyWindow;
    bed.arrive(Buffer.concat(Array.from({ length: 60 }, (_, at) => get(2 * at + 1))));
    bed.written();
    expect(bed.streams.size).to.equal(most);
    for (let at = 0; at < most; at++) bed.arrive(reset(2 * at + 1));
    bed.written();
    expect(bed.streams.size).to.equal(2 * most);
    bed.session.checkStall();
    expect(bed.streams.size).to.equal(2 * most + guards.begunPerTick);
    // A request reset while it waited never begins, and delays no other.
    for (let id = 61; id < 119; id += 2) bed.arrive(reset(id));
    bed.session.checkStall();
    bed.written();
    bed.arrive(settings(4, 65_535));
    bed.written();
    expect([...bed.streams.keys()].filter((id) => id > 61)).to.deep.equal([119]);
    expect(bed.session.requestsWait).to.equal(false);
    expect(bed.failed).to.equal(undefined);
  });

  it('begins no request before it has read earlier responses', () => {
    const bed = new SessionBed();
    bed.arrive(greeting);
    bed.waiting = guards.unsentBytesMax;
    for (let at = 0; at < 100; at++) bed.arrive(get(2 * at + 1));
    bed.written();
    bed.session.checkStall();
    expect(bed.heard).to.deep.equal([]);
    bed.waiting = 0;
    bed.session.onDrain();
    bed.written();
    expect(bed.heard.filter((heard) => heard.endsWith('end'))).to.have.length(100);
    expect(bed.failed).to.equal(undefined);
  });

  it('is not one whose frames waited while the thread was blocked for seconds', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 0)]));
    for (let at = 0; at <= guards.stalledStreamsMax; at++) {
      bed.arrive(get(2 * at + 1));
    }
    answerBegun(bed);
    bed.session.checkStall();
    bed.clock.advance(60_000);
    bed.session.checkStall();
    expect(bed.failed).to.equal(undefined);
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(5_000)));
    for (let second = 0; second < 2; second++) {
      bed.clock.advance(1_000);
      bed.session.checkStall();
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('is not one whose many streams are read slowly', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 0)]));
    for (let at = 0; at < 100; at++) {
      bed.arrive(get(2 * at + 1));
    }
    answerBegun(bed);
    for (let second = 0; second < 20; second++) {
      bed.session.checkStall();
      bed.arrive(frame('WINDOW_UPDATE', 0, 2 * second + 1, uint32(2_000)));
      bed.clock.advance(1_000);
    }
    expect(bed.failed).to.equal(undefined);
  });

  it('loses its connection in the middle of a head with endless fields, in one frame or in many', () => {
    const many = Buffer.concat([request(), Buffer.alloc(16_000, 0x82)]);
    for (const flags of [WHOLE, 0]) {
      const bed = new SessionBed();
      bed.arrive(Buffer.concat([greeting, frame('HEADERS', flags, 1, many)]));
      expect(bed.failed).to.include('ENHANCE_YOUR_CALM');
    }
  });

  it('keeps no more than its share of memory with heads that decode to much', () => {
    const bed = new SessionBed();
    bed.answers = false;
    const entry = Buffer.concat([Buffer.from('40016b7fa11e', 'hex'), Buffer.alloc(4_000, 0x76)]);
    bed.arrive(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, Buffer.concat([request(), entry]))]));
    const bomb = Buffer.concat([request(), Buffer.alloc(100, 0xbe)]);
    for (let at = 1; at < 100; at++) bed.arrive(frame('HEADERS', WHOLE, 2 * at + 1, bomb));
    const held = bed.heard.filter((heard) => heard.includes('GET')).length;
    expect(held).to.be.at.most(Math.ceil(guards.openHeadBytesMax / 400_000) + 1);
    expect(bed.failed).to.include('ENHANCE_YOUR_CALM');
    expect(bed.session.streamCount).to.equal(0);
  });
});

/** Responses to all requests that have begun; their bodies have to wait. */
function answerBegun(bed: SessionBed): void {
  for (const [id, stream] of bed.streams) {
    if (stream.wantsRoom) continue;
    answer(bed, id);
    stream.sendData(Buffer.alloc(60_000));
  }
}

/** The head of a response whose body is to come. */
function answer(bed: SessionBed, id: number): void {
  bed.encoder.begin();
  bed.encoder.status(200);
  bed.stream(id).sendHead(bed.encoder, false);
}

function reset(id: number): Buffer {
  return frame('RST_STREAM', 0, id, uint32(8));
}
