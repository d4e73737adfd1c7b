// Frames of HTTP/2 as bytes, made and read the slow and obvious way, for tests.
import { preface } from '../../src/proxy/http2/frame.ts';

export interface Frame {
  readonly type: string;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const types = [
  ...['DATA', 'HEADERS', 'PRIORITY', 'RST_STREAM', 'SETTINGS', 'PUSH_PROMISE', 'PING', 'GOAWAY', 'WINDOW_UPDATE'],
  'CONTINUATION',
];

export function frame(
  type: string | number,
  flags: number,
  streamId: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = typeof type === 'number' ? type : types.indexOf(type);
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Every whole frame in the bytes. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const type = types[bytes[at + 3] ?? 0] ?? String(bytes[at + 3]);
    const payload = bytes.subarray(at + 9, at + 9 + length);
    frames.push({ type, flags: bytes[at + 4] ?? 0, streamId: bytes.readUInt32BE(at + 5), payload });
    at += 9 + length;
  }
  return frames;
}

/** Header block of literals without indexing. */
export function block(...fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

export const request = (...more: readonly (readonly [name: string, value: string])[]): Buffer =>
  block([':method', 'GET'], [':scheme', 'http'], [':authority', 'x'], [':path', '/'], ...more);

export const post = (...more: readonly (readonly [name: string, value: string])[]): Buffer =>
  block([':method', 'POST'], [':scheme', 'http'], [':authority', 'x'], [':path', '/'], ...more);

/** Identifier and value in turn. */
export function settings(...pairs: readonly number[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 3);
  for (let i = 0; i < pairs.length; i += 2) {
    payload.writeUInt16BE(pairs[i] ?? 0, i * 3);
    payload.writeUInt32BE(pairs[i + 1] ?? 0, i * 3 + 2);
  }
  return frame('SETTINGS', 0, 0, payload);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** First bytes of a client: preface and SETTINGS. */
export const greeting = Buffer.concat([preface, settings()]);

export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
export const WHOLE = END_STREAM | END_HEADERS;
export const PADDED = 0x8;
export const PRIORITY = 0x20;
