// Cuts messages into frames and puts them together again (raft.md A21, architecture.md §9).
// A frame on the wire: length u32 · crc32 u32 · version u8 · flags u8 · [total u32 · message crc32 u32] · bytes.
// Length counts what follows the CRC field; the CRC covers the same. The bracketed part is in a first frame only.
import { crc32 } from 'node:zlib';
import { checksum, combined } from './checksum.ts';
import { payloadBytesMax } from './primitives.ts';
import { newSharedBytes } from './shared-bytes.ts';

export const protocolVersion = 6;
/** A frame beyond this is refused before a byte of it is kept. */
export const frameBytesMax = 1.25 * 1024 * 1024;
/** Senders cut here, so that a heartbeat waits for at most this much of a large append. */
export const fragmentBytesMax = 256 * 1024;
/** Least a frame that is not the last of its message carries: a flood of tiny pieces would cost more than it brings. */
const fragmentBytesMin = 16 * 1024;
/** Longest message: the longest command with the fields of its append. */
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

const noBytes = Buffer.alloc(0);
/** Longer blocks of a frame are written from the memory they are in. */
const copiedBytesMax = 16 * 1024;

/** The frames of one message, in the order in which they must leave. */
export const encodeFrames = (message: Uint8Array, lane: Lane): Buffer[] =>
  [...framesOf([message], lane)].map((parts) => (parts.length === 1 ? asBuffer(parts[0]) : Buffer.concat(parts)));

/**
 * The same, each made when it is asked for: a message of many megabytes is cut while it leaves, not before. It may come
 * in pieces that follow one another, which are not put together for it. A large frame comes in parts: its head, and the
 * bytes as they lie.
 */
export function* framesOf(pieces: readonly Uint8Array[], lane: Lane): Generator<readonly Uint8Array[], undefined> {
  const total = pieces.reduce((sum, { length }) => sum + length, 0);
  if (total > messageBytesMax) throw new RangeError(`message of ${total} bytes is too large`);
  const cursor = new PieceCursor(pieces);
  let at = 0;
  do {
    const end = Math.min(at + fragmentBytesMax, total);
    const first = at === 0;
    const fieldBytes = first ? firstBytes : bareBytes;
    const isCopied = end - at <= copiedBytesMax;
    const parts = cursor.take(end - at);
    const head = Buffer.allocUnsafe(headBytes + fieldBytes + (isCopied ? end - at : 0));
    head.writeUInt32BE(fieldBytes + end - at, 0);
    head.writeUInt8(protocolVersion, 8);
    head.writeUInt8((lane === 'urgent' ? flagUrgent : 0) | (first ? flagFirst : 0) | (end === total ? flagLast : 0), 9);
    if (first) {
      head.writeUInt32BE(total, 10);
      head.writeUInt32BE(checksum(pieces), 14);
    }
    if (isCopied) fill(head, headBytes + fieldBytes, parts);
    let sum = crc32(head.subarray(headBytes));
    if (!isCopied) for (const part of parts) sum = crc32(part, sum);
    head.writeUInt32BE(sum, 4);
    yield isCopied ? [head] : [head, ...parts];
    at = end;
  } while (at < total);
}

function fill(target: Buffer, from: number, parts: readonly Uint8Array[]): void {
  let at = from;
  for (const part of parts) {
    target.set(part, at);
    at += part.length;
  }
}

const asBuffer = (bytes: Uint8Array = noBytes): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads pieces as if they were one. */
class PieceCursor {
  readonly #pieces: readonly Uint8Array[];
  #piece = 0;
  #at = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  /** The next `bytes`, as they lie. */
  take(bytes: number): readonly Uint8Array[] {
    const parts: Uint8Array[] = [];
    for (let taken = 0; taken < bytes; ) {
      const piece = this.#pieces[this.#piece];
      if (piece === undefined) throw new RangeError('more was asked for than there is');
      const part = piece.subarray(this.#at, this.#at + bytes - taken);
      if (part.length > 0) parts.push(part);
      taken += part.length;
      this.#at += part.length;
      if (this.#at < piece.length) continue;
      this.#piece += 1;
      this.#at = 0;
    }
    return parts;
  }
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
  #halted = false;
  readonly #lanes = { urgent: new Assembly(), bulk: new Assembly() };

  constructor(limits: FrameLimits = frameLimits) {
    this.#limits = limits;
  }

  /** May be called from inside `deliver`: the frames behind the present one are held to the new limits. */
  setLimits(limits: FrameLimits): void {
    this.#limits = limits;
  }

  /**
   * Calls `deliver` for each message that `chunk` completes. The bytes handed over are valid during the call only,
   * unless they lie in memory of their own. Gives the problem that makes this connection unusable, if there is one.
   */
  push(chunk: Uint8Array, deliver: Deliver): string | undefined {
    let rest = chunk;
    while (rest.length > 0 && this.#problem === undefined && !this.#halted) {
      rest = this.#keep(rest);
      this.#problem = this.#drain(deliver);
    }
    if (this.#halted) this.#pending = Buffer.concat([this.#pending.subarray(this.#start, this.#end), rest]);
    return this.#problem;
  }

  /** May be called from inside `deliver`: the bytes behind the present frame are none of this decoder's. */
  halt(): void {
    this.#halted = true;
  }

  /** The bytes behind the last frame, once it was halted and `push` has returned. */
  get rest(): Buffer {
    return this.#pending;
  }

  /** Copies at most one frame's worth into the pending bytes, so that these stay bounded for any input. */
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

  #drain(deliver: Deliver): string | undefined {
    while (!this.#halted && this.#end - this.#start >= headBytes) {
      const length = this.#pending.readUInt32BE(this.#start);
      if (length < bareBytes || length > this.#limits.frameBytesMax - headBytes) return strangeLength(length);
      if (this.#end - this.#start < headBytes + length) break;
      const at = this.#start + headBytes;
      this.#start = at + length;
      const problem = this.#frame(this.#pending.readUInt32BE(at - 4), this.#pending.subarray(at, at + length), deliver);
      if (problem !== undefined) return problem;
    }
    if (this.#start === this.#end) this.#start = this.#end = 0;
    return undefined;
  }

  #frame(crc: number, body: Buffer, deliver: Deliver): string | undefined {
    const flags = body.readUInt8(1);
    const piece = body.subarray((flags & flagFirst) !== 0 ? firstBytes : bareBytes);
    const pieceCrc = crc32(piece);
    const fields = body.subarray(0, body.length - piece.length);
    if (combined(crc32(fields), pieceCrc, piece.length) !== crc) return 'frame checksum does not match';
    const version = body.readUInt8(0);
    if (version !== protocolVersion) return `protocol version ${version}`;
    if (flags > (flagUrgent | flagFirst | flagLast)) return `frame flags ${flags}`;
    const lane = (flags & flagUrgent) !== 0 ? 'urgent' : 'bulk';
    const assembly = this.#lanes[lane];
    if ((flags & flagFirst) !== 0) {
      if (body.length < firstBytes) return 'first frame is cut short';
      const problem = assembly.begin(body.readUInt32BE(2), body.readUInt32BE(6), this.#limits.messageBytesMax);
      if (problem !== undefined) return problem;
    }
    const last = (flags & flagLast) !== 0;
    const added = assembly.add(piece, pieceCrc, last);
    const { problem, message, isOwn = false } = added;
    if (problem === undefined && message !== undefined) deliver(message, lane, isOwn);
    return problem;
  }
}

/** Ports get mixed up: what speaks another protocol is called by its name. */
function strangeLength(length: number): string {
  const isText = (word: string): boolean => Buffer.from(word).readUInt32BE() === length;
  if (['HTTP', 'GET ', 'POST', 'PUT ', 'HEAD'].some(isText)) return 'it speaks HTTP: is this the port of an API?';
  // A record of TLS 1.x: alert (21) or handshake (22), version 3.x.
  const isTls = [0x1503, 0x1603].includes(length >>> 16);
  return isTls ? 'it speaks TLS: have all members the same raft.tls?' : `frame of ${length} bytes`;
}

type Deliver = (message: Uint8Array, lane: Lane, isOwn: boolean) => void;

interface Added {
  readonly problem?: string;
  readonly message?: Uint8Array;
  /** True when the memory of the message is used for nothing else. */
  readonly isOwn?: boolean;
}

/**
 * One message of one lane on its way in. Only a member announces more than the limits of a handshake, and the system gives
 * memory as bytes come, not as they are announced. So goes the work: the last frame of a large message costs little more
 * than the one before.
 */
class Assembly {
  #open = false;
  #total = 0;
  /** As it was announced, and of what came so far. */
  #crc = 0;
  #crcSoFar = 0;
  #length = 0;
  #bytes: Buffer = noBytes;

  begin(total: number, crc: number, bytesMax: number): string | undefined {
    if (this.#open) return 'message begins inside another';
    if (total > bytesMax) return `message of ${total} bytes`;
    this.#open = true;
    this.#total = total;
    this.#crc = crc;
    this.#crcSoFar = 0;
    this.#length = 0;
    return undefined;
  }

  /** `crc` is that of the piece. */
  add(piece: Buffer, crc: number, last: boolean): Added {
    if (!this.#open) return { problem: 'message continues without a beginning' };
    const before = this.#length;
    this.#length += piece.length;
    if (this.#length > this.#total) return { problem: 'message is longer than announced' };
    this.#crcSoFar = before === 0 ? crc : combined(this.#crcSoFar, crc, piece.length);
    if (last && before === 0) return this.#end(piece, false);
    if (!last && piece.length < fragmentBytesMin) return { problem: `piece of ${piece.length} bytes inside a message` };
    if (before === 0) this.#bytes = newSharedBytes(this.#total);
    this.#bytes.set(piece, before);
    return last ? this.#end(this.#bytes, true) : {};
  }

  #end(message: Buffer, isOwn: boolean): Added {
    if (this.#length !== this.#total) return { problem: 'message is shorter than announced' };
    this.#bytes = noBytes;
    this.#open = false;
    return this.#crcSoFar === this.#crc ? { message, isOwn } : { problem: 'message checksum does not match' };
  }
}
