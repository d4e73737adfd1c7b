// Stream of a connection (RFC 9113 §5): its state, its two windows, and bytes that a slow side has not taken yet. The
// connection reads and writes for it; a receiver gives it a meaning. Reused for other streams of the same connection,
// so no reference to a stream that is over may be kept.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { FieldBlock } from './field-block.ts';
import { defaultWindow } from './frame.ts';
import type { HpackEncoder } from './hpack/encoder.ts';
import { PendingBytes } from './pending-bytes.ts';

/** Reason for a stream's early end. */
export interface StreamEnd {
  /** One of `errorCode`. */
  readonly code: number;
  /** True when the peer did not process the stream: the request may be retried elsewhere, with any method. */
  readonly untouched: boolean;
  /** True when the peer broke the protocol. */
  readonly faulty: boolean;
  /**
   * True when the connection ended without a byte since the stream began, though bytes had arrived before; or by a
   * GOAWAY with an error. Relevant to streams without a response.
   */
  readonly unanswered: boolean;
  readonly message: string;
}

/** Receiver of a stream's content. All calls come from the connection, one at a time. */
export interface StreamReceiver {
  /**
   * Called with a response's head in `stream.fields`; interim ones too. Not called for requests: those go to the
   * connection's host.
   */
  onHead(stream: Stream): void;
  /**
   * Takes a chunk, which is overwritten after the call. Returning false pauses the stream until `stream.resume()`.
   */
  onData(stream: Stream, chunk: Buffer): boolean;
  /** Called when the body is whole; `stream.trailers` holds the trailers. */
  onEnd(stream: Stream): void;
  /** Called when the stream is over without its end. */
  onReset(stream: Stream, end: StreamEnd): void;
  /** Called when there is room again, after `sendData` returned false. */
  onRoom(stream: Stream): void;
  /** Called when both sides have ended regularly. */
  onOver(stream: Stream): void;
}

/** Outlet of the streams, within their windows. After `false`, the stream's owner gets a callback later. */
export interface StreamOutlet {
  head(stream: Stream, block: HpackEncoder, end: boolean): void;
  /** Same contract as `Stream.sendData`. */
  data(stream: Stream, chunk: Buffer): boolean;
  /** Ends a stream. Returns false while the end waits for earlier bytes. */
  end(stream: Stream): boolean;
  /** Same contract as `end`. */
  trailers(stream: Stream, block: HpackEncoder): boolean;
}

/** Calls of a stream to its connection. */
export interface StreamOwner {
  readonly scheduler: StreamOutlet;
  /** Gives back bytes of the stream's receive window. */
  onConsumed(stream: Stream, bytes: number): void;
  /** Called when Sluice's side has ended. */
  onLocalEnd(stream: Stream): void;
  /** Called when the receiver has got the end of the peer's side. */
  onEndDelivered(stream: Stream): void;
  /** Resets the stream with the given code. */
  onLocalReset(stream: Stream, code: number): void;
}

export class Stream {
  readonly #owner: StreamOwner;
  id = 0;
  receiver: StreamReceiver | undefined;
  /** Last head; valid until the object is reused for another stream. */
  fields = new FieldBlock();
  #trailers: FieldBlock | undefined;
  #hasTrailers = false;
  localEnded = false;
  remoteEnded = false;
  over = true;
  /** True once the final head has arrived: later fields are trailers. */
  headRead = false;
  /** True when the peer has ended with its head: neither body nor trailers follow. */
  headOnly = false;
  /** True for a response to HEAD: it has no body, in spite of its Content-Length. */
  bodiless = false;
  interimBytes = 0;
  /** True when clients that see the sent head send no more. */
  clientStops = false;
  /** True while the rest of the request has a consumer: the response's end does not end the stream. */
  restWanted = false;
  /** Number of reads of the connection at the stream's beginning. */
  begunAtRead = 0;
  /** Bytes that Content-Length announced and that have not arrived; −1 = none announced. */
  contentLeft = -1;
  /** Bytes that the peer may still send. */
  receiveWindow = defaultWindow;
  /** Bytes taken and not given back to the peer yet. */
  unannounced = 0;
  /** Bytes that may still be sent; below 0 after the peer has lowered it. */
  sendWindow = defaultWindow;
  /** Largest value that `sendWindow` has had. */
  sendWindowPeak = defaultWindow;
  /** Looks through which its next frame has waited for a wider window; −1 = it does not wait. */
  heldLooks = -1;
  /** Bytes not sent for want of window or of room. */
  readonly pending = new PendingBytes();
  /** Length of the part of `pending` that has been sent. */
  pendingSent = 0;
  /** True when the stream ends with `pending`: with the trailers, if there are any. */
  endPending = false;
  trailersPending: Buffer | undefined;
  /** True after `sendData` returned false. */
  wantsRoom = false;
  /** Position of its last frame's flags in the gathered bytes, and the number of that batch. */
  lastFlagsAt = 0;
  lastGathering = -1;
  readonly #undelivered = new ReceiveBuffer();
  #paused = false;
  /** Bytes that the receiver took while it paused the stream. */
  #unreturned = 0;
  /** True once the receiver has got the end of the peer's side. */
  endDelivered = false;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
  }

  /** Prepares the object for another stream. */
  open(id: number, sendWindow: number, receiveWindow: number): void {
    this.id = id;
    this.receiver = undefined;
    this.#trailers?.clear();
    this.#hasTrailers = false;
    this.localEnded = false;
    this.remoteEnded = false;
    this.over = false;
    this.headRead = false;
    this.headOnly = false;
    this.bodiless = false;
    this.interimBytes = 0;
    this.clientStops = false;
    this.restWanted = false;
    this.contentLeft = -1;
    this.receiveWindow = receiveWindow;
    this.unannounced = 0;
    this.sendWindow = sendWindow;
    this.sendWindowPeak = sendWindow;
    this.heldLooks = -1;
    this.endPending = false;
    this.wantsRoom = false;
    this.lastGathering = -1;
    this.#paused = false;
    this.#unreturned = 0;
    this.endDelivered = false;
  }

  /** Bytes that it has been given and has not sent. */
  get unsent(): number {
    return this.pending.length - this.pendingSent;
  }

  /** Widens the send window. */
  widen(bytes: number): void {
    this.sendWindow += bytes;
    this.sendWindowPeak = Math.max(this.sendWindowPeak, this.sendWindow);
  }

  /** Applies a change of the peer's initial window. */
  shiftWindow(by: number): void {
    this.sendWindow += by;
    this.sendWindowPeak += by;
  }

  /** Releases all it holds but its head. */
  release(): void {
    this.over = true;
    this.receiver = undefined;
    this.pending.clear();
    this.pendingSent = 0;
    this.trailersPending = undefined;
    this.#undelivered.clear();
  }

  /** Trailers; undefined where none arrived. */
  get trailers(): FieldBlock | undefined {
    return this.#hasTrailers ? this.#trailers : undefined;
  }

  /** Returns the block to fill with trailers. */
  trailerBlock(): FieldBlock {
    this.#trailers ??= new FieldBlock();
    return this.#trailers;
  }

  setTrailers(trailers: FieldBlock): void {
    this.#trailers = trailers;
    this.#hasTrailers = true;
  }

  /** Takes the head away, for a caller that keeps it longer than the stream. */
  takeFields(): FieldBlock {
    const { fields } = this;
    this.fields = new FieldBlock();
    return fields;
  }

  // Sending.

  /** Sends a head. `end`: nothing follows. The block is copied. */
  sendHead(block: HpackEncoder, end: boolean): void {
    if (this.over || this.localEnded) return;
    this.#owner.scheduler.head(this, block, end);
    if (end) this.#owner.onLocalEnd(this);
  }

  /** Sends a chunk. Returns false when all has been taken and there is no room for more until `onRoom`. */
  sendData(chunk: Buffer): boolean {
    return this.over || this.localEnded || this.#owner.scheduler.data(this, chunk);
  }

  sendEnd(): void {
    if (this.over || this.localEnded || this.endPending) return;
    if (this.#owner.scheduler.end(this)) this.#owner.onLocalEnd(this);
  }

  /** Ends the stream with these fields. */
  sendTrailers(block: HpackEncoder): void {
    if (this.over || this.localEnded || this.endPending) return;
    if (this.#owner.scheduler.trailers(this, block)) this.#owner.onLocalEnd(this);
  }

  /** Drops the rest of the request, which has no consumer any more. */
  dropRest(): void {
    this.restWanted = false;
    if (this.localEnded && !this.over) this.#owner.onLocalEnd(this);
  }

  /** Resets the stream; the receiver gets no more calls. */
  reset(code: number): void {
    if (!this.over) this.#owner.onLocalReset(this, code);
  }

  // Receiving.

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused || this.over) return;
    const { id } = this;
    this.#paused = false;
    const withheld = this.#unreturned;
    this.#unreturned = 0;
    if (withheld > 0) this.#owner.onConsumed(this, withheld);
    const { bytes, length } = this.#undelivered;
    if (length > 0) {
      this.#undelivered.clear();
      this.#deliver(bytes.subarray(0, length));
    }
    if (this.id === id) this.deliverEnd();
  }

  /** Takes `bytes[from..to)`, a part of the body. */
  take(bytes: Buffer, from: number, to: number): void {
    if (this.#paused || this.#undelivered.length > 0) this.#undelivered.append(bytes, from, to);
    else this.#deliver(bytes.subarray(from, to));
  }

  /** Passes the end to the receiver, once it has taken all data before. */
  deliverEnd(): void {
    if (!this.remoteEnded || this.#paused || this.endDelivered || this.over || this.#undelivered.length > 0) return;
    const { id } = this;
    this.endDelivered = true;
    this.receiver?.onEnd(this);
    if (this.id === id && !this.over) this.#owner.onEndDelivered(this);
  }

  #deliver(chunk: Buffer): void {
    const { id } = this;
    const { length } = chunk;
    const more = this.receiver === undefined || this.receiver.onData(this, chunk);
    if (this.over || this.id !== id) return;
    this.#paused ||= !more;
    if (this.#paused) this.#unreturned += length;
    else this.#owner.onConsumed(this, length);
  }
}
