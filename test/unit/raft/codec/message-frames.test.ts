import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';

import {
  encodeFrames,
  FrameDecoder,
  fragmentBytesMax,
  frameBytesMax,
  framesOf,
  type Lane,
  protocolVersion,
} from '../../../../raft/codec/message-frames.ts';

describe('frames', () => {
  it('give back each message whole, however the network cuts them', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 });
    fc.assert(
      fc.property(messages, fc.integer({ min: 1, max: 90 }), (sent, step) => {
        const stream = Buffer.concat(sent.flatMap((message) => encodeFrames(message, 'urgent')));
        expect(receive(chop(stream, step)).messages).to.deep.equal(sent.map((message) => Buffer.from(message)));
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it('cut a large message so that none exceeds the fragment size by more than its head', () => {
    const message = Buffer.alloc(3 * fragmentBytesMax + 5, 'x');
    const frames = encodeFrames(message, 'bulk');
    expect(frames.map((frame) => frame.length)).to.satisfy((all: number[]) =>
      all.every((n) => n < fragmentBytesMax + 32),
    );
    expect(frames).to.have.length(4);
    expect(receive(frames).messages).to.deep.equal([message]);
  });

  it('are the same whether a message comes whole or in pieces', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: fragmentBytesMax }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(pieces, (lengths) => {
        const parts = lengths.map((length, at) => Buffer.alloc(length, `part ${at}`));
        const message = Buffer.concat(parts);
        const frames = [...framesOf(parts, 'bulk')].map((each) => Buffer.concat(each));
        expect(Buffer.concat(frames).equals(Buffer.concat(encodeFrames(message, 'bulk')))).to.equal(true);
        expect(receive(frames).messages[0]?.equals(message)).to.equal(true);
      }),
      { seed: 2, numRuns: 8 },
    );
  });

  it('give a message of several frames memory of its own, and that of one frame not', () => {
    const large = Buffer.alloc(2 * fragmentBytesMax, 'l');
    const seen: [string, boolean][] = [];
    const decoder = new FrameDecoder();
    for (const frame of [...encodeFrames(large, 'bulk'), ...encodeFrames(Buffer.from('v'), 'urgent')])
      decoder.push(frame, (_, lane, isOwn) => seen.push([lane, isOwn]));
    expect(seen).to.deep.equal([
      ['bulk', true],
      ['urgent', false],
    ]);
  });

  it('let an urgent message overtake a large one between two frames', () => {
    const large = Buffer.alloc(2 * fragmentBytesMax, 'l');
    const [first, second] = encodeFrames(large, 'bulk');
    const [urgent] = encodeFrames(Buffer.from('vote'), 'urgent');
    const { messages, lanes } = receive([first!, urgent!, second!]);
    expect(messages).to.deep.equal([Buffer.from('vote'), large]);
    expect(lanes).to.deep.equal(['urgent', 'bulk']);
  });

  it('are refused with a changed byte anywhere', () => {
    const [frame] = encodeFrames(Buffer.from('a message of some length'), 'urgent');
    for (let at = 4; at < frame!.length; at++) {
      const changed = Buffer.from(frame!);
      changed[at] = changed[at]! ^ 0x10;
      expect(receive([changed]).problem, `byte ${at}`).to.be.a('string');
    }
  });

  const broken: [string, Buffer[], RegExp][] = [
    ['longer than 1.25 MiB', [headOf(frameBytesMax)], /frame of 1310720 bytes/],
    ['of HTTP', [Buffer.from('HTTP/1.1 400 Bad Request')], /it speaks HTTP: is this the port of an API\?/],
    ['of an HTTP client', [Buffer.from('GET / HTTP/1.1')], /it speaks HTTP/],
    ['of TLS', [Buffer.from([0x15, 3, 1, 0, 2, 2, 40, 0])], /it speaks TLS: have all members the same raft\.tls\?/],
    ['of another protocol version', [frameOf([9, 2 | 4, 0, 0, 0, 0, 0, 0, 0, 0])], /protocol version 9/],
    ['with flags nobody knows', [frameOf([protocolVersion, 64])], /flags 64/],
    ['that continue nothing', [frameOf([protocolVersion, 4])], /without a beginning/],
    [
      'that announce more than a message may have',
      [frameOf([protocolVersion, 2, 0xff, 0, 0, 0, 0, 0, 0, 0])],
      /message of/,
    ],
    ['that begin a message inside another', [opening(), opening()], /inside another/],
    ['that cut a message into crumbs', [opening(1)], /piece of 1 bytes/],
    ['that end a message too early', [opening(), frameOf([protocolVersion, 4])], /shorter than announced/],
    ['too short to begin a message', [frameOf([protocolVersion, 2])], /cut short/],
  ];
  for (const [what, frames, problem] of broken) {
    it(`are refused: ${what}`, () => expect(receive(frames).problem).to.match(problem));
  }

  it('are not looked at any more after a problem', () => {
    const decoder = new FrameDecoder();
    const good = encodeFrames(Buffer.from('good'), 'urgent')[0]!;
    const problem = decoder.push(frameOf([protocolVersion, 64]), unexpected);
    expect(decoder.push(good, unexpected)).to.equal(problem);
  });

  it('are held to the smaller limits of a connection that has not introduced itself', () => {
    const limits = { frameBytesMax: 4096, messageBytesMax: 4000 };
    const decoder = new FrameDecoder(limits);
    expect(decoder.push(encodeFrames(Buffer.alloc(4200), 'urgent')[0]!, unexpected)).to.match(/frame of/);
  });
});

function unexpected(): void {
  throw new Error('no message was expected');
}

function chop(stream: Buffer, step: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < stream.length; at += step) pieces.push(stream.subarray(at, at + step));
  return pieces;
}

function receive(chunks: readonly Buffer[]) {
  const decoder = new FrameDecoder();
  const messages: Buffer[] = [];
  const lanes: Lane[] = [];
  let problem: string | undefined;
  for (const chunk of chunks) {
    problem = decoder.push(chunk, (message, lane) => {
      messages.push(Buffer.from(message));
      lanes.push(lane);
    });
  }
  return { messages, lanes, problem };
}

function headOf(length: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length, 0);
  return head;
}

function frameOf(body: readonly number[] | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const head = headOf(bytes.length);
  head.writeUInt32BE(crc32(bytes), 4);
  return Buffer.concat([head, bytes]);
}

/** The first frame of a message of 100,000 bytes, carrying `bytes` of them. */
function opening(bytes = 20_000): Buffer {
  const body = Buffer.alloc(10 + bytes);
  body.writeUInt8(protocolVersion, 0);
  body.writeUInt8(2, 1);
  body.writeUInt32BE(100_000, 2);
  return frameOf(body);
}
