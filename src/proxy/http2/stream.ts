// One stream of a connection (RFC 9113 §5): what it may still say and hear, its two windows, and what a slow side has
// not taken yet. The connection reads and writes for it; a receiver makes something of it. Used again for other
// streams of the same connection, so nobody may hold on to one that is over.

import { ReceiveBuffer } from '../socket/receive-buffer.ts';
import { FieldBlock } from './field-block.ts';
import { defaultWindow } from './frame.ts';
import type { HpackEncoder } from './hpack/encoder.ts';
import { PendingBytes } from './pending-bytes.ts';

/** Why a stream ended before its time. */
export interface StreamEnd {
  /** One of `errorCode`. */
  readonly code: number;
  /** The other side says that it did nothing with it: it may be tried elsewhere, whatever it was. */
  readonly untouched: boolean;
  /** The other side has said what it may not. */
  readonly faulty: boolean;
  /**
   * The connection ended without a byte since the stream began, though there had been some before; or for something that
   * the other side had against it. Matters to streams without a response.
   */
  readonly unanswered: boolean;
  readonly message: string;
}

/** Whoever makes something of a stream. All calls come from the connection, one at a time. */
export interface StreamReceiver {
  /** A response's head is in `stream.fields`; interim ones too. Not called for requests: those are the connection's host's. */
  onHead(stream: Stream): void;
  /** The chunk is overwritten after the call. False: no more until `stream.resume()`. */
  onData(stream: Stream, chunk: Buffer): boolean;
  /** The body is whole; `stream.trailers` holds what came behind it. */
  onEnd(stream: Stream): void;
  /** The stream is over without its end. */
  onReset(stream: Stream, end: StreamEnd): void;
  /** Room again, after `sendData` said false. */
  onRoom(stream: Stream): void;
  /** Both sides have ended as they should. */
  onOver(stream: Stream): void;
}

/** Where streams send, within their windows. What follows `false` is told to the stream's owner later. */
export interface StreamOutlet {
  head(stream: Stream, block: HpackEncoder, end: boolean): void;
  /** As `Stream.sendData`. */
  data(stream: Stream, chunk: Buffer): boolean;
  /** False: the end waits for what is before it. */
  end(stream: Stream): boolean;
  /** As `end`. */
  trailers(stream: Stream, block: HpackEncoder): boolean;
}

/** What a stream asks of its connection. */
export interface StreamOwner {
  readonly outflow: StreamOutlet;
  /** So many bytes have been taken for good. */
  onConsumed(stream: Stream, bytes: number): void;
  /** Its own side has ended. */
  onLocalEnd(stream: Stream): void;
  /** The receiver has been told that the other side has ended. */
  onEndTold(stream: Stream): void;
  /** Resets it for the given reason. */
  onLocalReset(stream: Stream, code: number): void;
}

export class Stream {
  readonly #owner: StreamOwner;
  id = 0;
  receiver: StreamReceiver | undefined;
  /** The head that came last; it stays as it is until the object becomes another stream. */
  fields = new FieldBlock();
  #trailers: FieldBlock | undefined;
  #hasTrailers = false;
  localEnded = false;
  remoteEnded = false;
  over = true;
  /** The final head has come: what follows are trailers. */
  headRead = false;
  /** The other side has ended with its head: neither body nor trailers follow. */
  headOnly = false;
  /** What comes has no body, whatever its head says: it answers HEAD. */
  bodiless = false;
  interims = 0;
  /** Clients that see the head that was sent send no more. */
  endsGently = false;
  /** What the client still sends has a taker: its own end does not end the stream. */
  readsOn = false;
  /** How often something had come on the connection when it began. */
  begunAtRead = 0;
  /** Bytes that the head promised and that have not come; −1 = nothing promised. */
  contentLeft = -1;
  /** Bytes that the other side may still send. */
  receiveWindow = defaultWindow;
  /** Taken, and not announced to the other side yet. */
  unannounced = 0;
  /** Bytes that may still be sent; below 0 after the other side has lowered it. */
  sendWindow = defaultWindow;
  /** The most that `sendWindow` has held. */
  sendWindowPeak = defaultWindow;
  /** Looks through which its next frame has waited for a wider window; −1: it does not wait. */
  heldLooks = -1;
  /** Not sent for want of window or of room. */
  readonly pending = new PendingBytes();
  /** The part of `pending` that has been sent. */
  pendingSent = 0;
  /** Ends with `pending`: with the trailers, if there are any. */
  endPending = false;
  trailersPending: Buffer | undefined;
  /** `sendData` said false. */
  wantsRoom = false;
  /** Where the flags of its last frame lie in what is gathered, and in which gathering. */
  lastFlagsAt = 0;
  lastGathering = -1;
  readonly #arrived = new ReceiveBuffer();
  #paused = false;
  /** Bytes that the receiver took with its last word being false. */
  #withheld = 0;
  /** The receiver knows that the other side has ended. */
  endTold = false;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
  }

  /** Becomes another stream. */
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
    this.interims = 0;
    this.endsGently = false;
    this.readsOn = false;
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
    this.#withheld = 0;
    this.endTold = false;
  }

  /** Bytes that it has been given and has not sent. */
  get unsent(): number {
    return this.pending.length - this.pendingSent;
  }

  /** The other side lets it send so much more. */
  widen(bytes: number): void {
    this.sendWindow += bytes;
    this.sendWindowPeak = Math.max(this.sendWindowPeak, this.sendWindow);
  }

  /** The other side has changed what windows begin with. */
  shiftWindow(by: number): void {
    this.sendWindow += by;
    this.sendWindowPeak += by;
  }

  /** Lets go of everything it holds but its head. */
  release(): void {
    this.over = true;
    this.receiver = undefined;
    this.pending.clear();
    this.pendingSent = 0;
    this.trailersPending = undefined;
    this.#arrived.clear();
  }

  /** Undefined where none came. */
  get trailers(): FieldBlock | undefined {
    return this.#hasTrailers ? this.#trailers : undefined;
  }

  /** To be filled, and then set. */
  trailerBlock(): FieldBlock {
    this.#trailers ??= new FieldBlock();
    return this.#trailers;
  }

  setTrailers(trailers: FieldBlock): void {
    this.#trailers = trailers;
    this.#hasTrailers = true;
  }

  /** Whoever has to keep the head for longer than the stream. */
  takeFields(): FieldBlock {
    const { fields } = this;
    this.fields = new FieldBlock();
    return fields;
  }

  // What goes out.

  /** `end`: nothing follows. The block is copied. */
  sendHead(block: HpackEncoder, end: boolean): void {
    if (this.over || this.localEnded) return;
    this.#owner.outflow.head(this, block, end);
    if (end) this.#owner.onLocalEnd(this);
  }

  /** False: all has been taken, but there is no room for more until `onRoom`. */
  sendData(chunk: Buffer): boolean {
    return this.over || this.localEnded || this.#owner.outflow.data(this, chunk);
  }

  sendEnd(): void {
    if (this.over || this.localEnded || this.endPending) return;
    if (this.#owner.outflow.end(this)) this.#owner.onLocalEnd(this);
  }

  /** Ends with these fields. */
  sendTrailers(block: HpackEncoder): void {
    if (this.over || this.localEnded || this.endPending) return;
    if (this.#owner.outflow.trailers(this, block)) this.#owner.onLocalEnd(this);
  }

  /** What the client still sends has no taker any more. */
  leaveRest(): void {
    this.readsOn = false;
    if (this.localEnded && !this.over) this.#owner.onLocalEnd(this);
  }

  /** The receiver hears nothing more. */
  reset(code: number): void {
    if (!this.over) this.#owner.onLocalReset(this, code);
  }

  // What comes in.

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused || this.over) return;
    const { id } = this;
    this.#paused = false;
    const withheld = this.#withheld;
    this.#withheld = 0;
    if (withheld > 0) this.#owner.onConsumed(this, withheld);
    const { bytes, length } = this.#arrived;
    if (length > 0) {
      this.#arrived.clear();
      this.#deliver(bytes.subarray(0, length));
    }
    if (this.id === id) this.tellEnd();
  }

  /** A part of the body is `bytes[from..to)`. */
  take(bytes: Buffer, from: number, to: number): void {
    if (this.#paused || this.#arrived.length > 0) this.#arrived.append(bytes, from, to);
    else this.#deliver(bytes.subarray(from, to));
  }

  /** Tells the receiver of the end, once it has taken everything before. */
  tellEnd(): void {
    if (!this.remoteEnded || this.#paused || this.endTold || this.over || this.#arrived.length > 0) return;
    const { id } = this;
    this.endTold = true;
    this.receiver?.onEnd(this);
    if (this.id === id && !this.over) this.#owner.onEndTold(this);
  }

  #deliver(chunk: Buffer): void {
    const { id } = this;
    const { length } = chunk;
    const more = this.receiver === undefined || this.receiver.onData(this, chunk);
    if (this.over || this.id !== id) return;
    this.#paused ||= !more;
    if (this.#paused) this.#withheld += length;
    else this.#owner.onConsumed(this, length);
  }
}
