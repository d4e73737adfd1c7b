// Send scheduler: sends the DATA of a connection's streams within the peer's windows (RFC 9113 §5.2) and within the
// room of its socket. A stream that may not send keeps its chunk and refuses more; the others take turns.
import { Deadline, type Wheel } from '../wheel.ts';
import { defaultWindow, frameBytesMax, frameFlag, windowMax } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import type { HpackEncoder } from './hpack/encoder.ts';
import { heldLookMs, SendThreshold } from './send-threshold.ts';
import type { Stream, StreamOutlet } from './stream.ts';

export interface SendSchedulerOwner {
  /** Called when a DATA frame of so many bytes has been written; `isSmall`: a window cut it very short. */
  onDataSent(bytes: number, isSmall: boolean): void;
  /** Called when the pending bytes of a stream, and its end, have been sent. */
  onDelayedEnd(stream: Stream): void;
}

export class SendScheduler implements StreamOutlet {
  readonly #writer: FrameWriter;
  readonly #owner: SendSchedulerOwner;
  readonly #wheel: Wheel;
  readonly #threshold = new SendThreshold();
  #window = defaultWindow;
  /** Largest value that the window has had. */
  #windowPeak = defaultWindow;
  /** Deadline of the next look at held frames; made when the first one waits for a wider window. */
  #heldLook: Deadline | undefined;
  /** True when the next frame has waited long enough. */
  #forced = false;
  /** Payload size that the peer allows, capped by the size that Sluice sends. */
  frameBytesMax = frameBytesMax;
  /** Streams with unsent bytes, or that wait for room; longest waiting first. */
  readonly #blocked = new Set<Stream>();

  constructor(writer: FrameWriter, owner: SendSchedulerOwner, wheel: Wheel) {
    this.#writer = writer;
    this.#owner = owner;
    this.#wheel = wheel;
  }

  get blocked(): number {
    return this.#blocked.size;
  }

  head(stream: Stream, block: HpackEncoder, end: boolean): void {
    this.#writer.headers(stream, end ? frameFlag.endStream : 0, block.bytes, block.length, this.frameBytesMax);
  }

  data(stream: Stream, chunk: Buffer): boolean {
    if (stream.pending.length > 0) {
      stream.pending.append(chunk, 0, chunk.length);
      return false;
    }
    const sent = this.#send(stream, chunk);
    if (stream.over) return true;
    if (sent < chunk.length) stream.pending.append(chunk, sent, chunk.length);
    else if (!this.#writer.full) return true;
    stream.wantsRoom = true;
    this.#blocked.add(stream);
    return false;
  }

  end(stream: Stream): boolean {
    if (stream.pending.length > 0) {
      stream.endPending = true;
      return false;
    }
    this.#end(stream);
    return true;
  }

  trailers(stream: Stream, block: HpackEncoder): boolean {
    if (stream.pending.length > 0) {
      stream.endPending = true;
      stream.trailersPending = Buffer.from(block.bytes.subarray(0, block.length));
      return false;
    }
    this.#trailers(stream, block.bytes, block.length);
    return true;
  }

  /** Removes a stream that has nothing more to send. */
  forget(stream: Stream): void {
    this.#blocked.delete(stream);
  }

  /** Stops all sending: the connection has ended. */
  close(): void {
    if (this.#heldLook !== undefined) this.#wheel.remove(this.#heldLook);
  }

  /** Widens the connection's window; returns false when it would exceed its maximum. */
  widen(bytes: number): boolean {
    if (this.#window + bytes > windowMax) return false;
    this.#window += bytes;
    this.#windowPeak = Math.max(this.#windowPeak, this.#window);
    this.pump();
    return true;
  }

  /** Sends from one stream whose window has opened. */
  pumpOne(stream: Stream): void {
    while (stream.pending.length > 0 && this.#step(stream));
    this.#afterStep(stream);
  }

  /** Sends from all waiting streams in turns, one frame each, while there is room. */
  pump(): void {
    for (let moved = true; moved; ) {
      moved = false;
      for (const stream of [...this.#blocked]) {
        if (this.#writer.full) return;
        if (stream.over || !this.#blocked.has(stream)) continue;
        if (stream.pending.length > 0) moved = this.#step(stream) || moved;
        this.#afterStep(stream);
      }
    }
  }

  /** Sends one frame of pending bytes. Returns false when the stream may not send. */
  #step(stream: Stream): boolean {
    const { pending } = stream;
    const ends = stream.endPending && stream.trailersPending === undefined;
    const sent = this.#frame(stream, pending.bytes, stream.pendingSent, pending.length, ends);
    if (stream.over) return false;
    stream.pendingSent += sent;
    if (stream.pendingSent < pending.length) return sent > 0;
    pending.clear();
    stream.pendingSent = 0;
    return true;
  }

  #afterStep(stream: Stream): void {
    if (stream.over || stream.pending.length > 0 || this.#writer.full) return;
    this.#blocked.delete(stream);
    if (stream.endPending) {
      stream.endPending = false;
      const trailers = stream.trailersPending;
      stream.trailersPending = undefined;
      if (trailers !== undefined) this.#trailers(stream, trailers, trailers.length);
      this.#owner.onDelayedEnd(stream);
    } else if (stream.wantsRoom) {
      stream.wantsRoom = false;
      stream.receiver?.onRoom(stream);
    }
  }

  /** Sends the part of the chunk that windows and room allow; returns its length. */
  #send(stream: Stream, chunk: Buffer): number {
    let at = 0;
    for (let sent = 1; sent > 0 && at < chunk.length && !stream.over; at += sent) {
      sent = this.#frame(stream, chunk, at, chunk.length, false);
    }
    return at;
  }

  /**
   * Sends the next frame of `bytes[at..to)`, if windows and room allow one; returns its length. `end`: the stream
   * ends at `to`.
   */
  #frame(stream: Stream, bytes: Buffer, at: number, to: number, end: boolean): number {
    const allowed = Math.min(this.#window, stream.sendWindow);
    if (allowed <= 0 || this.#writer.full) return 0;
    const most = Math.min(to - at, this.frameBytesMax);
    const isCut = allowed < most;
    if (isCut && this.#holds(stream, allowed)) return 0;
    if (stream.heldLooks >= 0) this.#release(stream);
    const length = withoutTinyTail(isCut ? allowed : most, to - at);
    this.#window -= length;
    stream.sendWindow -= length;
    this.#writer.data(stream, end && at + length === to ? frameFlag.endStream : 0, bytes, at, at + length);
    this.#owner.onDataSent(length, isCut && length < guards.smallFrameBytes);
    return length;
  }

  /** Returns whether a frame that a window cuts to `allowed` bytes waits for more. */
  #holds(stream: Stream, allowed: number): boolean {
    const peak = Math.min(this.#windowPeak, stream.sendWindowPeak);
    if (this.#forced || allowed >= this.#threshold.of(peak)) return false;
    if (stream.heldLooks < 0) {
      stream.heldLooks = 0;
      this.#heldLook ??= new Deadline(() => this.#lookAtHeld());
      if (this.#heldLook.after === undefined) this.#wheel.arm(this.#heldLook, heldLookMs);
    }
    return true;
  }

  #release(stream: Stream): void {
    stream.heldLooks = -1;
    if (this.#forced) this.#threshold.onWaitedInVain();
    else this.#threshold.onWidened();
  }

  /**
   * Sends frames that have waited through a whole interval at their present size: their windows may not grow before.
   */
  #lookAtHeld(): void {
    let waits = false;
    for (const stream of [...this.#blocked]) {
      if (stream.over || stream.heldLooks < 0) continue;
      if (stream.heldLooks++ > 0) {
        this.#forced = true;
        this.#step(stream);
        this.#forced = false;
        this.#afterStep(stream);
      }
      waits ||= !stream.over && stream.heldLooks >= 0;
    }
    if (waits && this.#heldLook !== undefined) this.#wheel.arm(this.#heldLook, heldLookMs);
  }

  #end(stream: Stream): void {
    if (!this.#writer.endLast(stream)) this.#writer.data(stream, frameFlag.endStream, none, 0, 0);
  }

  #trailers(stream: Stream, bytes: Buffer, length: number): void {
    this.#writer.headers(stream, frameFlag.endStream, bytes, length, this.frameBytesMax);
  }
}

/** Returns `length`, or less where only a few bytes of `left` would follow in a frame of their own. */
function withoutTinyTail(length: number, left: number): number {
  const tail = left - length;
  const isTiny = tail > 0 && tail < guards.smallFrameBytes && length >= 2 * guards.fullFrameBytes;
  return isTiny ? length - guards.fullFrameBytes : length;
}

const none = Buffer.alloc(0);
