// What the parts of a session share: the connection as the frames that arrive see it.
import type { Wheel } from '../wheel.ts';
import type { Patience } from './abuse-counters.ts';
import type { AnsweredStreams } from './early-response-resets.ts';
import type { BlockLimits } from './field-block.ts';
import type { FlushTurn } from './frame-batcher.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { Outflow } from './send-scheduler.ts';
import type { Stream, StreamEnd } from './stream.ts';
import type { StreamTable } from './stream-table.ts';

/** What a session tells whoever opened it. */
export interface SessionHost {
  /**
   * A server's: a request's head is in `stream.fields`. The host gives the stream its receiver, which hears of body and
   * end after `stream.resume()`.
   */
  onRequest(stream: Stream): void;
  /** A server's: requests wait for others to end. `checkStall` is to be called in a moment. */
  onHeld(): void;
  /** A stream has ended: there may be none left, or room for another. */
  onStreamGone(): void;
  /** The other side's settings have come, or changed. */
  onSettings(): void;
  /** The other side wants no new streams. */
  onGoAway(): void;
  /** Something has come. */
  onAlive(): void;
  /** A server's: a request was answered before it was whole. `resetAnswered` is to be called when its time has come. */
  onAnsweredEarly(): void;
  /** Nothing more is read; what is gathered should leave, then the socket. `problem`: empty when all was well. */
  onFailed(problem: string): void;
}

export interface SessionOptions {
  readonly server: boolean;
  readonly turn: FlushTurn;
  readonly wheel: Wheel;
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

export interface SessionCore {
  readonly options: SessionOptions;
  readonly host: SessionHost;
  readonly writer: FrameWriter;
  readonly outflow: Outflow;
  readonly patience: Patience;
  readonly peer: PeerSettings;
  readonly streams: StreamTable;
  readonly answered: AnsweredStreams;
  readonly over: boolean;
  /** Whether a frame keeps the order that every connection has to keep; else the connection is over. */
  mayCome(type: number, flags: number, streamId: number): boolean;
  /** Ends the connection for the other side's error, or with `errorCode.none` for none. */
  fail(code: number, message: string): undefined;
  /** Ends the connection of one who floods it. */
  calm(what: string): undefined;
  /** Counts a frame that asks for nothing. */
  bear(what: string): undefined;
  /** The other side has done with a stream what it may not. */
  streamError(stream: Stream, code: number): undefined;
  /** The same for a stream that may not be open. */
  streamErrorOf(streamId: number, code: number): undefined;
  /** A stream has been reset for something that the other side did. */
  countOffence(what: string): undefined;
  /** Forgets the stream and tells its receiver why. */
  tellReset(stream: Stream, end: StreamEnd, byUs: boolean): undefined;
  onLocalReset(stream: Stream, code: number): undefined;
  onLocalEnd(stream: Stream): undefined;
  /** So many bytes of what a stream may be sent are free again. */
  onConsumed(stream: Stream, bytes: number): undefined;
  /** DATA of a request that was answered before it was whole. */
  onAnsweredData(streamId: number, bytes: number): undefined;
  /** The windows of all streams have been widened. */
  onWiderWindows(): undefined;
  /** A request has come: its stream is open. */
  onRequest(stream: Stream): undefined;
  /** The other side has ended the stream. */
  remoteEnd(stream: Stream): undefined;
}
