// Attacks on a connection of HTTP/2, as they were met in the wild.
import {
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  greeting,
  post,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../support/http2-frames.ts';

export interface Attack {
  /** Sent first. */
  readonly opening: Buffer;
  /** Sent again and again; the id is that of an unused stream. */
  readonly part: (id: number) => Buffer;
  /** Number of parts at once. */
  readonly times: number;
  /** Length of a round, where the guard takes longer than any. */
  readonly seconds?: number;
  /** Milliseconds after which it closes by itself: no offender, but the cost of as many connections and requests. */
  readonly leavesAfterMs?: number;
}

const nothing = Buffer.alloc(0);
const large = block([':method', 'GET'], [':scheme', 'http'], [':authority', 'x'], [':path', '/large']);
const opened = (id: number): Buffer => frame('HEADERS', END_HEADERS, id, post());
const flood = (each: Buffer, times = 1_000): Attack => ({ opening: greeting, part: () => each, times });
const perStream = (part: (id: number) => Buffer, times = 500): Attack => ({ opening: greeting, part, times });
const manyLarge = Array.from({ length: 100 }, (_, i) => frame('HEADERS', WHOLE, 2 * i + 1, large));
/** Streams with large responses, of which the windows let through `window` bytes each. */
const starving = (window: number): Buffer => Buffer.concat([greeting, settings(4, window), ...manyLarge]);
/** An entry of 4,000 bytes, and then a head that names it 120 times. */
const entry = Buffer.concat([Buffer.from('40016b7fa11e', 'hex'), Buffer.alloc(4_000, 0x76)]);
const bomb = Buffer.concat([request(), Buffer.alloc(120, 0xbe)]);

const of = <Name extends string>(all: Readonly<Record<Name, Attack>>): Readonly<Record<Name, Attack>> => all;

export const attacks = of({
  'ordinary: 1 request': {
    opening: Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, request())]),
    part: () => nothing,
    times: 0,
    leavesAfterMs: 10,
  },
  'ordinary: 100 responses': {
    opening: Buffer.concat([greeting, ...manyLarge]),
    part: () => nothing,
    times: 0,
    leavesAfterMs: 100,
  },
  'rapid reset': perStream((id) => Buffer.concat([opened(id), frame('RST_STREAM', 0, id, uint32(8))])),
  'made you reset: window': perStream((id) => Buffer.concat([opened(id), frame('WINDOW_UPDATE', 0, id, uint32(0))])),
  'made you reset: length': perStream((id) =>
    Buffer.concat([
      frame('HEADERS', END_HEADERS, id, post(['content-length', '1'])),
      frame('DATA', END_STREAM, id, Buffer.from('xx')),
    ]),
  ),
  continuation: {
    opening: Buffer.concat([greeting, frame('HEADERS', 0, 1, request())]),
    part: () => frame('CONTINUATION', 0, 1, Buffer.alloc(16_000, 0x82)),
    times: 20,
  },
  settings: flood(settings(4, 1_000)),
  ping: flood(frame('PING', 0, 0, Buffer.alloc(8))),
  'empty data': { opening: Buffer.concat([greeting, opened(1)]), part: () => frame('DATA', 0, 1), times: 1_000 },
  'dependency games': flood(frame('PRIORITY', 0, 7, Buffer.concat([uint32(9), Buffer.from([255])]))),
  'hpack bomb': {
    opening: Buffer.concat([greeting, settings(4, 0), frame('HEADERS', WHOLE, 1, Buffer.concat([request(), entry]))]),
    part: (id) => frame('HEADERS', WHOLE, id + 2, bomb),
    times: 500,
  },
  'zero window': { opening: starving(0), part: () => nothing, times: 0, seconds: 8 },
  'windows of 1 byte': {
    opening: starving(1),
    part: (id) => frame('WINDOW_UPDATE', 0, id % 200, uint32(1)),
    times: 1_000,
    seconds: 8,
  },
});

export type AttackName = keyof typeof attacks;
