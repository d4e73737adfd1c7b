// Session core: the connection as the handlers of received frames see it.
import type { Wheel } from '../wheel.ts';
import type { AbuseCounters } from './abuse-counters.ts';
import type { EarlyResponseResets } from './early-response-resets.ts';
import type { BlockLimits } from './field-block.ts';
import type { FrameBatcher } from './frame-batcher.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { SendScheduler } from './send-scheduler.ts';
import type { Stream, StreamEnd } from './stream.ts';
import type { StreamTable } from './stream-table.ts';

/** Callbacks of a session's owner. */
export interface SessionHost {
  /**
   * Called for a request of a server's session; its head is in `stream.fields`. The host gives the stream its
   * receiver, which gets body and end after `stream.resume()`.
   */
  onRequest(stream: Stream): void;
  /**
   * Called in a server's session when requests wait for others to end. The host calls `checkStall` after a moment.
   */
  onHeld(): void;
  /** Called when a stream has ended: there may be none left, or room for another. */
  onStreamGone(): void;
  /** Called when the peer's settings have arrived or changed. */
  onSettings(): void;
  /** Called when the peer wants no new streams. */
  onGoAway(): void;
  /** Called when bytes have arrived. */
  onAlive(): void;
  /**
   * Called in a server's session when a request got an early response. The host calls `resetEarlyResponses` when its time
   * has come.
   */
  onEarlyResponse(): void;
  /**
   * Called when nothing more is read; gathered frames should leave, then the socket closes. `problem`: empty when
   * there is none.
   */
  onFailed(problem: string): void;
}

export interface SessionOptions {
  readonly server: boolean;
  readonly batcher: FrameBatcher;
  readonly wheel: Wheel;
  /** Monotonic time in milliseconds. */
  readonly nowMs: () => number;
  readonly limits: () => BlockLimits;
  /** Streams that the peer may open. */
  readonly streamsMax: number;
  /** Bytes that the peer may send on one stream before they are taken. */
  readonly streamWindow: number;
  /** Resets by the peer. */
  readonly resetsPerSecond: number;
}

export interface SessionCore {
  readonly options: SessionOptions;
  readonly host: SessionHost;
  readonly writer: FrameWriter;
  readonly scheduler: SendScheduler;
  readonly counters: AbuseCounters;
  readonly peer: PeerSettings;
  readonly streams: StreamTable;
  readonly earlyResponses: EarlyResponseResets;
  readonly over: boolean;
  /** Returns whether a frame keeps the order that RFC 9113 prescribes; otherwise the connection has ended. */
  checkOrder(type: number, flags: number, streamId: number): boolean;
  /** Ends the connection for an error of the peer, or with `errorCode.none` without one. */
  fail(code: number, message: string): undefined;
  /** Ends the connection of a peer that floods it. */
  endFlood(what: string): undefined;
  /** Counts a frame that needs no answer. */
  countIdleFrame(what: string): undefined;
  /** Resets a stream for an error of the peer. */
  streamError(stream: Stream, code: number): undefined;
  /** The same for a stream that may not be open. */
  streamErrorOf(streamId: number, code: number): undefined;
  /** Counts a stream that was reset for an error of the peer. */
  countStreamError(what: string): undefined;
  /** Forgets the stream and gives its receiver the reason. */
  reportReset(stream: Stream, end: StreamEnd, byUs: boolean): undefined;
  onLocalReset(stream: Stream, code: number): undefined;
  onLocalEnd(stream: Stream): undefined;
  /** Gives back bytes of a stream's receive window. */
  onConsumed(stream: Stream, bytes: number): undefined;
  /** Handles DATA of a request with an early response. */
  onEarlyResponseData(streamId: number, bytes: number): undefined;
  /** Continues after the windows of all streams have been widened. */
  onWiderWindows(): undefined;
  /** Begins a request, whose stream is open. */
  onRequest(stream: Stream): undefined;
  /** Ends the peer's side of a stream. */
  remoteEnd(stream: Stream): undefined;
}
