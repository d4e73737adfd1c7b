// One HTTP/2 connection, of a client or to an upstream: bytes in, bytes out, streams between (RFC 9113). It knows no
// proxy: a host takes the requests or gives them, receivers take what comes on a stream. Strict: what the other side may
// not do ends the stream or the connection, with the reason that the RFC names.
import { ClosedStreams } from './closed-streams.ts';
import { errorCode, nameOfCode } from './error-code.ts';
import { type BlockLimits, FieldBlock } from './field-block.ts';
import type { FlushTurn } from './flush-turn.ts';
import { defaultWindow, frameFlag, frameType, preface, setting, streamIdMax, windowMax } from './frame.ts';
import { FrameReader, type FrameReceiver, streamIdAt, uint32At } from './frame-reader.ts';
import { type FrameSocket, FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import { HeaderAssembly } from './header-assembly.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import { Outflow, type OutflowOwner } from './outflow.ts';
import { Patience } from './patience.ts';
import { PeerSettings } from './peer-settings.ts';
import { Stream, type StreamOwner } from './stream.ts';

/** What a session tells whoever opened it. */
export interface SessionHost {
  /** A server's: a request's head is in `stream.fields`. The host gives the stream its receiver. */
  onRequest(stream: Stream): void;
  /** A stream has ended: there may be none left, or room for another. */
  onStreamGone(): void;
  /** The other side's settings have come, or changed. */
  onSettings(): void;
  /** The other side wants no new streams. */
  onGoAway(): void;
  /** Something has come. */
  onAlive(): void;
  /** Nothing more is read; what is gathered should leave, then the socket. `fault`: empty when all was well. */
  onFailed(fault: string): void;
}

export interface SessionOptions {
  readonly server: boolean;
  readonly turn: FlushTurn;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly limits: () => BlockLimits;
  /** Streams that the other side may open. */
  readonly streamsMax: number;
  /** What the other side may send on one stream before it was taken. */
  readonly streamWindow: number;
  /** Resets by the other side. */
  readonly resetsPerSecond: number;
}

/** Streams kept for later ones of the same connection. */
const keptStreamsMax = 32;
/** Those that had larger heads are not kept. */
const keptHeadBytesMax = 16 * 1024;
/** The connection's window does not hold a stream back: each stream has its own. */
const connectionWindow = 1 << 20;

export class Session implements FrameReceiver, StreamOwner, OutflowOwner {
  readonly #options: SessionOptions;
  readonly #host: SessionHost;
  readonly #reader = new FrameReader(this);
  readonly #writer: FrameWriter;
  readonly outflow: Outflow;
  readonly #decoder = new HpackDecoder(guards.tableBytes);
  readonly #assembly = new HeaderAssembly();
  readonly #closed = new ClosedStreams();
  readonly #patience: Patience;
  readonly peer = new PeerSettings();
  readonly #streams = new Map<number, Stream>();
  readonly #kept: Stream[] = [];
  /** Takes blocks that are decoded for the table's sake only. */
  readonly #unheard = new FieldBlock();
  #prefaceAt = 0;
  #settingsSeen = false;
  /** The highest id that the other side has used; for a client, the one it has used itself. */
  #lastId: number;
  #receiveWindow = connectionWindow;
  #unannounced = 0;
  /** Bytes of the heads of open streams. */
  #headBytes = 0;
  #dataStream: Stream | undefined;
  #dataEnds = false;
  #dataLength = 0;
  /** What may be begun at most: lowered by a GOAWAY in either direction. */
  #acceptMax = streamIdMax;
  #goingAway = false;
  #over = false;

  constructor(socket: FrameSocket, host: SessionHost, options: SessionOptions) {
    this.#host = host;
    this.#options = options;
    this.#writer = new FrameWriter(socket, options.turn);
    this.outflow = new Outflow(this.#writer, this);
    this.#patience = new Patience(options.nowMs, options.resetsPerSecond);
    this.#lastId = options.server ? 0 : -1;
    if (!options.server) this.#prefaceAt = preface.length;
    this.#greet();
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** No more streams can be begun here, by either side. */
  get closing(): boolean {
    return this.#goingAway || this.#over;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Neither a preface, nor a frame, nor a header block is under way: whoever is silent now owes nothing. */
  get atRest(): boolean {
    return this.#prefaceAt === preface.length && this.#settingsSeen && !this.#reader.midFrame && !this.#assembly.open;
  }

  /** Streams that want to send and may not. */
  get stalled(): number {
    return this.outflow.blocked;
  }

  get congested(): boolean {
    return this.#writer.congested;
  }

  /** Bytes arrived. */
  read(bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || to === from) return;
    this.#host.onAlive();
    let at = from;
    while (this.#prefaceAt < preface.length && at < to) {
      if (bytes[at++] !== preface[this.#prefaceAt++]) {
        this.fail(errorCode.protocol, 'invalid preface');
        return;
      }
    }
    this.#reader.read(bytes, at, to);
  }

  /** To be called on the socket's `drain`. */
  onDrain(): undefined {
    this.#writer.onDrain();
    this.#patience.onProgress();
    if (!this.#over) this.outflow.pump();
  }

  /** What is gathered leaves now, and not at the end of the turn. */
  flush(): undefined {
    this.#writer.flush();
  }

  /** A client begins a request; undefined when there is no room for one. The head is to follow at once. */
  request(): Stream | undefined {
    if (this.closing || this.#streams.size >= this.peer.maxConcurrentStreams || this.#lastId + 2 > streamIdMax)
      return undefined;
    this.#lastId += 2;
    return this.#open(this.#lastId);
  }

  /** Whether `request` would find room. */
  get room(): number {
    return this.closing ? 0 : Math.max(0, this.peer.maxConcurrentStreams - this.#streams.size);
  }

  ping(): undefined {
    this.#writer.ping(false, pingBytes, 0);
  }

  /** Asks the other side for no new streams; those on their way are still taken. */
  announceEnd(): undefined {
    if (!this.#over) this.#writer.goAway(streamIdMax, errorCode.none);
  }

  /** Takes no stream beyond those that have come. */
  endAfterThese(): undefined {
    if (this.#over || this.#acceptMax < streamIdMax) return;
    this.#goingAway = true;
    this.#acceptMax = Math.max(0, this.#lastId);
    this.#writer.goAway(this.#options.server ? this.#acceptMax : 0, errorCode.none);
  }

  /** Ends the connection for the other side's fault, or with `errorCode.none` for no fault. */
  fail(code: number, message: string): undefined {
    if (this.#over) return;
    this.#writer.goAway(this.#options.server ? Math.max(0, this.#lastId) : 0, code);
    this.#end(code, message);
    this.#writer.flush();
    this.#host.onFailed(code === errorCode.none ? '' : `${nameOfCode(code)}: ${message}`);
  }

  /** The socket is gone. */
  lost(message: string): undefined {
    this.#end(errorCode.cancel, message);
    this.#writer.close();
  }

  // What streams ask.

  onConsumed(stream: Stream, bytes: number): undefined {
    if (stream.remoteEnded) return;
    stream.unannounced += bytes;
    if (stream.unannounced < this.#options.streamWindow / 2) return;
    this.#writer.windowUpdate(stream.id, stream.unannounced);
    stream.receiveWindow += stream.unannounced;
    stream.unannounced = 0;
  }

  onLocalEnd(stream: Stream): undefined {
    stream.localEnded = true;
    if (stream.remoteEnded && (stream.endTold || this.#options.server)) this.#finish(stream);
    // The response is whole: what is left of the request is of no use to anybody (RFC 9113 §8.1).
    else if (this.#options.server) this.#resetAndTell(stream, errorCode.none);
  }

  onEndTold(stream: Stream): undefined {
    if (stream.localEnded) this.#finish(stream);
  }

  onLocalReset(stream: Stream, code: number): undefined {
    this.#writer.rstStream(stream.id, code);
    this.#close(stream, true);
  }

  onDataSent(crumb: boolean): undefined {
    this.#patience.onDataSent();
    if (crumb && !this.#patience.crumbs.take()) this.#calm('windows of a few bytes');
  }

  onDelayedEnd(stream: Stream): undefined {
    this.onLocalEnd(stream);
  }

  // What arrives.

  onFrameFault(fault: 'size' | 'padding', type: number): undefined {
    if (fault === 'size') this.fail(errorCode.frameSize, `a frame of type ${type} is too large`);
    else this.fail(errorCode.protocol, 'padding beyond the end of its frame');
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || !this.#mayCome(type, flags, streamId)) return;
    switch (type) {
      case frameType.headers:
        this.#onHeaders(flags, streamId, bytes, from, to);
        break;
      case frameType.continuation:
        this.#onBlockPart(flags, bytes, from, to);
        break;
      case frameType.priority:
        this.#onPriority(streamId, bytes, from, to);
        break;
      case frameType.rstStream:
        this.#onRstStream(streamId, bytes, from, to);
        break;
      case frameType.settings:
        this.#onSettings(flags, streamId, bytes, from, to);
        break;
      case frameType.pushPromise:
        this.fail(errorCode.protocol, 'PUSH_PROMISE');
        break;
      case frameType.ping:
        this.#onPing(flags, streamId, bytes, from, to);
        break;
      case frameType.goAway:
        this.#onGoAway(streamId, bytes, from, to);
        break;
      case frameType.windowUpdate:
        this.#onWindowUpdate(streamId, bytes, from, to);
        break;
      default:
        this.#bear('unknown frames');
    }
  }

  onData(flags: number, streamId: number, length: number): undefined {
    if (this.#over || !this.#mayCome(frameType.data, flags, streamId)) return;
    this.#dataStream = undefined;
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) return this.fail(errorCode.flowControl, 'the window of the connection is exceeded');
    this.#consumed(length);
    if (streamId === 0) return this.fail(errorCode.protocol, 'DATA on stream 0');
    const ends = (flags & frameFlag.endStream) !== 0;
    if (length === 0 && !ends && !this.#patience.emptyData.take()) return this.#calm('empty DATA');
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return this.#lateData(streamId);
    if (stream.remoteEnded) return this.#fault(stream, errorCode.streamClosed);
    if (!this.#options.server && !stream.headRead) return this.#fault(stream, errorCode.protocol);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) return this.#fault(stream, errorCode.flowControl);
    this.#dataStream = stream;
    this.#dataEnds = ends;
    this.#dataLength = 0;
  }

  onDataPart(bytes: Buffer, from: number, to: number): undefined {
    const stream = this.#dataStream;
    if (stream === undefined || stream.over) return;
    this.#dataLength += to - from;
    if (stream.contentLeft >= 0) {
      if (to - from > stream.contentLeft) return this.#fault(stream, errorCode.protocol);
      stream.contentLeft -= to - from;
    }
    stream.take(bytes, from, to);
  }

  onDataEnd(padding: number): undefined {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream === undefined || stream.over || this.#over) return;
    if (padding > 0) this.onConsumed(stream, padding);
    if (this.#dataEnds) this.#remoteEnd(stream);
  }

  // Frames.

  /** The order that every connection has to keep. */
  #mayCome(type: number, flags: number, streamId: number): boolean {
    if (!this.#settingsSeen) {
      if (type !== frameType.settings || (flags & frameFlag.ack) !== 0) {
        this.fail(errorCode.protocol, 'the first frame is not SETTINGS');
        return false;
      }
    }
    const wanted = this.#assembly.open;
    if (wanted === (type === frameType.continuation) && (!wanted || streamId === this.#assembly.streamId)) return true;
    this.fail(errorCode.protocol, wanted ? 'a header block is interrupted' : 'CONTINUATION without HEADERS');
    return false;
  }

  #onHeaders(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (streamId === 0) return this.fail(errorCode.protocol, 'HEADERS on stream 0');
    let start = from;
    let end = to;
    if ((flags & frameFlag.padded) !== 0) end -= bytes[start++] ?? 0;
    const selfish = (flags & frameFlag.priority) !== 0 && streamIdAt(bytes, start) === streamId;
    if ((flags & frameFlag.priority) !== 0) start += 5;
    if (start > to || end < start) return this.fail(errorCode.protocol, 'padding beyond the end of its frame');
    this.#assembly.begin(streamId, (flags & frameFlag.endStream) !== 0, selfish);
    if ((flags & frameFlag.endHeaders) !== 0) this.#onBlock(bytes, start, end);
    else this.#assembly.append(bytes, start, end);
  }

  #onBlockPart(flags: number, bytes: Buffer, from: number, to: number): undefined {
    const assembly = this.#assembly;
    if (!assembly.append(bytes, from, to)) return this.#calm('a header block without end');
    if ((flags & frameFlag.endHeaders) !== 0) this.#onBlock(assembly.bytes, 0, assembly.length);
  }

  /** A header block is whole. */
  #onBlock(bytes: Buffer, from: number, to: number): undefined {
    const { streamId, ends } = this.#assembly;
    const stream = this.#streams.get(streamId);
    if (stream !== undefined) this.#onFurtherBlock(stream, bytes, from, to, ends);
    else if (this.#options.server && streamId > this.#lastId) this.#onRequest(streamId, bytes, from, to, ends);
    else this.#lateBlock(streamId, bytes, from, to);
    this.#assembly.end();
  }

  #onRequest(streamId: number, bytes: Buffer, from: number, to: number, ends: boolean): undefined {
    if (streamId % 2 === 0) return this.fail(errorCode.protocol, 'a client uses an even stream');
    const refused = streamId > this.#acceptMax || this.#streams.size >= this.#options.streamsMax;
    this.#lastId = streamId;
    if (refused) {
      if (!this.#decode(bytes, from, to, this.#unheard, 'request')) return;
      this.#writer.rstStream(streamId, errorCode.refused);
      this.#closed.add(streamId, true);
      return streamId <= this.#acceptMax ? this.#countFault('streams beyond the limit') : undefined;
    }
    const stream = this.#open(streamId);
    const { fields } = stream;
    if (!this.#decode(bytes, from, to, fields, 'request')) return;
    this.#headBytes += fields.listBytes;
    stream.headRead = true;
    stream.contentLeft = fields.contentLength;
    if (fields.fault !== '' || this.#assembly.selfish) return this.#fault(stream, errorCode.protocol);
    if (this.#headBytes > guards.openHeadBytesMax && this.#streams.size > 1) {
      this.onLocalReset(stream, errorCode.refused);
      return this.#countFault('heads beyond the limit');
    }
    if (ends && stream.contentLeft > 0) return this.#fault(stream, errorCode.protocol);
    stream.remoteEnded = ends;
    this.#host.onRequest(stream);
    if (ends && stream.id === streamId) stream.tellEnd();
  }

  /** A response's head, or trailers of either side. */
  #onFurtherBlock(stream: Stream, bytes: Buffer, from: number, to: number, ends: boolean): undefined {
    if (stream.remoteEnded) {
      if (this.#decode(bytes, from, to, this.#unheard, 'trailers')) this.#fault(stream, errorCode.streamClosed);
      return;
    }
    if (stream.headRead) {
      const trailers = stream.trailerBlock();
      if (!this.#decode(bytes, from, to, trailers, 'trailers')) return;
      if (!ends || trailers.fault !== '' || trailers.tooLarge) return this.#fault(stream, errorCode.protocol);
      return this.#remoteEnd(stream);
    }
    if (!this.#decode(bytes, from, to, stream.fields, 'response')) return;
    this.#onResponse(stream, ends);
  }

  #onResponse(stream: Stream, ends: boolean): undefined {
    const { fields } = stream;
    const interim = fields.status < 200;
    if (fields.fault !== '' || fields.tooLarge || (interim && ends)) return this.#fault(stream, errorCode.protocol);
    if (interim) {
      if (++stream.interims > guards.interimMax) this.#fault(stream, errorCode.calm);
      else stream.receiver?.onHead(stream);
      return;
    }
    stream.headRead = true;
    const bodiless = stream.bodiless || fields.status === 204 || fields.status === 304;
    stream.contentLeft = bodiless ? 0 : fields.contentLength;
    if (ends && stream.contentLeft > 0) return this.#fault(stream, errorCode.protocol);
    stream.remoteEnded = ends;
    const { id } = stream;
    stream.receiver?.onHead(stream);
    if (ends && stream.id === id) stream.tellEnd();
  }

  #onPriority(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (streamId === 0) return this.fail(errorCode.protocol, 'PRIORITY on stream 0');
    if (to - from !== 5) return this.#faultOf(streamId, errorCode.frameSize);
    if (streamIdAt(bytes, from) === streamId) return this.#faultOf(streamId, errorCode.protocol);
    this.#bear('PRIORITY');
  }

  #onRstStream(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (to - from !== 4) return this.fail(errorCode.frameSize, 'RST_STREAM of another size');
    if (this.#isIdle(streamId)) return this.fail(errorCode.protocol, 'RST_STREAM on an idle stream');
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return this.#bear('RST_STREAM');
    const code = uint32At(bytes, from);
    if (!this.#options.server && stream.remoteEnded) return this.#stopSending(stream);
    this.#tellReset(stream, code, code === errorCode.refused, `the stream was reset: ${nameOfCode(code)}`, false);
    if (!this.#over && !this.#patience.resets.take()) this.#calm('resets');
  }

  /** The upstream has answered and wants no more of the request (RFC 9113 §8.1): its response is still to be taken. */
  #stopSending(stream: Stream): undefined {
    this.outflow.forget(stream);
    stream.pending.clear();
    stream.pendingSent = 0;
    stream.endPending = false;
    if (!stream.localEnded) this.onLocalEnd(stream);
  }

  #onSettings(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (streamId !== 0) return this.fail(errorCode.protocol, 'SETTINGS on a stream');
    const ack = (flags & frameFlag.ack) !== 0;
    if (ack ? to !== from : (to - from) % 6 !== 0) return this.fail(errorCode.frameSize, 'SETTINGS of another size');
    if (ack) return this.#bear('SETTINGS');
    if (!this.#patience.settings.take()) return this.#calm('SETTINGS');
    const { peer } = this;
    const before = peer.initialWindow;
    const fault = peer.read(bytes, from, to, !this.#options.server);
    if (fault !== undefined) return this.fail(fault.code, fault.message);
    this.#settingsSeen = true;
    this.#writer.settingsAck();
    if (peer.initialWindow !== before) this.#shiftWindows(peer.initialWindow - before);
    if (!this.#over) this.#host.onSettings();
  }

  #shiftWindows(by: number): undefined {
    for (const stream of this.#streams.values()) {
      stream.sendWindow += by;
      if (stream.sendWindow > windowMax) return this.fail(errorCode.flowControl, 'a window is too large');
    }
    if (by > 0) this.outflow.pump();
  }

  #onPing(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (streamId !== 0) return this.fail(errorCode.protocol, 'PING on a stream');
    if (to - from !== 8) return this.fail(errorCode.frameSize, 'PING of another size');
    if (!this.#patience.pings.take()) return this.#calm('PING');
    if ((flags & frameFlag.ack) === 0) this.#writer.ping(true, bytes, from);
  }

  #onGoAway(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (streamId !== 0) return this.fail(errorCode.protocol, 'GOAWAY on a stream');
    if (to - from < 8) return this.fail(errorCode.frameSize, 'GOAWAY of another size');
    if (!this.#patience.idleFrames.take()) return this.#calm('GOAWAY');
    const lastId = streamIdAt(bytes, from);
    const code = uint32At(bytes, from + 4);
    if (!this.#options.server) {
      this.#goingAway = true;
      const message = `the upstream is closing the connection: ${nameOfCode(code)}`;
      for (const stream of [...this.#streams.values()]) {
        if (stream.id > lastId && !stream.over) this.#tellReset(stream, code, true, message, false);
      }
    }
    this.#host.onGoAway();
  }

  #onWindowUpdate(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (to - from !== 4) return this.fail(errorCode.frameSize, 'WINDOW_UPDATE of another size');
    if (!this.#patience.idleFrames.take()) return this.#calm('WINDOW_UPDATE');
    const increment = streamIdAt(bytes, from);
    if (streamId === 0) {
      if (increment === 0) return this.fail(errorCode.protocol, 'WINDOW_UPDATE of 0');
      this.#patience.onProgress();
      if (!this.outflow.widen(increment)) this.fail(errorCode.flowControl, 'the window of the connection is too large');
      return;
    }
    if (this.#isIdle(streamId)) return this.fail(errorCode.protocol, 'WINDOW_UPDATE on an idle stream');
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if (increment === 0) return this.#fault(stream, errorCode.protocol);
    if (stream.sendWindow + increment > windowMax) return this.#fault(stream, errorCode.flowControl);
    stream.sendWindow += increment;
    this.#patience.onProgress();
    this.outflow.pumpOne(stream);
  }

  /** To be asked now and then: ends a connection on which many streams wait and nobody reads. */
  checkStall(): undefined {
    if (this.#over || this.outflow.blocked <= guards.stalledStreamsMax) this.#patience.onProgress();
    else if (this.#patience.stalledMs >= guards.stalledMs) this.#calm('streams that nobody reads');
  }

  // Streams.

  /** Nobody has used it. */
  #isIdle(streamId: number): boolean {
    return streamId % 2 === 0 || streamId > this.#lastId;
  }

  #open(id: number): Stream {
    const stream = this.#kept.pop() ?? new Stream(this);
    stream.open(id, this.peer.initialWindow, this.#options.streamWindow);
    this.#streams.set(id, stream);
    return stream;
  }

  /** False: the connection is over. */
  #decode(
    bytes: Buffer,
    from: number,
    to: number,
    block: FieldBlock,
    kind: 'request' | 'response' | 'trailers',
  ): boolean {
    block.begin(kind, this.#options.limits());
    const fault = this.#decoder.decode(bytes, from, to, block);
    if (fault !== '') {
      this.fail(errorCode.compression, fault);
      return false;
    }
    block.finish();
    return true;
  }

  /** The other side has ended the stream with DATA or trailers. */
  #remoteEnd(stream: Stream): undefined {
    if (stream.contentLeft > 0) return this.#fault(stream, errorCode.protocol);
    stream.remoteEnded = true;
    stream.tellEnd();
  }

  #finish(stream: Stream): undefined {
    const { receiver } = stream;
    this.#close(stream, false);
    receiver?.onOver(stream);
  }

  #resetAndTell(stream: Stream, code: number): undefined {
    const { receiver } = stream;
    this.onLocalReset(stream, code);
    receiver?.onOver(stream);
  }

  #close(stream: Stream, byUs: boolean): undefined {
    this.#streams.delete(stream.id);
    if (this.#dataStream === stream) this.#dataStream = undefined;
    this.outflow.forget(stream);
    this.#closed.add(stream.id, byUs);
    if (this.#options.server) this.#headBytes -= stream.fields.listBytes;
    stream.release();
    if (this.#kept.length < keptStreamsMax && stream.fields.listBytes < keptHeadBytesMax) this.#kept.push(stream);
    if (!this.#over) this.#host.onStreamGone();
  }

  #tellReset(stream: Stream, code: number, untouched: boolean, message: string, byUs: boolean): undefined {
    const { receiver } = stream;
    this.#close(stream, byUs);
    receiver?.onReset(stream, { code, untouched, message });
  }

  /** The other side has done with a stream what it may not. */
  #fault(stream: Stream, code: number): undefined {
    this.#writer.rstStream(stream.id, code);
    this.#tellReset(stream, code, false, stream.fields.fault || nameOfCode(code), true);
    this.#countFault('faults');
  }

  #faultOf(streamId: number, code: number): undefined {
    const stream = this.#streams.get(streamId);
    if (stream !== undefined) return this.#fault(stream, code);
    this.#writer.rstStream(streamId, code);
    this.#countFault('faults');
  }

  /** DATA for a stream that is not open. */
  #lateData(streamId: number): undefined {
    if (this.#isIdle(streamId)) return this.fail(errorCode.protocol, 'DATA on an idle stream');
    const how = this.#closed.how(streamId);
    if (how === 'ended') this.fail(errorCode.streamClosed, 'DATA on a closed stream');
    else if (how === 'unknown') this.#faultOf(streamId, errorCode.streamClosed);
  }

  #lateBlock(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const how = this.#closed.how(streamId);
    if (this.#isIdle(streamId)) this.fail(errorCode.protocol, 'HEADERS on an idle stream');
    else if (how === 'ended') this.fail(errorCode.streamClosed, 'HEADERS on a closed stream');
    else if (how === 'unknown') this.fail(errorCode.protocol, 'HEADERS on a stream that was passed over');
    else this.#decode(bytes, from, to, this.#unheard, 'trailers');
  }

  // The connection.

  #greet(): undefined {
    const { server, streamsMax, streamWindow } = this.#options;
    if (server) {
      this.#writer.settings([
        ...[setting.maxConcurrentStreams, streamsMax],
        ...[setting.initialWindowSize, streamWindow],
        ...[setting.maxHeaderListSize, guards.listBytesMax],
        ...[setting.enableConnectProtocol, 1],
      ]);
    } else {
      this.#writer.raw(preface);
      this.#writer.settings([
        ...[setting.enablePush, 0],
        ...[setting.initialWindowSize, streamWindow],
        ...[setting.maxHeaderListSize, guards.listBytesMax],
      ]);
    }
    this.#writer.windowUpdate(0, connectionWindow - defaultWindow);
  }

  #consumed(bytes: number): undefined {
    this.#unannounced += bytes;
    if (this.#unannounced < connectionWindow / 2) return;
    this.#writer.windowUpdate(0, this.#unannounced);
    this.#receiveWindow += this.#unannounced;
    this.#unannounced = 0;
  }

  #bear(what: string): undefined {
    if (!this.#patience.idleFrames.take()) this.#calm(what);
  }

  /** A stream has been reset for something that the other side did. */
  #countFault(what: string): undefined {
    if (!this.#over && !this.#patience.faults.take()) this.#calm(what);
  }

  #calm(what: string): undefined {
    this.fail(errorCode.calm, `too many: ${what}`);
  }

  #end(code: number, message: string): undefined {
    if (this.#over) return;
    this.#over = true;
    this.#reader.stop();
    this.#assembly.end();
    for (const stream of [...this.#streams.values()]) this.#tellReset(stream, code, false, message, true);
  }
}

const pingBytes = Uint8Array.from([0x73, 0x6c, 0x75, 0x69, 0x63, 0x65, 0, 0]);
