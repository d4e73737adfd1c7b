// Frame reader: splits received bytes into frames (RFC 9113 §4.1). DATA is passed on as it arrives; each other frame
// is small and is handed over whole. Holds at most the received part of one frame, and allocates nothing for a length
// that was only announced.
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { frameBytesMax, frameFlag, frameHeadBytes, frameType } from './frame.ts';

/** Receiver of frames other than DATA. Bytes are valid during the call. */
export interface FrameReceiver {
  /** Handles a frame with the payload `bytes[from..to)`. */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): void;
  /** Called when a frame is larger than the limit, or padded beyond its end. Nothing more is read. */
  onFrameError(problem: 'size' | 'padding', type: number): void;
}

/** Receiver of DATA. Bytes are valid during the call. */
export interface DataReceiver {
  /** Called at the start of a frame; `length` includes the padding. */
  onData(flags: number, streamId: number, length: number): void;
  /** Takes a part of the payload, without padding. */
  onDataPart(bytes: Buffer, from: number, to: number): void;
  /** Called at the end of a frame; `padding` bytes of it were not content. */
  onDataEnd(padding: number): void;
}

export class FrameReader {
  readonly #receiver: FrameReceiver;
  readonly #data: DataReceiver;
  readonly #held = new ReceiveBuffer();
  /** Bytes of the DATA frame at hand that have not arrived; −1 = between frames. */
  #dataLeft = -1;
  /** Padding at its end; −1 = its first byte, which holds the pad length, has not arrived. */
  #padding = 0;
  #paddingBytes = 0;
  #stopped = false;

  constructor(receiver: FrameReceiver, data: DataReceiver) {
    this.#receiver = receiver;
    this.#data = data;
  }

  /** True while a part of a frame other than DATA is held. */
  get midFrame(): boolean {
    return this.#held.length > 0;
  }

  /** Capacity of the buffer that holds a part of a frame. */
  get heldBytes(): number {
    return this.#held.bytes.length;
  }

  /** Drops held bytes, and all that arrive later. */
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

  /** Reads a frame and returns the position behind it; a frame that is not whole is held. */
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

  /** Adds to the held bytes no more than their frame needs. */
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

  /** Reads the held frame, which is whole, as if it had arrived at once. */
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

/** Returns the stream id at `at`; the reserved bit is ignored (RFC 9113 §4.1). */
export const streamIdAt = (bytes: Uint8Array, at: number): number => uint32At(bytes, at) & 0x7fff_ffff;

export const uint32At = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) * 0x100_0000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
