// The server's side of RFC 6455, as far as an echo needs it: one frame of text up to 64 KB in, the same out.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const key = (request: IncomingMessage): string =>
  createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');

/** Handler of the `upgrade` event of a node:http server, which echoes frames. */
export function echoWebSocket(request: IncomingMessage, socket: Duplex): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key(request)}\r\n\r\n`,
  );
  let held = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (let frame = readFrame(held); frame !== undefined; frame = readFrame(held)) {
      socket.write(writeFrame(frame.opcode, frame.payload));
      held = Buffer.from(held.subarray(frame.end));
      if (frame.opcode === close) socket.end();
    }
  });
}

const close = 8;

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  /** Offset of the next frame. */
  readonly end: number;
}

/** A client's frames are masked (RFC 6455 §5.3). */
function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = short === 126 ? 2 : 0;
  if (bytes.length < 6 + lengthBytes) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  const start = 6 + lengthBytes;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length)).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: Buffer.from(payload), end: start + length };
}

function writeFrame(opcode: number, payload: Buffer): Buffer {
  const long = payload.length > 125;
  const head = Buffer.alloc(long ? 4 : 2);
  head.writeUInt8(0x80 | opcode, 0);
  head.writeUInt8(long ? 126 : payload.length, 1);
  if (long) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
