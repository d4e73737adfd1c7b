// Session: callbacks, answers, and ends of streams and connections, for given frames.
import { expect } from 'chai';
import { discardedBytesMax, resetAfterMs } from '../../../../src/proxy/http2/early-response-resets.ts';
import { tickBytesMax } from '../../../../src/proxy/http2/frame-writer.ts';
import { Session } from '../../../../src/proxy/http2/session.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import {
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  greeting,
  PADDED,
  PRIORITY,
  post,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const greeted = (options = {}): SessionBed => {
  const bed = new SessionBed(options);
  bed.arrive(greeting);
  bed.frames();
  return bed;
};

const get = (id: number): Buffer => frame('HEADERS', WHOLE, id, request());
const cancel = (id: number): Buffer => frame('RST_STREAM', 0, id, uint32(8));

describe('an HTTP/2 connection of a client', () => {
  it('sends SETTINGS, and reads requests in any fragmentation', () => {
    const bytes = Buffer.concat([
      greeting,
      get(1),
      frame('HEADERS', END_HEADERS, 3, post()),
      frame('DATA', PADDED, 3, Buffer.from([3, ...Buffer.from('hello'), 0, 0, 0])),
      frame('DATA', 0, 3, Buffer.from('abc')),
      frame('HEADERS', WHOLE, 3, block(['x-trailer', 'y'])),
      frame('HEADERS', END_STREAM, 5, request().subarray(0, 10)),
      frame('CONTINUATION', 0, 5, request().subarray(10, 20)),
      frame('CONTINUATION', END_HEADERS, 5, request().subarray(20)),
      frame(0x77, 0xff, 9, Buffer.from('unknown')),
      frame('PING', 0, 0, Buffer.from('12345678')),
    ]);
    for (const partBytes of [bytes.length, 1, 2, 7, 9, 13, 64]) {
      const bed = new SessionBed();
      bed.arrive(bytes, partBytes);
      expect(bed.failed).to.equal(undefined);
      expect(bed.heard.filter((heard) => !heard.includes('data'))).to.deep.equal([
        ...['1 GET /', '1 end', '3 POST /', '3 end', '5 GET /', '5 end'],
      ]);
      const data = bed.heard.filter((heard) => heard.startsWith('3 data')).map((heard) => Number(heard.slice(7)));
      expect(data.reduce((sum, bytes) => sum + bytes, 0)).to.equal(8);
      const said = ['SETTINGS 0', 'WINDOW_UPDATE 0', 'SETTINGS 0', 'HEADERS 1$', 'HEADERS 3$', 'HEADERS 5$', 'PING 0'];
      expect(bed.said()).to.deep.equal(said);
    }
  });

  it('writes the frames of many streams in one tick at once', () => {
    const bed = greeted();
    let writes = 0;
    const socket = { writableLength: 0, write: () => ++writes > 0 };
    const acts: (() => void)[] = [];
    const session = new Session(socket, bed, {
      ...{ server: true, nowMs: () => 0, limits: () => ({ fieldBytesMax: 0, linesMax: 9 }), streamsMax: 128 },
      ...{ streamWindow: 65_535, resetsPerSecond: 9, batcher: turnOf(acts), wheel: new Wheel(new ManualClock()) },
    });
    const bytes = Buffer.concat([greeting, ...Array.from({ length: 8 }, (_, i) => get(2 * i + 1))]);
    session.read(bytes, 0, bytes.length);
    expect(writes).to.equal(0);
    for (const act of acts) act();
    expect(writes).to.equal(1);
  });

  describe('with more requests in one packet than begin in one tick', () => {
    const begun = (bed: SessionBed): number => bed.heard.filter((heard) => heard.endsWith('GET /')).length;
    const packet = (...more: Buffer[]): Buffer =>
      Buffer.concat([...Array.from({ length: 100 }, (_, i) => get(2 * i + 1)), ...more]);

    it('begins the rest in the next ticks, in order', () => {
      const bed = greeted();
      bed.answers = false;
      bed.arrive(packet());
      for (const expected of [8, 16, 24]) {
        expect(begun(bed)).to.equal(expected);
        bed.turn();
      }
      bed.written();
      expect(bed.heard).to.deep.equal(
        Array.from({ length: 100 }, (_, i) => [`${2 * i + 1} GET /`, `${2 * i + 1} end`]).flat(),
      );
      expect(bed.session.requestsWait).to.equal(false);
    });

    it('begins no request before those that wait', () => {
      const bed = greeted();
      bed.arrive(packet());
      bed.arrive(get(201));
      expect(begun(bed)).to.equal(8);
      bed.written();
      expect(bed.heard.at(-1)).to.equal('201 end');
    });

    it('delivers bodies and trailers that arrived meanwhile', () => {
      const bed = greeted();
      bed.arrive(
        packet(
          frame('HEADERS', END_HEADERS, 201, post()),
          frame('DATA', 0, 201, Buffer.from('abc')),
          frame('DATA', END_STREAM, 201, Buffer.from('de')),
          frame('HEADERS', END_HEADERS, 203, post()),
          frame('DATA', 0, 203, Buffer.from('abc')),
          frame('HEADERS', WHOLE, 203, block(['x-trailer', 'y'])),
        ),
      );
      bed.written();
      expect(bed.heard.slice(-6)).to.deep.equal([
        ...['201 POST /', '201 data 5', '201 end', '203 POST /', '203 data 3', '203 end'],
      ]);
      expect(bed.stream(203).trailers?.value(0)).to.equal('y');
    });

    it('never begins a request that was reset before its turn, and reports its end to the host', () => {
      let gone = 0;
      const bed = greeted();
      bed.onStreamGone = () => gone++;
      bed.arrive(packet(...Array.from({ length: 100 }, (_, i) => cancel(2 * i + 1))));
      bed.written();
      expect(begun(bed)).to.equal(8);
      expect(bed.session.streamCount).to.equal(0);
      expect(gone).to.be.greaterThan(100);
    });

    it('ends them over as many ticks when the connection closes', () => {
      const bed = greeted();
      const resets = (): number => bed.heard.filter((heard) => heard.endsWith('reset cancel')).length;
      bed.answers = false;
      bed.arrive(packet());
      bed.written();
      bed.session.lost('gone');
      for (const expected of [0, 8, 16]) {
        expect(resets()).to.equal(expected);
        bed.turn();
      }
      bed.written();
      expect(resets()).to.equal(100);
      expect(bed.session.streamCount).to.equal(0);
    });
  });

  for (const [what, bytes, code] of [
    ['another preface', Buffer.from('GET / HTTP/1.1\r\n\r\nxxxxxxxx'), 'protocol'],
    ['a request before SETTINGS', Buffer.concat([greeting.subarray(0, 24), get(1)]), 'protocol'],
    ['a frame of 16,385 bytes', Buffer.concat([greeting, frame('PING', 0, 0, Buffer.alloc(16_385))]), 'frameSize'],
    ['an even stream', Buffer.concat([greeting, get(2)]), 'protocol'],
    ['DATA on stream 0', Buffer.concat([greeting, frame('DATA', 0, 0)]), 'protocol'],
    ['DATA on an idle stream', Buffer.concat([greeting, frame('DATA', 0, 1)]), 'protocol'],
    ['HEADERS on a stream that ended', Buffer.concat([greeting, get(1), get(1)]), 'streamClosed'],
    ['HEADERS on a stream passed over', Buffer.concat([greeting, get(5), get(3)]), 'protocol'],
    ['CONTINUATION alone', Buffer.concat([greeting, frame('CONTINUATION', 4, 1)]), 'protocol'],
    [
      'a header block interrupted by PING',
      Buffer.concat([greeting, frame('HEADERS', 0, 1, request()), frame('PING', 0, 0, Buffer.alloc(8))]),
      'protocol',
    ],
    [
      'padding as long as its frame',
      Buffer.concat([greeting, frame('HEADERS', WHOLE | PADDED, 1, Buffer.from([9, 1]))]),
      'protocol',
    ],
    [
      'priority cut short',
      Buffer.concat([greeting, frame('HEADERS', WHOLE | PRIORITY, 1, Buffer.from([0, 0]))]),
      'protocol',
    ],
    ['PUSH_PROMISE', Buffer.concat([greeting, frame('PUSH_PROMISE', 4, 1, uint32(2))]), 'protocol'],
    ['SETTINGS of 5 bytes', Buffer.concat([greeting, frame('SETTINGS', 0, 0, Buffer.alloc(5))]), 'frameSize'],
    [
      'an acknowledgement with a payload',
      Buffer.concat([greeting, frame('SETTINGS', 1, 0, Buffer.alloc(6))]),
      'frameSize',
    ],
    ['a window of 2^31', Buffer.concat([greeting, settings(4, 2 ** 31)]), 'flowControl'],
    ['frames of 1 byte at most', Buffer.concat([greeting, settings(5, 1)]), 'protocol'],
    ['push switched to 2', Buffer.concat([greeting, settings(2, 2)]), 'protocol'],
    [
      'a window grown beyond 2^31',
      Buffer.concat([greeting, frame('WINDOW_UPDATE', 0, 0, uint32(2 ** 31 - 1))]),
      'flowControl',
    ],
    ['a window grown by 0', Buffer.concat([greeting, frame('WINDOW_UPDATE', 0, 0, uint32(0))]), 'protocol'],
    [
      'RST_STREAM of 3 bytes',
      Buffer.concat([greeting, get(1), frame('RST_STREAM', 0, 1, Buffer.alloc(3))]),
      'frameSize',
    ],
    ['RST_STREAM on an idle stream', Buffer.concat([greeting, cancel(1)]), 'protocol'],
    ['GOAWAY of 7 bytes', Buffer.concat([greeting, frame('GOAWAY', 0, 0, Buffer.alloc(7))]), 'frameSize'],
    [
      'a block that is not HPACK',
      Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, Buffer.from([0x80]))]),
      'compression',
    ],
  ] as const) {
    it(`ends for ${what}`, () => {
      const bed = new SessionBed();
      bed.arrive(bytes);
      expect(bed.failed).to.be.a('string').that.is.not.empty;
      expect(bed.said()).to.include(`GOAWAY ${code}`);
    });
  }

  it('counts the bytes of a stream against its content-length', () => {
    for (const [length, data] of [
      [3, 'abcd'],
      [5, 'abcd'],
    ] as const) {
      const bed = greeted();
      bed.arrive(frame('HEADERS', END_HEADERS, 1, post(['content-length', String(length)])));
      bed.arrive(frame('DATA', END_STREAM, 1, Buffer.from(data)));
      expect(bed.heard.at(-1)).to.equal('1 reset protocol');
      expect(bed.said()).to.deep.equal(['RST_STREAM 1 protocol']);
    }
  });

  const answeredEarly = (bed: SessionBed, ...ids: readonly number[]): void => {
    for (const id of ids) {
      bed.arrive(frame('HEADERS', END_HEADERS, id, post()));
      bed.encoder.begin();
      bed.encoder.status(404);
      bed.stream(id).clientStops = true;
      bed.stream(id).sendHead(bed.encoder, true);
    }
  };

  it('resets a request at once behind a success where its rest exceeds what would be dropped', () => {
    const bed = greeted();
    bed.arrive(frame('HEADERS', END_HEADERS, 1, post(['content-length', String(discardedBytesMax + 1)])));
    bed.encoder.begin();
    bed.encoder.status(200);
    bed.stream(1).sendHead(bed.encoder, true);
    expect(bed.said()).to.deep.equal(['HEADERS 1$', 'RST_STREAM 1 none']);
  });

  it('opens both windows for the rest of a request with an early response of any kind', () => {
    const length = 5_000_000;
    for (const status of [200, 413]) {
      const bed = greeted();
      bed.arrive(frame('HEADERS', END_HEADERS, 1, post(['content-length', String(length)])));
      bed.arrive(frame('DATA', 0, 1, Buffer.alloc(10_000)));
      bed.encoder.begin();
      bed.encoder.status(status);
      bed.stream(1).sendHead(bed.encoder, true);
      const [head, ofStream, ofConnection] = bed.frames();
      expect([head?.type, head?.flags]).to.deep.equal(['HEADERS', END_HEADERS | END_STREAM]);
      expect([ofStream?.streamId, ofStream?.payload.readUInt32BE()]).to.deep.equal([1, length - 65_535]);
      const room = (1 << 20) - 10_000 + (ofConnection?.payload.readUInt32BE() ?? 0);
      expect([ofConnection?.streamId, room]).to.deep.equal([0, length - 10_000]);
      for (let left = length - 10_000; left > 0; left -= 16_384) {
        const ends = left <= 16_384 ? END_STREAM : 0;
        bed.arrive(frame('DATA', ends, 1, Buffer.alloc(Math.min(left, 16_384))));
      }
      bed.clock.advance(resetAfterMs);
      bed.session.resetEarlyResponses(Number.POSITIVE_INFINITY);
      expect(bed.said().filter((said) => said !== 'WINDOW_UPDATE 0')).to.deep.equal([]);
      expect(bed.failed).to.equal(undefined);
    }
  });

  it('resets an answered request when its rest stops arriving, and tolerates frames in transit', () => {
    const bed = greeted();
    answeredEarly(bed, 1);
    expect(bed.said()).to.deep.equal(['HEADERS 1$', 'WINDOW_UPDATE 1', 'WINDOW_UPDATE 0']);
    bed.arrive(frame('DATA', 0, 1, Buffer.from('late')));
    bed.clock.advance(resetAfterMs);
    bed.session.resetEarlyResponses(Number.POSITIVE_INFINITY);
    expect(bed.said()).to.deep.equal([]);
    bed.clock.advance(resetAfterMs);
    bed.session.resetEarlyResponses(Number.POSITIVE_INFINITY);
    expect(bed.said()).to.deep.equal(['RST_STREAM 1 none']);
    bed.arrive(
      Buffer.concat([frame('DATA', 0, 1, Buffer.from('later')), frame('HEADERS', WHOLE, 1, block(['a', 'b']))]),
    );
    bed.arrive(get(3));
    expect(bed.failed).to.equal(undefined);
    expect(bed.heard.slice(-2)).to.deep.equal(['3 GET /', '3 end']);
  });

  it('resets an answered request whose client sends on, after a number of bytes and after a time', () => {
    const much = greeted();
    answeredEarly(much, 1);
    much.said();
    let bytes = 0;
    for (; bytes <= discardedBytesMax; bytes += 16_384) much.arrive(frame('DATA', 0, 1, Buffer.alloc(16_384)));
    expect(much.said().filter((said) => said !== 'WINDOW_UPDATE 0')).to.deep.equal(['RST_STREAM 1 none']);

    const long = greeted();
    answeredEarly(long, 1);
    long.said();
    let seconds = 0;
    for (; seconds < 60 && !long.said().includes('RST_STREAM 1 none'); seconds++) {
      long.arrive(frame('DATA', 0, 1, Buffer.from('more')));
      long.clock.advance(resetAfterMs);
      long.session.resetEarlyResponses(Number.POSITIVE_INFINITY);
    }
    expect(seconds).to.be.within(29, 32);
    expect([much.failed, long.failed]).to.deep.equal([undefined, undefined]);
  });

  it('remembers an answered request when hundreds of others have ended since', () => {
    const bed = greeted();
    answeredEarly(bed, 1);
    for (let at = 0; at < 600; at++) bed.arrive(get(2 * at + 3));
    bed.written();
    bed.arrive(frame('DATA', 0, 1, Buffer.from('late')));
    bed.arrive(frame('HEADERS', WHOLE, 1, block(['a', 'b'])));
    expect(bed.said()).to.deep.equal([]);
    expect(bed.failed).to.equal(undefined);
  });

  it('does not reset a request that its client has ended by then, and keeps no more than a hundred', () => {
    const bed = greeted();
    answeredEarly(bed, 1, 3, 5);
    bed.arrive(frame('DATA', END_STREAM, 1, Buffer.from('late')));
    bed.arrive(frame('HEADERS', WHOLE, 3, block(['a', 'b'])));
    bed.arrive(frame('RST_STREAM', 0, 5, uint32(8)));
    bed.said();
    bed.clock.advance(resetAfterMs);
    bed.session.resetEarlyResponses(Number.POSITIVE_INFINITY);
    expect(bed.said()).to.deep.equal([]);
    answeredEarly(bed, ...Array.from({ length: 200 }, (_, at) => 7 + 2 * at));
    const resets = bed.said().filter((said) => said.startsWith('RST_STREAM'));
    expect(resets).to.have.length(72);
    expect(resets[0]).to.equal('RST_STREAM 7 none');
    expect(bed.failed).to.equal(undefined);
  });

  it('ends by two GOAWAYs: one as an announcement, one with the last stream', () => {
    const bed = greeted();
    bed.session.announceEnd();
    bed.arrive(get(1));
    bed.session.endAfterThese();
    bed.arrive(get(3));
    expect(bed.said()).to.deep.equal(['GOAWAY none', 'HEADERS 1$', 'GOAWAY none', 'RST_STREAM 3 refused']);
    expect(bed.heard).to.not.include('3 GET /');
  });
});

describe('flow control', () => {
  const responding = (bed: SessionBed, id: number, bytes: number): void => {
    bed.encoder.begin();
    bed.encoder.status(200);
    bed.stream(id).sendHead(bed.encoder, false);
    bed.stream(id).sendData(Buffer.alloc(bytes));
    bed.stream(id).sendEnd();
  };

  it('holds back bytes beyond the window of a stream, and only that stream', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 10), get(1), get(3)]));
    bed.frames();
    responding(bed, 1, 25);
    responding(bed, 3, 10);
    expect(bed.said()).to.deep.equal(['HEADERS 1', 'DATA 1 10', 'HEADERS 3', 'DATA 3 10$']);
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(14)));
    expect(bed.said()).to.deep.equal(['DATA 1 14']);
    bed.arrive(settings(4, 11));
    expect(bed.said()).to.deep.equal(['SETTINGS 0', 'DATA 1 1$']);
  });

  it('lets streams take turns when the window of the connection opens', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 1_000_000), get(1), get(3), get(5)]));
    bed.frames();
    responding(bed, 1, 65_535);
    responding(bed, 3, 40_000);
    responding(bed, 5, 40_000);
    bed.frames();
    bed.arrive(frame('WINDOW_UPDATE', 0, 0, uint32(100_000)));
    expect(bed.said()).to.deep.equal([
      ...['DATA 3 16384', 'DATA 5 16384', 'DATA 3 16384', 'DATA 5 16384', 'DATA 3 7232$', 'DATA 5 7232$'],
    ]);
  });

  it('calls the sender when there is room again', () => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, settings(4, 10), get(1)]));
    bed.encoder.begin();
    bed.encoder.status(200);
    bed.stream(1).sendHead(bed.encoder, false);
    expect(bed.stream(1).sendData(Buffer.alloc(10))).to.equal(true);
    expect(bed.stream(1).sendData(Buffer.alloc(10))).to.equal(false);
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(9)));
    expect(bed.heard).to.not.include('1 room');
    bed.arrive(frame('WINDOW_UPDATE', 0, 1, uint32(1)));
    expect(bed.heard).to.include('1 room');
  });

  it('sends bodies as the socket takes them', () => {
    const bed = greeted();
    bed.answers = false;
    bed.arrive(Buffer.concat([settings(4, 1_000_000), get(1)]));
    bed.waiting = 100_000;
    responding(bed, 1, 5_000);
    expect(bed.said().filter((said) => said.startsWith('DATA'))).to.deep.equal([]);
    bed.waiting = 0;
    bed.session.onDrain();
    expect(bed.said()).to.deep.equal(['SETTINGS 0', 'HEADERS 1', 'DATA 1 5000$']);
  });

  it('sends no more than its share of content in one tick, and continues in the next', () => {
    const bed = greeted();
    bed.answers = false;
    const room = uint32(16 << 20);
    bed.arrive(Buffer.concat([settings(4, 16 << 20), frame('WINDOW_UPDATE', 0, 0, room), get(1), get(3)]));
    responding(bed, 1, tickBytesMax);
    responding(bed, 3, tickBytesMax);
    expect(bed.session.writer.full).to.equal(true);
    expect(bed.session.congested).to.equal(false);
    const sizes = new Map([
      ['1', 0],
      ['3', 0],
    ]);
    for (const said of bed.said()) {
      const [kind, id = '', bytes = '0'] = said.split(' ');
      if (kind === 'DATA') sizes.set(id, (sizes.get(id) ?? 0) + Number.parseInt(bytes, 10));
    }
    expect([...sizes.values()]).to.deep.equal([tickBytesMax, tickBytesMax]);
  });

  it('returns the window of a stream when its receiver has taken the bytes', () => {
    const bed = greeted();
    bed.takes = false;
    bed.arrive(frame('HEADERS', END_HEADERS, 1, post()));
    for (let i = 0; i < 3; i++) bed.arrive(frame('DATA', 0, 1, Buffer.alloc(16_384)));
    expect(bed.heard).to.deep.equal(['1 POST /', '1 data 16384']);
    expect(bed.said()).to.deep.equal([]);
    bed.takes = true;
    bed.stream(1).resume();
    expect(bed.heard.slice(2)).to.deep.equal(['1 data 32768']);
    expect(bed.said()).to.deep.equal(['WINDOW_UPDATE 1']);
  });

  it('resets a stream that sends beyond its window', () => {
    const bed = greeted();
    bed.takes = false;
    bed.arrive(frame('HEADERS', END_HEADERS, 1, post()));
    for (let i = 0; i < 4; i++) bed.arrive(frame('DATA', 0, 1, Buffer.alloc(16_384)));
    expect(bed.heard.at(-1)).to.equal('1 reset flowControl');
  });
});

describe('an HTTP/2 connection to an upstream', () => {
  const opened = (): SessionBed => {
    const bed = new SessionBed({ server: false, streamWindow: 262_144 });
    bed.arrive(settings(3, 2));
    bed.frames();
    return bed;
  };
  const asked = (bed: SessionBed): number => {
    const stream = bed.session.request();
    if (stream === undefined) throw new Error('no room');
    stream.receiver = bed;
    bed.streams.set(stream.id, stream);
    bed.encoder.begin();
    bed.encoder.request('GET', 'http', 'x', '/');
    stream.sendHead(bed.encoder, true);
    return stream.id;
  };
  const ok = (id: number, flags: number): Buffer => frame('HEADERS', flags, id, block([':status', '200']));

  it('reads interim responses, heads, bodies and trailers', () => {
    const bed = opened();
    expect(asked(bed)).to.equal(1);
    bed.arrive(frame('HEADERS', END_HEADERS, 1, block([':status', '103'], ['link', 'x'])));
    bed.arrive(Buffer.concat([ok(1, END_HEADERS), frame('DATA', 0, 1, Buffer.from('abc'))]));
    bed.arrive(frame('HEADERS', WHOLE, 1, block(['grpc-status', '0'])));
    expect(bed.heard).to.deep.equal(['1 103', '1 200', '1 data 3', '1 end']);
    expect(bed.session.streamCount).to.equal(0);
  });

  it('reads more than a hundred interim responses, up to a MiB of them', () => {
    const bed = opened();
    const hint = (value: string) => frame('HEADERS', END_HEADERS, 1, block([':status', '103'], ['link', value]));
    asked(bed);
    for (let i = 0; i < 500; i++) bed.arrive(hint('x'));
    expect(bed.heard.length).to.equal(500);
    for (let i = 0; i < 110; i++) bed.arrive(hint('a'.repeat(10_000)));
    expect(bed.heard.length).to.be.within(600, 609);
    expect(bed.heard.at(-1)).to.equal('1 reset calm');
  });

  it('keeps bytes that a slow receiver has not taken after the stream has ended', () => {
    const bed = opened();
    bed.takes = false;
    asked(bed);
    bed.arrive(Buffer.concat([ok(1, END_HEADERS), frame('DATA', 0, 1, Buffer.from('a'))]));
    bed.arrive(frame('DATA', END_STREAM, 1, Buffer.from('bc')));
    expect(bed.heard).to.deep.equal(['1 200', '1 data 1']);
    bed.takes = true;
    bed.stream(1).resume();
    expect(bed.heard.slice(2)).to.deep.equal(['1 data 2', '1 end']);
  });

  it('has as many streams as the upstream allows', () => {
    const bed = opened();
    asked(bed);
    asked(bed);
    expect(bed.session.request()).to.equal(undefined);
    bed.arrive(ok(1, WHOLE));
    expect(asked(bed)).to.equal(5);
  });

  it('reports which streams the upstream has not processed', () => {
    const bed = opened();
    asked(bed);
    asked(bed);
    bed.arrive(frame('GOAWAY', 0, 0, Buffer.concat([uint32(1), uint32(0)])));
    expect(bed.heard).to.deep.equal(['3 reset none untouched', 'goaway']);
    expect(bed.session.request()).to.equal(undefined);
    bed.arrive(ok(1, WHOLE));
    expect(bed.heard.slice(-2)).to.deep.equal(['1 200', '1 end']);
    const other = opened();
    asked(other);
    other.arrive(frame('RST_STREAM', 0, 1, uint32(7)));
    expect(other.heard).to.deep.equal(['1 reset refused untouched']);
  });

  it('expects no body in a response to HEAD', () => {
    const bed = opened();
    const id = asked(bed);
    bed.stream(id).bodiless = true;
    bed.arrive(frame('HEADERS', WHOLE, 1, block([':status', '200'], ['content-length', '7'])));
    expect(bed.heard).to.deep.equal(['1 200', '1 end']);
  });

  for (const [what, fields] of [
    ['without status', [['a', 'b']]],
    ['with status 101', [[':status', '101']]],
    ['with status 99', [[':status', '099']]],
    [
      'with a method',
      [
        [':status', '200'],
        [':method', 'GET'],
      ],
    ],
    [
      'with connection',
      [
        [':status', '200'],
        ['connection', 'close'],
      ],
    ],
    [
      'with transfer-encoding',
      [
        [':status', '200'],
        ['transfer-encoding', 'chunked'],
      ],
    ],
    [
      'with CR in a value',
      [
        [':status', '200'],
        ['a', 'b\rc'],
      ],
    ],
    [
      'with two lengths',
      [
        [':status', '200'],
        ['content-length', '1'],
        ['content-length', '1'],
      ],
    ],
  ] as [string, [string, string][]][]) {
    it(`refuses a response ${what}`, () => {
      const bed = opened();
      asked(bed);
      bed.arrive(frame('HEADERS', END_HEADERS, 1, block(...fields)));
      expect(bed.heard).to.deep.equal(['1 reset protocol']);
    });
  }
});

function turnOf(acts: (() => void)[]) {
  return {
    add(member: { queued: boolean; flush(): void }) {
      if (member.queued) return;
      member.queued = true;
      acts.push(() => member.flush());
    },
  } as never;
}
