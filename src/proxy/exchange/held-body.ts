// Held body: a body that a middleware reads before it passes, or that may have to be sent again. Received bytes are
// held in one growing buffer and passed on whole; the rest follows from its source (proxy.md, Bodies).

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import type { BodySink, BodySource } from '../message/body.ts';
import type { ProxyError } from '../message/proxy-error.ts';

/** Result of `collect`. */
export interface CollectedBody {
  readonly bytes: Buffer;
  /** True when nothing follows. */
  readonly whole: boolean;
  /** True when there was no room for more. */
  readonly lacksRoom: boolean;
}

/** Count of the bytes of one body among those that may be held together. */
export interface HeldCount {
  /** Returns false when there is no room for so many bytes more. */
  grow(bytes: number): boolean;
  /** Gives the room of all bytes back; nothing is counted any more. */
  release(): void;
}

export const emptyBuffer = Buffer.alloc(0);

/** Returns a body that is in memory anyway. */
export const readBody = (bytes: Buffer): CollectedBody => ({ bytes, whole: true, lacksRoom: false });

export class HeldBody implements BodySource, BodySink {
  readonly #source: BodySource;
  readonly #held = new ReceiveBuffer();
  /** Bytes received, as long as none of them is dropped. */
  #bytes = 0;
  /** Bytes up to which passed data is kept for sending again. */
  #keptMax = 0;
  /** True when a part of the passed data is no longer held. */
  #dropped = false;
  /** Held bytes that the sink has got. */
  #given = 0;
  #started = false;
  #ended = false;
  #trailers = '';
  #failure: ProxyError | undefined;
  #sink: BodySink | undefined;
  /** True while the sink has no room. */
  #blocked = false;
  #delivering = false;
  /** True while the source waits for `resume`. */
  #sourceWaits = false;
  #collectMax = -1;
  #collecting = false;
  #count: HeldCount | undefined;
  #lacksRoom = false;
  #onCollected: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Holds passing data as well, up to so many bytes, so that `rewind` can start over. */
  keep(bytesMax: number): void {
    this.#keptMax = bytesMax;
  }

  /** Releases bytes that the sink has got and keeps no more: the body is not sent again. */
  release(): void {
    this.#keptMax = 0;
    if (!this.#collecting) this.#forget();
  }

  /** Memory in bytes. */
  get memory(): number {
    return this.#held.bytes.length;
  }

  /** True while all passed data can be sent again. */
  get replayable(): boolean {
    return !this.#dropped && this.#failure === undefined;
  }

  /** Bytes received so far, as long as all are held. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** True once the body has come to its end. */
  get whole(): boolean {
    return this.#ended;
  }

  /** All held bytes in one buffer. */
  get bytes(): Buffer {
    return this.#held.content;
  }

  get trailers(): string {
    return this.#trailers;
  }

  /**
   * Reads on until more than `bytesMax` bytes are held, or the end. Returns true when that is so already; otherwise
   * `onCollected` is called once, also when the body fails, or the bytes find no room in `count`. Called before `start`.
   */
  collect(bytesMax: number, onCollected: () => void, count?: HeldCount): boolean {
    this.#collectMax = bytesMax;
    this.#countIn(count);
    if (this.#settled) return true;
    this.#collecting = true;
    this.#waitForSource();
    if (!this.#collecting) return true;
    this.#onCollected = onCollected;
    return false;
  }

  /** True when the bytes found no room. */
  get lacksRoom(): boolean {
    return this.#lacksRoom;
  }

  get failed(): ProxyError | undefined {
    return this.#failure;
  }

  // Source side.

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#blocked = false;
    this.#given = 0;
    this.#deliver();
  }

  pause(): void {
    this.#blocked = true;
    this.#source.pause();
  }

  resume(): void {
    this.#blocked = false;
    if (this.#sink !== undefined) this.#deliver();
  }

  abort(why: ProxyError): void {
    this.#sink = undefined;
    this.#drop();
    this.#source.abort(why);
  }

  /** Detaches the sink: the next `start` begins at the beginning. */
  rewind(): void {
    this.#sink = undefined;
    this.#blocked = false;
    this.#given = 0;
  }

  // Sink side.

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    const sink = this.#sink;
    if (sink === undefined || this.#behind) return this.#hold(chunk);
    this.#record(chunk);
    if (sink.data(chunk)) return true;
    this.#blocked = true;
    this.#sourceWaits = true;
    return false;
  }

  end(trailers: string): void {
    this.#ended = true;
    this.#trailers = trailers;
    this.#collected();
    if (this.#sink !== undefined && !this.#behind && !this.#delivering) this.#sink.end(trailers);
  }

  fail(why: ProxyError): void {
    this.#failure = why;
    this.#collected();
    this.#sink?.fail(why);
  }

  /** True while the sink has not got all held bytes. */
  get #behind(): boolean {
    return this.#blocked || this.#given < this.#held.length;
  }

  get #settled(): boolean {
    return this.#ended || this.#failure !== undefined || this.#lacksRoom || this.#bytes > this.#collectMax;
  }

  /** The first count stays: bytes are counted once. */
  #countIn(count: HeldCount | undefined): void {
    if (this.#count !== undefined || count === undefined || this.#dropped) return;
    this.#count = count;
    this.#lacksRoom = !count.grow(this.#held.length);
  }

  #hold(chunk: Buffer): boolean {
    this.#held.append(chunk, 0, chunk.length);
    this.#bytes += chunk.length;
    if (this.#count?.grow(chunk.length) === false) this.#lacksRoom = true;
    const more = this.#collecting && !this.#settled;
    if (!more) {
      this.#sourceWaits = true;
      this.#collected();
    }
    return more;
  }

  /** Records a passing chunk for sending again, within the limit. */
  #record(chunk: Buffer): void {
    if (this.#dropped) return;
    if (this.#bytes + chunk.length > this.#keptMax) {
      this.#drop();
      return;
    }
    this.#held.append(chunk, 0, chunk.length);
    this.#bytes += chunk.length;
    this.#given = this.#held.length;
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#delivering) return;
    this.#delivering = true;
    while (this.#given < this.#held.length && !this.#blocked) {
      const { bytes, length } = this.#held;
      const chunk = bytes.subarray(this.#given, Math.min(length, this.#given + sliceBytes));
      this.#given += chunk.length;
      if (!sink.data(chunk)) this.#blocked = true;
    }
    this.#delivering = false;
    if (this.#blocked || this.#sink !== sink) return;
    if (this.#failure !== undefined) sink.fail(this.#failure);
    else if (this.#ended) sink.end(this.#trailers);
    else this.#waitForSource();
    if (this.#dropped || this.#bytes > this.#keptMax) this.#forget();
  }

  /** Drops held bytes that exceed the limit and have all been sent. */
  #forget(): void {
    if (this.#given === this.#held.length) this.#drop();
  }

  #drop(): void {
    this.#dropped = true;
    this.#count?.release();
    this.#held.clear();
    this.#given = 0;
  }

  #waitForSource(): void {
    if (!this.#started) {
      this.#started = true;
      this.#source.start(this);
    } else if (this.#sourceWaits) {
      this.#sourceWaits = false;
      this.#source.resume();
    }
  }

  #collected(): void {
    this.#collecting = false;
    const tell = this.#onCollected;
    this.#onCollected = undefined;
    tell?.();
  }
}

/**
 * Returns the received part of the body once more than `bytesMax` bytes are held, or its end; undefined when it
 * fails.
 */
export function collected(
  body: HeldBody,
  bytesMax: number,
  count?: HeldCount,
): CollectedBody | undefined | Promise<CollectedBody | undefined> {
  const found = (): CollectedBody | undefined =>
    body.failed === undefined ? { bytes: body.bytes, whole: body.whole, lacksRoom: body.lacksRoom } : undefined;
  let told: (found: CollectedBody | undefined) => void = () => {};
  if (body.collect(bytesMax, () => told(found()), count)) return found();
  return new Promise((resolve) => {
    told = resolve;
  });
}

/** Body that is in memory already. */
export class WholeBody implements BodySource {
  readonly #bytes: Buffer;
  #sink: BodySink | undefined;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#at = 0;
    this.#deliver();
  }

  pause(): void {}

  resume(): void {
    this.#deliver();
  }

  abort(_why: ProxyError): void {
    this.#sink = undefined;
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    while (this.#at < this.#bytes.length) {
      const chunk = this.#bytes.subarray(this.#at, this.#at + sliceBytes);
      this.#at += chunk.length;
      if (!sink.data(chunk)) return;
    }
    this.#sink = undefined;
    sink.end('');
  }
}

/** Bytes given to a sink at once. */
const sliceBytes = 64 * 1024;

/** Sink that drops all data. */
export const nullSink: BodySink = {
  from() {},
  data: () => true,
  end() {},
  fail() {},
};
