// One HTTP/2 connection, of a client or to an upstream: bytes in, bytes out, streams between (RFC 9113). It knows no
// proxy: a host takes the requests or gives them, receivers take what comes on a stream. Strict: what the other side may
// not do ends the stream or the connection, with the reason that the RFC names.
import { AnsweredStreams } from './answered-streams.ts';
import { ControlFrames } from './control-frames.ts';
import { errorCode, nameOfCode } from './error-code.ts';
import { defaultWindow, frameFlag, frameType, preface, setting, streamIdMax } from './frame.ts';
import { FrameReader, type FrameReceiver } from './frame-reader.ts';
import { type FrameSocket, FrameWriter } from './frame-writer.ts';
import { guards } from './guards.ts';
import { HeaderFrames } from './header-frames.ts';
import { Outflow, type OutflowOwner } from './outflow.ts';
import { Patience } from './patience.ts';
import { PeerSettings } from './peer-settings.ts';
import type { SessionCore, SessionHost, SessionOptions } from './session-core.ts';
import type { Stream, StreamEnd, StreamOwner } from './stream.ts';
import { StreamQueue } from './stream-queue.ts';
import { StreamTable } from './stream-table.ts';

/** The connection's window does not hold a stream back: each stream has its own. */
const connectionWindow = 1 << 20;
/** Of answered streams whose clients have not been told that the rest is of no use; fewer than are remembered. */
const answeredMax = 128;

export class Session implements SessionCore, FrameReceiver, StreamOwner, OutflowOwner {
  readonly options: SessionOptions;
  readonly host: SessionHost;
  readonly #reader = new FrameReader(this);
  readonly writer: FrameWriter;
  readonly outflow: Outflow;
  readonly patience: Patience;
  readonly peer = new PeerSettings();
  readonly streams: StreamTable;
  readonly answered = new AnsweredStreams();
  readonly #headers = new HeaderFrames(this);
  readonly #control = new ControlFrames(this);
  #prefaceAt = 0;
  /** How often something has come. */
  #reads = 0;
  #receiveWindow = connectionWindow;
  #unannounced = 0;
  #dataStream: Stream | undefined;
  #dataEnds = false;
  /** Of the frame that is being read, padding included. */
  #dataLength = 0;
  #over = false;
  /** Requests begun since something came last. */
  #begun = 0;
  #beginsUntilMs = 0;
  /** Requests that have come and not begun; made when there is one. */
  #waiting: StreamQueue | undefined;

  constructor(socket: FrameSocket, host: SessionHost, options: SessionOptions) {
    this.host = host;
    this.options = options;
    this.writer = new FrameWriter(socket, options.turn, () => this.#goOn());
    this.outflow = new Outflow(this.writer, this);
    this.patience = new Patience(options.nowMs, options.resetsPerSecond);
    this.streams = new StreamTable(this, options.server ? 0 : -1);
    if (!options.server) this.#prefaceAt = preface.length;
    this.#greet();
  }

  get streamCount(): number {
    return this.streams.size;
  }

  /** Requests have come that the host has not been told of yet. */
  get requestsWait(): boolean {
    return !this.#over && this.#waiting !== undefined && this.#waiting.size > 0;
  }

  /** No more streams can be begun here, by either side. */
  get closing(): boolean {
    return this.#control.goingAway || this.#over;
  }

  /** Whether the other side takes extended CONNECT (RFC 8441); undefined before it has said anything. */
  get connectProtocol(): boolean | undefined {
    return this.#control.settingsSeen ? this.peer.connectProtocol : undefined;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Neither a preface, nor a frame, nor a header block is under way: whoever is silent now owes nothing. */
  get atRest(): boolean {
    return (
      this.#prefaceAt === preface.length &&
      this.#control.settingsSeen &&
      !this.#reader.midFrame &&
      !this.#headers.assembly.open
    );
  }

  /** Streams that want to send and may not, and requests that wait for them. */
  get stalled(): number {
    return this.outflow.blocked + this.#held;
  }

  /** Requests that wait for others to end. */
  get #held(): number {
    return this.#waiting !== undefined && this.#isHeld() ? this.#waiting.size : 0;
  }

  get congested(): boolean {
    return this.writer.congested;
  }

  /** Bytes arrived. */
  read(bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || to === from) return;
    this.#reads++;
    this.#begun = 0;
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

  /** To be called on the socket's `drain`. */
  onDrain(): undefined {
    this.writer.onDrain();
    this.patience.onProgress();
    this.#goOn();
  }

  #goOn(): undefined {
    if (!this.#over) this.outflow.pump();
  }

  /** What is gathered leaves now, and not at the end of the turn. */
  flush(): undefined {
    this.writer.leave();
  }

  /** A client begins a request; undefined when there is no room for one. The head is to follow at once. */
  request(): Stream | undefined {
    if (this.closing || this.streams.size >= this.peer.maxConcurrentStreams || this.streams.lastId + 2 > streamIdMax)
      return undefined;
    this.streams.lastId += 2;
    const stream = this.streams.open(this.streams.lastId, this.peer.initialWindow, this.options.streamWindow);
    stream.begunAtRead = this.#reads;
    return stream;
  }

  /** Whether `request` would find room. */
  get room(): number {
    return this.closing ? 0 : Math.max(0, this.peer.maxConcurrentStreams - this.streams.size);
  }

  ping(): undefined {
    this.writer.ping(false, pingBytes, 0);
  }

  /** Asks the other side for no new streams; those on their way are still taken. */
  announceEnd(): undefined {
    if (!this.#over) this.writer.goAway(streamIdMax, errorCode.none);
  }

  /** Takes no stream beyond those that have come. */
  endAfterThese(): undefined {
    if (this.#over || this.#headers.acceptMax < streamIdMax) return;
    this.#control.goingAway = true;
    this.#headers.acceptMax = Math.max(0, this.streams.lastId);
    this.writer.goAway(this.options.server ? this.#headers.acceptMax : 0, errorCode.none);
  }

  /** Ends the connection for the other side's error, or with `errorCode.none` for none. */
  fail(code: number, message: string): undefined {
    if (this.#over) return;
    this.writer.goAway(this.options.server ? Math.max(0, this.streams.lastId) : 0, code);
    this.#end(code, message, code !== errorCode.none);
    this.writer.leave();
    this.host.onFailed(code === errorCode.none ? '' : `${nameOfCode(code)}: ${message}`);
  }

  /** The socket is gone. */
  lost(message: string): undefined {
    const { complaint } = this.#control;
    this.#end(errorCode.cancel, complaint === '' ? message : `${message} after GOAWAY: ${complaint}`, false);
    this.writer.close();
  }

  // What streams ask.

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
    if (stream.remoteEnded && (stream.endTold || this.options.server)) this.#finish(stream);
    // The response is whole: what is left of the request is of no use to anybody (RFC 9113 §8.1).
    else if (this.options.server && stream.endsGently) this.#answered(stream);
    else if (this.options.server) this.#resetAndTell(stream);
  }

  onEndTold(stream: Stream): undefined {
    if (stream.localEnded) this.#finish(stream);
  }

  onLocalReset(stream: Stream, code: number): undefined {
    this.writer.rstStream(stream.id, code);
    this.#close(stream, true);
  }

  onDataSent(bytes: number, crumb: boolean): undefined {
    this.patience.onDataSent(bytes, crumb);
    if (crumb && !this.patience.crumbs.take()) this.calm('windows of a few bytes');
  }

  onRequest(stream: Stream): undefined {
    stream.pause();
    if (!this.requestsWait && this.#mayBegin()) {
      this.host.onRequest(stream);
      return;
    }
    this.#waiting ??= new StreamQueue(
      this.options.turn,
      guards.begunPerTurn,
      (id) => this.#begin(id),
      () => this.#isHeld(),
    );
    this.#waiting.add(stream.id);
    if (this.#isHeld()) this.host.onHeld();
  }

  /** With windows of next to nothing responses only pile up here: what is under way has to end first, or time to pass. */
  #isHeld(): boolean {
    if (this.peer.initialWindow >= guards.tinyWindowBytes || this.#over) return false;
    return this.streams.size - (this.#waiting?.size ?? 0) >= guards.begunWithTinyWindow;
  }

  /** Of what came in one packet, as much as others wait for without notice. */
  #mayBegin(): boolean {
    const now = this.options.nowMs();
    if (this.#begun === 0) this.#beginsUntilMs = now + guards.workMsPerTurn;
    // Its stream is open already.
    const isHeld = this.#isHeld() && this.streams.size > guards.begunWithTinyWindow;
    return this.#begun++ < guards.begunPerTurn && now <= this.#beginsUntilMs && !isHeld;
  }

  onWiderWindows(): undefined {
    this.outflow.pump();
    this.#waiting?.resume();
  }

  #begin(streamId: number): undefined {
    if (this.#over) return;
    const stream = this.streams.get(streamId);
    if (stream !== undefined) this.host.onRequest(stream);
    // It was reset meanwhile, and may have been the last.
    else this.host.onStreamGone();
  }

  onDelayedEnd(stream: Stream): undefined {
    this.onLocalEnd(stream);
  }

  // What arrives.

  onFrameError(problem: 'size' | 'padding', type: number): undefined {
    if (problem === 'size') this.fail(errorCode.frameSize, `a frame of type ${type} is too large`);
    else this.fail(errorCode.protocol, 'padding beyond the end of its frame');
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    if (this.#over || !this.#mayCome(type, flags, streamId)) return;
    if (type === frameType.headers) this.#headers.onHeaders(flags, streamId, bytes, from, to);
    else if (type === frameType.continuation) this.#headers.onContinuation(flags, bytes, from, to);
    else this.#control.onFrame(type, flags, streamId, bytes, from, to);
  }

  onData(flags: number, streamId: number, length: number): undefined {
    if (this.#over || !this.#mayCome(frameType.data, flags, streamId)) return;
    this.#dataStream = undefined;
    this.#dataLength = length;
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) return this.fail(errorCode.flowControl, 'the window of the connection is exceeded');
    this.#consumed(length);
    if (streamId === 0) return this.fail(errorCode.protocol, 'DATA on stream 0');
    const ends = (flags & frameFlag.endStream) !== 0;
    if (length === 0 && !ends && !this.patience.emptyData.take()) return this.calm('empty DATA');
    const stream = this.streams.get(streamId);
    if (stream === undefined) {
      if (ends) this.answered.forget(streamId);
      return this.#lateData(streamId);
    }
    if (stream.remoteEnded) return this.streamError(stream, errorCode.streamClosed);
    if (!this.options.server && !stream.headRead) return this.streamError(stream, errorCode.protocol);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) return this.streamError(stream, errorCode.flowControl);
    this.#dataStream = stream;
    this.#dataEnds = ends;
  }

  onDataPart(bytes: Buffer, from: number, to: number): undefined {
    const stream = this.#dataStream;
    if (stream === undefined || stream.over) return;
    if (stream.contentLeft >= 0) {
      if (to - from > stream.contentLeft) return this.streamError(stream, errorCode.protocol);
      stream.contentLeft -= to - from;
    }
    stream.take(bytes, from, to);
  }

  onDataEnd(padding: number): undefined {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream === undefined || stream.over || this.#over) return;
    if (padding > 0) this.onConsumed(stream, padding);
    // Padding alone says as little as no byte at all.
    if (padding > 0 && padding === this.#dataLength && !this.#dataEnds && !this.patience.emptyData.take())
      return this.calm('DATA of padding');
    if (this.#dataEnds) this.remoteEnd(stream);
  }

  // Frames.

  /** The order that every connection has to keep. */
  #mayCome(type: number, flags: number, streamId: number): boolean {
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

  /** To be asked now and then: ends a connection on which many streams wait and nobody reads. */
  checkStall(): undefined {
    if (this.#over || this.stalled <= guards.stalledStreamsMax) this.patience.onFlowing();
    else if (this.patience.isStalled()) this.calm('streams that nobody reads');
    if (this.#held > 0) this.#waiting?.force();
  }

  // Streams.

  /** The other side has ended the stream with DATA or trailers. */
  remoteEnd(stream: Stream): undefined {
    if (stream.contentLeft > 0) return this.streamError(stream, errorCode.protocol);
    stream.remoteEnded = true;
    stream.tellEnd();
  }

  #finish(stream: Stream): undefined {
    const { receiver } = stream;
    this.#close(stream, false);
    receiver?.onOver(stream);
  }

  #resetAndTell(stream: Stream): undefined {
    const { receiver } = stream;
    this.onLocalReset(stream, errorCode.none);
    receiver?.onOver(stream);
  }

  #answered(stream: Stream): undefined {
    const { receiver, id } = stream;
    this.#close(stream, true);
    this.answered.add(id, this.options.nowMs());
    this.resetAnswered(answeredMax);
    this.host.onAnsweredEarly();
    receiver?.onOver(stream);
  }

  /** Tells clients that the rest of what was answered is of no use, where the time has come or there are more than `most`. */
  resetAnswered(most: number): undefined {
    if (this.#over) return;
    for (const id of this.answered.due(this.options.nowMs(), most)) this.writer.rstStream(id, errorCode.none);
  }

  #close(stream: Stream, byUs: boolean): undefined {
    if (this.#dataStream === stream) this.#dataStream = undefined;
    this.outflow.forget(stream);
    if (this.options.server) this.streams.headBytes -= stream.fields.listBytes;
    this.streams.close(stream, byUs);
    this.#waiting?.resume();
    if (!this.#over) this.host.onStreamGone();
  }

  tellReset(stream: Stream, end: StreamEnd, byUs: boolean): undefined {
    const { receiver } = stream;
    this.#close(stream, byUs);
    receiver?.onReset(stream, end);
  }

  /** The other side has done with a stream what it may not. */
  streamError(stream: Stream, code: number): undefined {
    this.writer.rstStream(stream.id, code);
    const message = stream.fields.problem || nameOfCode(code);
    this.tellReset(stream, { code, untouched: false, faulty: true, unanswered: false, message }, true);
    this.countOffence('stream errors');
  }

  streamErrorOf(streamId: number, code: number): undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) return this.streamError(stream, code);
    this.writer.rstStream(streamId, code);
    this.countOffence('stream errors');
  }

  /** DATA for a stream that is not open. */
  #lateData(streamId: number): undefined {
    if (this.streams.isIdle(streamId)) return this.fail(errorCode.protocol, 'DATA on an idle stream');
    const how = this.streams.howClosed(streamId);
    if (how === 'ended') this.fail(errorCode.streamClosed, 'DATA on a closed stream');
    else if (how === 'unknown') this.streamErrorOf(streamId, errorCode.streamClosed);
  }

  // The connection.

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

  #consumed(bytes: number): undefined {
    this.#unannounced += bytes;
    if (this.#unannounced < connectionWindow / 2) return;
    this.writer.windowUpdate(0, this.#unannounced);
    this.#receiveWindow += this.#unannounced;
    this.#unannounced = 0;
  }

  bear(what: string): undefined {
    if (!this.patience.idleFrames.take()) this.calm(what);
  }

  /** A stream has been reset for something that the other side did. */
  countOffence(what: string): undefined {
    if (!this.#over && !this.patience.problems.take()) this.calm(what);
  }

  calm(what: string): undefined {
    this.fail(errorCode.calm, `too many: ${what}`);
  }

  #end(code: number, message: string, faulty: boolean): undefined {
    if (this.#over) return;
    this.#over = true;
    this.#reader.stop();
    this.#headers.assembly.end();
    const streams = this.streams.all();
    if (this.options.server && streams.length > guards.endedPerTurn) {
      const end = { code, untouched: false, faulty, unanswered: false, message };
      const ending = new StreamQueue(this.options.turn, guards.endedPerTurn, (id) => this.#tellEnd(id, end));
      for (const { id } of streams) ending.add(id);
      return;
    }
    for (const stream of streams) {
      // One stream may have been the matter; the others on the connection have done nothing.
      const isSilent = this.#reads > 0 && stream.begunAtRead === this.#reads;
      const unanswered = !faulty && (isSilent || this.#control.complaint !== '');
      this.tellReset(stream, { code, untouched: false, faulty, unanswered, message }, true);
    }
  }

  #tellEnd(streamId: number, end: StreamEnd): undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) this.tellReset(stream, end, true);
  }
}

const pingBytes = Uint8Array.from([0x73, 0x6c, 0x75, 0x69, 0x63, 0x65, 0, 0]);
