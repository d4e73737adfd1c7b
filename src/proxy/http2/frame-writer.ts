// Frame writer: gathers the frames of one connection and writes them together (proxy.md, The forward fast path):
// frames of many streams in one tick leave in one write. Arguments are copied and not needed after the call.
import { acquire, release } from '../socket/buffer-pool.ts';
import { frameFlag, frameHeadBytes, frameType, setting } from './frame.ts';
import type { FrameBatcher } from './frame-batcher.ts';

/** Part of a socket that the writer uses. */
export interface FrameSocket {
  readonly writableLength: number;
  write(bytes: Uint8Array): boolean;
}

/** Position of a stream's last HEADERS or DATA frame in the gathered bytes. */
export interface FrameSender {
  readonly id: number;
  lastFlagsAt: number;
  lastGathering: number;
}

/**
 * Bytes of content that one connection writes in one tick; other connections of the thread read and write in between.
 */
export const tickBytesMax = 512 * 1024;

/** Unread bytes above which bodies wait, and only control frames and heads are written. */
const waitingBytesMax = 64 * 1024;

export class FrameWriter {
  readonly #socket: FrameSocket;
  readonly #batcher: FrameBatcher;
  readonly #onRoom: () => void;
  /** Bytes of content since the last flush of the batcher. */
  #tickBytes = 0;
  #buffer: Buffer | undefined;
  #length = 0;
  /** Number of batches written, so that positions in one batch are not taken for positions in another. */
  #gathering = 0;
  /** Buffers of writes that the kernel has not taken yet. */
  #pooled: Buffer[] = [];
  #closed = false;
  /** True while the writer is in the batcher's list. */
  queued = false;

  /** `onTurn`: called when there is room again after a full tick's share was written. */
  constructor(socket: FrameSocket, batcher: FrameBatcher, onRoom: () => void) {
    this.#socket = socket;
    this.#batcher = batcher;
    this.#onRoom = onRoom;
  }

  /** True when no more content may be written now: `onTurn` follows, or the socket's `drain`. */
  get full(): boolean {
    return this.#tickBytes >= tickBytesMax || this.congested;
  }

  /** True when the peer reads less than is written: bodies wait. */
  get congested(): boolean {
    return this.#socket.writableLength > 0 && this.#socket.writableLength + this.#length >= waitingBytesMax;
  }

  /** Bytes that the peer has not taken. */
  get waiting(): number {
    return this.#socket.writableLength + this.#length;
  }

  /** Writes a header block. `flags` are those of the last frame beside END_HEADERS; the block is copied. */
  headers(stream: FrameSender, flags: number, block: Uint8Array, length: number, sizeMax: number): void {
    const streamId = stream.id;
    const first = Math.min(length, sizeMax);
    const { endHeaders } = frameFlag;
    this.#frame(frameType.headers, first === length ? flags | endHeaders : flags, streamId, block, 0, first);
    stream.lastFlagsAt = this.#length - first - frameHeadBytes + 4;
    stream.lastGathering = this.#gathering;
    for (let at = first; at < length; ) {
      const end = Math.min(length, at + sizeMax);
      this.#frame(frameType.continuation, end === length ? endHeaders : 0, streamId, block, at, end);
      at = end;
    }
  }

  data(stream: FrameSender, flags: number, bytes: Uint8Array, from: number, to: number): void {
    this.#tickBytes += to - from;
    this.#frame(frameType.data, flags, stream.id, bytes, from, to);
    stream.lastFlagsAt = this.#length - (to - from) - frameHeadBytes + 4;
    stream.lastGathering = this.#gathering;
  }

  /** Sets END_STREAM on the stream's last frame; returns false when it has left already. */
  endLast(stream: FrameSender): boolean {
    if (stream.lastGathering !== this.#gathering || this.#buffer === undefined) return false;
    this.#buffer[stream.lastFlagsAt] = (this.#buffer[stream.lastFlagsAt] ?? 0) | frameFlag.endStream;
    return true;
  }

  /** Writes SETTINGS. `pairs`: identifier and value in turn. */
  settings(pairs: readonly number[]): void {
    const out = this.#begin(frameType.settings, 0, 0, pairs.length * 3);
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const id = pairs[i] ?? setting.headerTableSize;
      out[this.#length++] = id >>> 8;
      out[this.#length++] = id & 0xff;
      this.#uint32(out, pairs[i + 1] ?? 0);
    }
  }

  settingsAck(): void {
    this.#begin(frameType.settings, frameFlag.ack, 0, 0);
  }

  /** Writes PING with the eight bytes at `from`. */
  ping(ack: boolean, bytes: Uint8Array, from: number): void {
    this.#frame(frameType.ping, ack ? frameFlag.ack : 0, 0, bytes, from, from + 8);
  }

  goAway(lastStreamId: number, code: number): void {
    const out = this.#begin(frameType.goAway, 0, 0, 8);
    this.#uint32(out, lastStreamId);
    this.#uint32(out, code);
  }

  rstStream(streamId: number, code: number): void {
    this.#uint32(this.#begin(frameType.rstStream, 0, streamId, 4), code);
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#uint32(this.#begin(frameType.windowUpdate, 0, streamId, 4), increment);
  }

  raw(bytes: Uint8Array): void {
    const out = this.#reserve(bytes.length);
    out.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes gathered frames at the end of the tick. */
  flush(): void {
    // While the peer does not read, frames gather in one buffer and leave on `drain`: each pending write holds a
    // buffer.
    if (this.#socket.writableLength === 0) this.writeOut();
    const wasFull = this.#tickBytes >= tickBytesMax;
    this.#tickBytes = 0;
    if (wasFull && !this.#closed) this.#onRoom();
  }

  /** Writes all gathered frames now. */
  writeOut(): void {
    const buffer = this.#buffer;
    const length = this.#length;
    if (buffer === undefined || length === 0) return;
    this.#buffer = undefined;
    this.#length = 0;
    this.#gathering++;
    if (this.#closed) {
      release(buffer);
      return;
    }
    this.#socket.write(buffer.subarray(0, length));
    if (this.#socket.writableLength === 0) release(buffer);
    else this.#pooled.push(buffer);
  }

  /**
   * Resumes writing; the owner calls it on the socket's `drain`. Gathered frames leave at the end of the tick: bodies
   * that waited for the drain fill their buffer first.
   */
  onDrain(): void {
    if (this.#socket.writableLength > 0) return;
    for (const buffer of this.#pooled) release(buffer);
    if (this.#pooled.length > 0) this.#pooled = [];
    if (this.#length > 0) this.#batcher.add(this);
  }

  /** Releases all buffers: the socket is closed. */
  close(): void {
    this.#closed = true;
    if (this.#buffer !== undefined) release(this.#buffer);
    this.#buffer = undefined;
    this.#length = 0;
  }

  #frame(type: number, flags: number, streamId: number, bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const out = this.#begin(type, flags, streamId, length);
    if (length < 48) for (let i = from; i < to; i++) out[this.#length++] = bytes[i] ?? 0;
    else {
      if (bytes instanceof Buffer) bytes.copy(out, this.#length, from, to);
      else out.set(bytes.subarray(from, to), this.#length);
      this.#length += length;
    }
  }

  /** Writes the head of a frame of at most `frameBytesMax`; its payload follows at `#length`. */
  #begin(type: number, flags: number, streamId: number, length: number): Buffer {
    const out = this.#reserve(frameHeadBytes + length);
    let at = this.#length;
    out[at++] = length >>> 16;
    out[at++] = (length >>> 8) & 0xff;
    out[at++] = length & 0xff;
    out[at++] = type;
    out[at++] = flags;
    this.#length = at;
    this.#uint32(out, streamId);
    return out;
  }

  #uint32(out: Buffer, value: number): void {
    let at = this.#length;
    out[at++] = (value >>> 24) & 0xff;
    out[at++] = (value >>> 16) & 0xff;
    out[at++] = (value >>> 8) & 0xff;
    out[at++] = value & 0xff;
    this.#length = at;
  }

  #reserve(count: number): Buffer {
    if (this.#buffer !== undefined && this.#length + count > this.#buffer.length) this.writeOut();
    this.#buffer ??= acquire();
    this.#batcher.add(this);
    return this.#buffer;
  }
}
