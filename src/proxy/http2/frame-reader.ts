// Cuts what arrives into frames (RFC 9113 §4.1). DATA is passed on as it comes; every other frame is small and is
// handed over whole. Keeps at most the part of one frame that has not come yet, and nothing that it was only told of.
import { ReceiveBuffer } from '../socket/receive-buffer.ts';
import { frameBytesMax, frameFlag, frameHeadBytes, frameType } from './frame.ts';

/** Whoever acts on frames other than DATA. Bytes are valid during the call. */
export interface FrameReceiver {
  /** The payload is `bytes[from..to)`. */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): void;
  /** A frame is larger than announced, or padded beyond its end. Nothing more is read. */
  onFrameError(problem: 'size' | 'padding', type: number): void;
}

/** Whoever acts on DATA. Bytes are valid during the call. */
export interface DataReceiver {
  /** A frame begins; `length` with padding, if any. */
  onData(flags: number, streamId: number, length: number): void;
  /** Its payload in parts, without padding. */
  onDataPart(bytes: Buffer, from: number, to: number): void;
  /** `padding` bytes of it were not content. */
  onDataEnd(padding: number): void;
}

export class FrameReader {
  readonly #receiver: FrameReceiver;
  readonly #data: DataReceiver;
  readonly #held = new ReceiveBuffer();
  /** Bytes of the DATA at hand still to come; −1 = between frames. */
  #dataLeft = -1;
  /** Padding at the end of it; −1 = its first byte, which says so, has not come. */
  #padding = 0;
  #paddingBytes = 0;
  #stopped = false;

  constructor(receiver: FrameReceiver, data: DataReceiver) {
    this.#receiver = receiver;
    this.#data = data;
  }

  /** A part of a frame other than DATA is here. */
  get midFrame(): boolean {
    return this.#held.length > 0;
  }

  /** Room that what is held takes. */
  get heldBytes(): number {
    return this.#held.bytes.length;
  }

  /** Drops what is held and whatever comes. */
  stop(): void {
    this.#stopped = true;
    this.#held.clear();
  }

  read(bytes: Buffer, from: number, to: number): void {
    let at = from;
    while (at < to && !this.#stopped) {
      if (this.#dataLeft >= 0) at = this.#readData(bytes, at, to);
      else if (this.#held.length > 0) at = this.#complete(bytes, at, to);
      else at = this.#readFrame(bytes, at, to);
    }
  }

  /** Returns where it stopped; a frame that is not whole is held. */
  #readFrame(bytes: Buffer, from: number, to: number): number {
    if (to - from < frameHeadBytes) return this.#hold(bytes, from, to);
    const length = lengthAt(bytes, from);
    const type = bytes[from + 3] ?? 0;
    if (length > frameBytesMax) return this.#problem('size', type, to);
    if (type === frameType.data) {
      this.#beginData(bytes, from, length);
      return from + frameHeadBytes;
    }
    const end = from + frameHeadBytes + length;
    if (end > to) return this.#hold(bytes, from, to);
    const flags = bytes[from + 4] ?? 0;
    this.#receiver.onFrame(type, flags, streamIdAt(bytes, from + 5), bytes, from + frameHeadBytes, end);
    return end;
  }

  #hold(bytes: Buffer, from: number, to: number): number {
    this.#held.append(bytes, from, to);
    return to;
  }

  /** Adds to what is held no more than its frame needs. */
  #complete(bytes: Buffer, from: number, to: number): number {
    const held = this.#held;
    const had = held.length;
    if (had < frameHeadBytes) {
      const end = Math.min(to, from + frameHeadBytes - had);
      held.append(bytes, from, end);
      if (held.length < frameHeadBytes) return end;
      const length = lengthAt(held.bytes, 0);
      const type = held.bytes[3] ?? 0;
      if (length === 0 || length > frameBytesMax || type === frameType.data) this.#release();
      return end;
    }
    const end = Math.min(to, from + frameHeadBytes + lengthAt(held.bytes, 0) - had);
    held.append(bytes, from, end);
    if (held.length === frameHeadBytes + lengthAt(held.bytes, 0)) this.#release();
    return end;
  }

  /** What is held is all that has to be: it is read as if it had come at once. */
  #release(): void {
    const { bytes, length } = this.#held;
    this.#held.clear();
    this.#readFrame(bytes, 0, length);
  }

  #beginData(bytes: Buffer, at: number, length: number): void {
    const flags = bytes[at + 4] ?? 0;
    this.#dataLeft = length;
    this.#padding = (flags & frameFlag.padded) === 0 ? 0 : -1;
    this.#paddingBytes = 0;
    this.#data.onData(flags, streamIdAt(bytes, at + 5), length);
    if (this.#stopped) return;
    if (length > 0) return;
    if (this.#padding < 0) this.#problem('padding', frameType.data, 0);
    else this.#endData();
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    let at = from;
    if (this.#padding < 0) {
      this.#padding = bytes[at++] ?? 0;
      this.#dataLeft--;
      if (this.#padding > this.#dataLeft) return this.#problem('padding', frameType.data, to);
      this.#paddingBytes = this.#padding + 1;
    }
    const end = Math.min(to, at + this.#dataLeft);
    const contentEnd = Math.min(end, at + this.#dataLeft - this.#padding);
    this.#dataLeft -= end - at;
    if (contentEnd > at) this.#data.onDataPart(bytes, at, contentEnd);
    if (this.#dataLeft === 0 && !this.#stopped) this.#endData();
    return end;
  }

  #endData(): void {
    this.#dataLeft = -1;
    this.#data.onDataEnd(this.#paddingBytes);
  }

  #problem(problem: 'size' | 'padding', type: number, to: number): number {
    this.stop();
    this.#receiver.onFrameError(problem, type);
    return to;
  }
}

const lengthAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);

/** The reserved bit is ignored (RFC 9113 §4.1). */
export const streamIdAt = (bytes: Uint8Array, at: number): number => uint32At(bytes, at) & 0x7fff_ffff;

export const uint32At = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) * 0x100_0000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
