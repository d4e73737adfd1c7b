// What the streams of a connection send, within the windows that the other side gives (RFC 9113 §5.2) and within what
// its socket takes. A stream that may not send keeps its chunk and says no to more; those that may take turns.
import { frameBytesMax, frameFlag, windowMax } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import type { HpackEncoder } from './hpack/encoder.ts';
import type { Stream, StreamOutlet } from './stream.ts';

export interface OutflowOwner {
  /** A frame of DATA with so many bytes has been written; `crumb`: a window cut it very short. */
  onDataSent(bytes: number, crumb: boolean): void;
  /** What a stream had still to send has been sent, its end too. */
  onDelayedEnd(stream: Stream): void;
}

export class Outflow implements StreamOutlet {
  readonly #writer: FrameWriter;
  readonly #owner: OutflowOwner;
  #window = 65_535;
  /** As the other side wants it, and no more than Sluice sends. */
  frameBytesMax = frameBytesMax;
  /** Streams that have something to send, or wait for room; longest waiting first. */
  readonly #blocked = new Set<Stream>();

  constructor(writer: FrameWriter, owner: OutflowOwner) {
    this.#writer = writer;
    this.#owner = owner;
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
    const sent = this.#send(stream, chunk, 0, chunk.length, false);
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

  /** The stream has nothing more to send. */
  forget(stream: Stream): void {
    this.#blocked.delete(stream);
  }

  /** False: the window would be larger than it can be. */
  widen(bytes: number): boolean {
    if (this.#window + bytes > windowMax) return false;
    this.#window += bytes;
    this.pump();
    return true;
  }

  /** The stream's own window has opened. */
  pumpOne(stream: Stream): void {
    while (stream.pending.length > 0 && this.#step(stream));
    this.#afterStep(stream);
  }

  /** Everyone who waits sends in turns, a frame each, for as long as there is room. */
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

  /** Sends one frame of what is pending. False when it may not. */
  #step(stream: Stream): boolean {
    const { pending } = stream;
    const from = stream.pendingSent;
    const to = Math.min(pending.length, from + this.frameBytesMax);
    const last = to === pending.length && stream.endPending && stream.trailersPending === undefined;
    const sent = this.#send(stream, pending.bytes, from, to, last);
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

  /** Sends what windows and room allow of `bytes[from..to)`; returns how much. `end`: the stream ends with it. */
  #send(stream: Stream, bytes: Buffer, from: number, to: number, end: boolean): number {
    let at = from;
    while (at < to && !stream.over && !this.#writer.full) {
      const allowed = Math.min(this.#window, stream.sendWindow);
      if (allowed <= 0) break;
      const next = Math.min(to, at + this.frameBytesMax, at + allowed);
      this.#window -= next - at;
      stream.sendWindow -= next - at;
      this.#writer.data(stream, end && next === to ? frameFlag.endStream : 0, bytes, at, next);
      this.#owner.onDataSent(next - at, next < to && next - at < guards.crumbBytes);
      at = next;
    }
    return at - from;
  }

  #end(stream: Stream): void {
    if (!this.#writer.endLast(stream)) this.#writer.data(stream, frameFlag.endStream, none, 0, 0);
  }

  #trailers(stream: Stream, bytes: Buffer, length: number): void {
    this.#writer.headers(stream, frameFlag.endStream, bytes, length, this.frameBytesMax);
  }
}

const none = Buffer.alloc(0);
