// HTTP/2 connection, of a client or to an upstream: bytes in, bytes out, streams between (RFC 9113). Independent of
// the proxy: a host takes the requests or makes them, receivers take the content of a stream. Strict: an illegal
// frame ends the stream or the connection, with the reason that the RFC names.

import { AbuseCounters } from './abuse-counters.ts';
import { ControlFrames } from './control-frames.ts';
import { connectionWindow, DataFrames } from './data-frames.ts';
import { discardedBytesMax, EarlyResponseResets } from './early-response-resets.ts';
import { errorCode, nameOfCode } from './error-code.ts';
import { defaultWindow, frameFlag, frameType, preface, setting, streamIdMax } from './frame.ts';
import { FrameReader, type FrameReceiver } from './frame-reader.ts';
import { type FrameSocket, FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import { HeaderFrames } from './header-frames.ts';
import { PeerSettings } from './peer-settings.ts';
import { PendingRequests } from './pending-requests.ts';
import { SendScheduler, type SendSchedulerOwner } from './send-scheduler.ts';
import type { SessionCore, SessionHost, SessionOptions } from './session-core.ts';
import type { Stream, StreamEnd, StreamOwner } from './stream.ts';
import { StreamQueue } from './stream-queue.ts';
import { StreamTable } from './stream-table.ts';

/** Streams with an early response that have not been reset; fewer than `ClosedStreams` remembers. */
const earlyResponsesMax = 128;

export class Session implements SessionCore, FrameReceiver, StreamOwner, SendSchedulerOwner {
  readonly options: SessionOptions;
  readonly host: SessionHost;
  readonly writer: FrameWriter;
  readonly scheduler: SendScheduler;
  readonly counters: AbuseCounters;
  readonly peer = new PeerSettings();
  readonly streams: StreamTable;
  readonly earlyResponses = new EarlyResponseResets();
  readonly #headers = new HeaderFrames(this);
  readonly #control = new ControlFrames(this);
  readonly #data = new DataFrames(this);
  readonly #reader = new FrameReader(this, this.#data);
  readonly #pending: PendingRequests;
  #prefaceAt = 0;
  /** Number of reads. */
  #reads = 0;
  #over = false;

  constructor(socket: FrameSocket, host: SessionHost, options: SessionOptions) {
    this.host = host;
    this.options = options;
    this.writer = new FrameWriter(socket, options.batcher, () => this.#goOn());
    this.scheduler = new SendScheduler(this.writer, this, options.wheel);
    this.counters = new AbuseCounters(options.nowMs, options.resetsPerSecond);
    this.streams = new StreamTable(this, options.server ? 0 : -1);
    this.#pending = new PendingRequests(options, this.peer, this.streams, this.writer, (id) => this.#begin(id));
    if (!options.server) this.#prefaceAt = preface.length;
    this.#greet();
  }

  get streamCount(): number {
    return this.streams.size;
  }

  /** True while requests have arrived that the host has not got yet. */
  get requestsWait(): boolean {
    return !this.#over && this.#pending.size > 0;
  }

  /** True when no more streams can begin, from either side. */
  get closing(): boolean {
    return this.#control.goingAway || this.#over;
  }

  /** True when the peer takes extended CONNECT (RFC 8441); undefined before its first SETTINGS. */
  get connectProtocol(): boolean | undefined {
    return this.#control.settingsSeen ? this.peer.connectProtocol : undefined;
  }

  get over(): boolean {
    return this.#over;
  }

  /**
   * True when neither a preface, nor a frame, nor a header block is incomplete: a silent client is idle and not slow.
   */
  get atRest(): boolean {
    return (
      this.#prefaceAt === preface.length &&
      this.#control.settingsSeen &&
      !this.#reader.midFrame &&
      !this.#headers.assembly.open
    );
  }

  /** Bytes held of a frame or a header block that is not whole. */
  get unfinishedBytes(): number {
    return this.#reader.heldBytes + this.#headers.assembly.heldBytes;
  }

  /** Number of streams that have bytes and may not send, and of requests that wait for them. */
  get stalled(): number {
    return this.scheduler.blocked + this.#pending.held;
  }

  get congested(): boolean {
    return this.writer.congested;
  }

  /** Reads received bytes. */
  read(bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || to === from) return;
    this.#reads++;
    this.#pending.onRead();
    this.host.onAlive();
    let at = from;
    while (this.#prefaceAt < preface.length && at < to) {
      if (bytes[at++] !== preface[this.#prefaceAt++]) {
        this.fail(errorCode.protocol, 'invalid preface');
        return;
      }
    }
    this.#reader.read(bytes, at, to);
  }

  /** Resumes writing; the owner calls it on the socket's `drain`. */
  onDrain(): undefined {
    this.writer.onDrain();
    this.counters.onProgress();
    this.#goOn();
    this.#pending.resume();
  }

  #goOn(): undefined {
    if (!this.#over) this.scheduler.pump();
  }

  /** Writes gathered frames now, and not at the end of the tick. */
  flush(): undefined {
    this.writer.writeOut();
  }

  /** Begins a request of a client; undefined when there is no room for one. The head has to follow at once. */
  request(): Stream | undefined {
    if (this.closing || this.streams.size >= this.peer.maxConcurrentStreams || this.streams.lastId + 2 > streamIdMax)
      return undefined;
    this.streams.lastId += 2;
    const stream = this.streams.open(this.streams.lastId, this.peer.initialWindow, this.options.streamWindow);
    stream.begunAtRead = this.#reads;
    return stream;
  }

  /** Number of requests that `request` has room for. */
  get room(): number {
    return this.closing ? 0 : Math.max(0, this.peer.maxConcurrentStreams - this.streams.size);
  }

  /** True while the peer takes no request at all. */
  get refusesStreams(): boolean {
    return this.peer.maxConcurrentStreams === 0;
  }

  ping(): undefined {
    this.writer.ping(false, pingBytes, 0);
  }

  /** Asks the peer for no new streams; streams on their way are still taken. */
  announceEnd(): undefined {
    if (!this.#over) this.writer.goAway(streamIdMax, errorCode.none);
  }

  /** Takes no stream beyond those that have arrived. */
  endAfterThese(): undefined {
    if (this.#over || this.#headers.acceptMax < streamIdMax) return;
    this.#control.goingAway = true;
    this.#headers.acceptMax = Math.max(0, this.streams.lastId);
    this.writer.goAway(this.options.server ? this.#headers.acceptMax : 0, errorCode.none);
  }

  /** Ends the connection for an error of the peer, or with `errorCode.none` without one. */
  fail(code: number, message: string): undefined {
    if (this.#over) return;
    this.writer.goAway(this.options.server ? Math.max(0, this.streams.lastId) : 0, code);
    this.#end(code, message, code !== errorCode.none);
    this.writer.writeOut();
    this.host.onFailed(code === errorCode.none ? '' : `${nameOfCode(code)}: ${message}`);
  }

  /** Ends all streams: the socket is closed. */
  lost(message: string): undefined {
    const { goAwayError } = this.#control;
    this.#end(errorCode.cancel, goAwayError === '' ? message : `${message} after GOAWAY: ${goAwayError}`, false);
    this.writer.close();
  }

  // Calls of the streams.

  onConsumed(stream: Stream, bytes: number): undefined {
    if (stream.remoteEnded) return;
    stream.unannounced += bytes;
    if (stream.unannounced < this.options.streamWindow / 2) return;
    this.writer.windowUpdate(stream.id, stream.unannounced);
    stream.receiveWindow += stream.unannounced;
    stream.unannounced = 0;
  }

  onLocalEnd(stream: Stream): undefined {
    stream.localEnded = true;
    if (stream.remoteEnded && (stream.endDelivered || this.options.server)) this.#finish(stream);
    else if (stream.restWanted) return;
    // A long rest after a success ends at once: such clients may not stop by themselves (RFC 9113 §8.1).
    else if (this.options.server && !stream.clientStops && stream.contentLeft > discardedBytesMax)
      this.#resetAndReport(stream);
    else if (this.options.server) this.#addEarlyResponse(stream);
  }

  onEndDelivered(stream: Stream): undefined {
    if (stream.localEnded) this.#finish(stream);
  }

  onLocalReset(stream: Stream, code: number): undefined {
    this.writer.rstStream(stream.id, code);
    this.#close(stream, true);
  }

  onDataSent(bytes: number, isSmall: boolean): undefined {
    this.counters.onDataSent(bytes, isSmall);
    if (isSmall && !this.counters.smallFrames.take()) this.endFlood('windows of a few bytes');
  }

  onRequest(stream: Stream): undefined {
    stream.pause();
    if (this.#pending.mayBegin()) {
      this.host.onRequest(stream);
      return;
    }
    this.#pending.add(stream.id);
    if (this.#pending.isHeld()) this.host.onHeld();
  }

  onWiderWindows(): undefined {
    this.scheduler.pump();
    this.#pending.resume();
  }

  #begin(streamId: number): undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) this.host.onRequest(stream);
    // The stream was reset meanwhile, and may have been the last.
    else this.host.onStreamGone();
  }

  onDelayedEnd(stream: Stream): undefined {
    this.onLocalEnd(stream);
  }

  // Received frames.

  onFrameError(problem: 'size' | 'padding', type: number): undefined {
    if (problem === 'size') this.fail(errorCode.frameSize, `a frame of type ${type} is too large`);
    else this.fail(errorCode.protocol, 'padding beyond the end of its frame');
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || !this.checkOrder(type, flags, streamId)) return;
    if (type === frameType.headers) this.#headers.onHeaders(flags, streamId, bytes, from, to);
    else if (type === frameType.continuation) this.#headers.onContinuation(flags, bytes, from, to);
    else this.#control.onFrame(type, flags, streamId, bytes, from, to);
  }

  checkOrder(type: number, flags: number, streamId: number): boolean {
    if (!this.#control.settingsSeen) {
      if (type !== frameType.settings || (flags & frameFlag.ack) !== 0) {
        this.fail(errorCode.protocol, 'the first frame is not SETTINGS');
        return false;
      }
    }
    const wanted = this.#headers.assembly.open;
    if (wanted === (type === frameType.continuation) && (!wanted || streamId === this.#headers.assembly.streamId))
      return true;
    this.fail(errorCode.protocol, wanted ? 'a header block is interrupted' : 'CONTINUATION without HEADERS');
    return false;
  }

  /** Ends a connection on which many streams wait and the client does not read. The host calls it at intervals. */
  checkStall(): undefined {
    if (this.#over || this.stalled <= guards.stalledStreamsMax) this.counters.onFlowing();
    else if (this.counters.isStalled()) this.endFlood('streams that the client does not read');
    this.#pending.force();
  }

  // Streams.

  /** Ends the peer's side of a stream after DATA or trailers. */
  remoteEnd(stream: Stream): undefined {
    if (stream.contentLeft > 0) return this.streamError(stream, errorCode.protocol);
    stream.remoteEnded = true;
    stream.deliverEnd();
  }

  #finish(stream: Stream): undefined {
    const { receiver } = stream;
    this.#close(stream, false);
    receiver?.onOver(stream);
  }

  #resetAndReport(stream: Stream): undefined {
    const { receiver } = stream;
    this.onLocalReset(stream, errorCode.none);
    receiver?.onOver(stream);
  }

  /** Drops the rest of the request for a while: the response is whole, the request is not. */
  #addEarlyResponse(stream: Stream): undefined {
    const { receiver, id } = stream;
    this.#openRestWindow(stream);
    this.#close(stream, true);
    this.earlyResponses.add(id, this.options.nowMs());
    this.resetEarlyResponses(earlyResponsesMax);
    this.host.onEarlyResponse();
    receiver?.onOver(stream);
  }

  /** Resets early-response streams that are due, and the oldest beyond `most`. */
  resetEarlyResponses(most: number): undefined {
    if (this.#over) return;
    for (const id of this.earlyResponses.due(this.options.nowMs(), most)) this.#resetEarlyResponse(id);
  }

  /** Opens the windows for all that is still read: some clients read no window updates behind the response. */
  #openRestWindow({ id, contentLeft, receiveWindow }: Stream): undefined {
    if (contentLeft > discardedBytesMax) return;
    const rest = contentLeft < 0 ? discardedBytesMax : contentLeft;
    if (rest > receiveWindow) this.writer.windowUpdate(id, rest - receiveWindow);
    this.#data.ensureWindow(rest);
  }

  /** Drops DATA of a request with an early response. */
  onEarlyResponseData(streamId: number, bytes: number): undefined {
    if (!this.earlyResponses.take(streamId, bytes)) this.#resetEarlyResponse(streamId);
  }

  #resetEarlyResponse(streamId: number): undefined {
    this.earlyResponses.forget(streamId);
    this.streams.remember(streamId, true);
    this.writer.rstStream(streamId, errorCode.none);
  }

  #close(stream: Stream, byUs: boolean): undefined {
    this.#data.forget(stream);
    this.scheduler.forget(stream);
    if (this.options.server) this.streams.headBytes -= stream.fields.listBytes;
    this.streams.close(stream, byUs);
    this.#pending.resume();
    if (!this.#over) this.host.onStreamGone();
  }

  reportReset(stream: Stream, end: StreamEnd, byUs: boolean): undefined {
    const { receiver } = stream;
    this.#close(stream, byUs);
    receiver?.onReset(stream, end);
  }

  /** Resets a stream for an error of the peer. */
  streamError(stream: Stream, code: number): undefined {
    this.writer.rstStream(stream.id, code);
    const message = stream.fields.problem || nameOfCode(code);
    this.reportReset(stream, { code, untouched: false, faulty: true, unanswered: false, message }, true);
    this.countStreamError('stream errors');
  }

  streamErrorOf(streamId: number, code: number): undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) return this.streamError(stream, code);
    this.writer.rstStream(streamId, code);
    this.countStreamError('stream errors');
  }

  // Connection.

  #greet(): undefined {
    const { server, streamsMax, streamWindow } = this.options;
    if (server) {
      this.writer.settings([
        ...[setting.maxConcurrentStreams, streamsMax],
        ...[setting.initialWindowSize, streamWindow],
        ...[setting.maxHeaderListSize, guards.listBytesMax],
        ...[setting.enableConnectProtocol, 1],
      ]);
    } else {
      this.writer.raw(preface);
      this.writer.settings([
        ...[setting.enablePush, 0],
        ...[setting.initialWindowSize, streamWindow],
        ...[setting.maxHeaderListSize, guards.listBytesMax],
      ]);
    }
    this.writer.windowUpdate(0, connectionWindow - defaultWindow);
  }

  countIdleFrame(what: string): undefined {
    if (!this.counters.idleFrames.take()) this.endFlood(what);
  }

  /** Counts a stream that was reset for an error of the peer. */
  countStreamError(what: string): undefined {
    if (!this.#over && !this.counters.problems.take()) this.endFlood(what);
  }

  endFlood(what: string): undefined {
    this.fail(errorCode.calm, `too many: ${what}`);
  }

  #end(code: number, message: string, faulty: boolean): undefined {
    if (this.#over) return;
    this.#over = true;
    this.#pending.end();
    this.scheduler.close();
    this.#reader.stop();
    this.#headers.assembly.end();
    const streams = this.streams.all();
    if (this.options.server && streams.length > guards.endedPerTick) {
      const end = { code, untouched: false, faulty, unanswered: false, message };
      const ending = new StreamQueue(this.options.batcher, guards.endedPerTick, (id) => this.#reportEnd(id, end));
      for (const { id } of streams) ending.add(id);
      return;
    }
    for (const stream of streams) {
      // One stream may have been the cause; the other streams of the connection may be retried.
      const isSilent = this.#reads > 0 && stream.begunAtRead === this.#reads;
      const unanswered = !faulty && (isSilent || this.#control.goAwayError !== '');
      this.reportReset(stream, { code, untouched: false, faulty, unanswered, message }, true);
    }
  }

  #reportEnd(streamId: number, end: StreamEnd): undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) this.reportReset(stream, end, true);
  }
}

const pingBytes = Uint8Array.from([0x73, 0x6c, 0x75, 0x69, 0x63, 0x65, 0, 0]);
