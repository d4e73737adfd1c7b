// Cuts messages into frames and puts them together again (raft.md A21, architecture.md §9).
// A frame on the wire: length u32 · crc32 u32 · version u8 · flags u8 · [total u32 · message crc32 u32] · bytes.
// Length counts what follows the CRC field; the CRC covers the same. The bracketed part is in a first frame only.
import { crc32 } from 'node:zlib';
import { payloadBytesMax } from './values.ts';

export const protocolVersion = 2;
/** A frame beyond this is refused before a byte of it is kept. */
export const frameBytesMax = 1.25 * 1024 * 1024;
/** Senders cut here, so that a heartbeat waits for at most this much of a large append. */
export const fragmentBytesMax = 256 * 1024;
/** Least a frame that is not the last of its message carries: a flood of tiny pieces would cost more than it brings. */
const fragmentBytesMin = 16 * 1024;
/** The longest command and what an append says about it. */
const messageBytesMax = payloadBytesMax + 64 * 1024;

/** Votes, heartbeats and read rounds overtake bulk: each lane is put together on its own. */
export type Lane = 'urgent' | 'bulk';

export interface FrameLimits {
  readonly frameBytesMax: number;
  readonly messageBytesMax: number;
}

export const frameLimits: FrameLimits = { frameBytesMax, messageBytesMax };

const headBytes = 8;
const flagUrgent = 1;
const flagFirst = 2;
const flagLast = 4;
const bareBytes = 2;
const firstBytes = 10;

/** The frames of one message, in the order in which they must leave. */
export const encodeFrames = (message: Uint8Array, lane: Lane): Buffer[] => [...framesOf(message, lane)];

/** The same, each made when it is asked for: a message of many megabytes is cut while it leaves, not before. */
export function* framesOf(message: Uint8Array, lane: Lane): Generator<Buffer, undefined> {
  if (message.length > messageBytesMax) throw new RangeError(`message of ${message.length} bytes is too large`);
  let at = 0;
  do {
    const end = Math.min(at + fragmentBytesMax, message.length);
    yield encodeFrame(message, at, end, lane);
    at = end;
  } while (at < message.length);
}

function encodeFrame(message: Uint8Array, from: number, to: number, lane: Lane): Buffer {
  const first = from === 0;
  const fieldBytes = first ? firstBytes : bareBytes;
  const frame = Buffer.allocUnsafe(headBytes + fieldBytes + to - from);
  frame.writeUInt32BE(fieldBytes + to - from, 0);
  frame.writeUInt8(protocolVersion, 8);
  frame.writeUInt8(
    (lane === 'urgent' ? flagUrgent : 0) | (first ? flagFirst : 0) | (to === message.length ? flagLast : 0),
    9,
  );
  if (first) {
    frame.writeUInt32BE(message.length, 10);
    frame.writeUInt32BE(crc32(message), 14);
  }
  frame.set(message.subarray(from, to), headBytes + fieldBytes);
  frame.writeUInt32BE(crc32(frame.subarray(headBytes)), 4);
  return frame;
}

/**
 * Takes the bytes of one connection as they come and gives whole, checked messages.
 * It never throws for what it is fed. After the first problem it takes nothing more: the stream has lost its frame.
 */
export class FrameDecoder {
  #limits: FrameLimits;
  #pending: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #problem: string | undefined;
  readonly #lanes = { urgent: new Assembly(), bulk: new Assembly() };

  constructor(limits: FrameLimits = frameLimits) {
    this.#limits = limits;
  }

  /** May be called from inside `deliver`: the frames behind the present one are held to the new limits. */
  setLimits(limits: FrameLimits): void {
    this.#limits = limits;
  }

  /**
   * Calls `deliver` for each message that `chunk` completes. The bytes handed over are valid during the call only.
   * Gives the problem that makes this connection unusable, if there is one.
   */
  push(chunk: Uint8Array, deliver: (message: Uint8Array, lane: Lane) => void): string | undefined {
    let rest = chunk;
    while (rest.length > 0 && this.#problem === undefined) {
      rest = this.#keep(rest);
      this.#problem = this.#drain(deliver);
    }
    return this.#problem;
  }

  /** Copies at most one frame's worth into the pending bytes, so that these stay bounded whatever arrives. */
  #keep(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, this.#limits.frameBytesMax);
    if (this.#end + part.length > this.#pending.length) {
      const kept = this.#pending.subarray(this.#start, this.#end);
      const larger = Buffer.allocUnsafe(Math.max(kept.length + part.length, Math.min(kept.length * 2, frameBytesMax)));
      larger.set(kept);
      this.#pending = larger;
      this.#start = 0;
      this.#end = kept.length;
    }
    this.#pending.set(part, this.#end);
    this.#end += part.length;
    return chunk.subarray(part.length);
  }

  #drain(deliver: (message: Uint8Array, lane: Lane) => void): string | undefined {
    while (this.#end - this.#start >= headBytes) {
      const length = this.#pending.readUInt32BE(this.#start);
      if (length < bareBytes || length > this.#limits.frameBytesMax - headBytes) return `frame of ${length} bytes`;
      if (this.#end - this.#start < headBytes + length) break;
      const at = this.#start + headBytes;
      this.#start = at + length;
      const problem = this.#frame(this.#pending.readUInt32BE(at - 4), this.#pending.subarray(at, at + length), deliver);
      if (problem !== undefined) return problem;
    }
    if (this.#start === this.#end) this.#start = this.#end = 0;
    return undefined;
  }

  #frame(crc: number, body: Buffer, deliver: (message: Uint8Array, lane: Lane) => void): string | undefined {
    if (crc32(body) !== crc) return 'frame checksum does not match';
    const version = body.readUInt8(0);
    if (version !== protocolVersion) return `protocol version ${version}`;
    const flags = body.readUInt8(1);
    if (flags > (flagUrgent | flagFirst | flagLast)) return `frame flags ${flags}`;
    const lane = (flags & flagUrgent) !== 0 ? 'urgent' : 'bulk';
    const assembly = this.#lanes[lane];
    if ((flags & flagFirst) !== 0) {
      if (body.length < firstBytes) return 'first frame is cut short';
      const problem = assembly.begin(body.readUInt32BE(2), body.readUInt32BE(6), this.#limits.messageBytesMax);
      if (problem !== undefined) return problem;
    }
    const last = (flags & flagLast) !== 0;
    const piece = body.subarray((flags & flagFirst) !== 0 ? firstBytes : bareBytes);
    const added = assembly.add(piece, last);
    if (added.problem === undefined && added.message !== undefined) deliver(added.message, lane);
    return added.problem;
  }
}

/** One message of one lane on its way in. Memory follows the bytes that came, not the length that was announced. */
class Assembly {
  #open = false;
  #total = 0;
  #crc = 0;
  #length = 0;
  #pieces: Buffer[] = [];

  begin(total: number, crc: number, bytesMax: number): string | undefined {
    if (this.#open) return 'message begins inside another';
    if (total > bytesMax) return `message of ${total} bytes`;
    this.#open = true;
    this.#total = total;
    this.#crc = crc;
    this.#length = 0;
    return undefined;
  }

  add(piece: Buffer, last: boolean): { readonly problem?: string; readonly message?: Uint8Array } {
    if (!this.#open) return { problem: 'message continues without a beginning' };
    this.#length += piece.length;
    if (this.#length > this.#total) return { problem: 'message is longer than announced' };
    if (!last) {
      if (piece.length < fragmentBytesMin) return { problem: `piece of ${piece.length} bytes inside a message` };
      this.#pieces.push(Buffer.from(piece));
      return {};
    }
    if (this.#length !== this.#total) return { problem: 'message is shorter than announced' };
    const message = this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
    this.#pieces = [];
    this.#open = false;
    return crc32(message) === this.#crc ? { message } : { problem: 'message checksum does not match' };
  }
}
