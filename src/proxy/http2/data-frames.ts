// DATA: the stream it belongs to, whether it is allowed, and the connection's receive window (RFC 9113 §5.2, §6.1).
// The connection's window holds no stream back, for each stream has its own: it is reopened for all that arrives,
// taken or dropped.
import { errorCode } from './error-code.ts';
import { frameFlag, frameType } from './frame.ts';
import type { DataReceiver } from './frame-reader.ts';
import { guards } from './guards.ts';
import type { SessionCore } from './session-core.ts';
import type { Stream } from './stream.ts';

export const connectionWindow = 1 << 20;

export class DataFrames implements DataReceiver {
  readonly #core: SessionCore;
  #window = connectionWindow;
  /** Received bytes that no WINDOW_UPDATE has given back yet. */
  #unannounced = 0;
  /** Stream of the frame at hand; undefined: its content is dropped. */
  #stream: Stream | undefined;
  #ends = false;
  /** Length of the frame at hand, padding included. */
  #length = 0;

  constructor(core: SessionCore) {
    this.#core = core;
  }

  onData(flags: number, streamId: number, length: number): undefined {
    const core = this.#core;
    if (core.over || !core.checkOrder(frameType.data, flags, streamId)) return;
    this.#stream = undefined;
    this.#length = length;
    this.#window -= length;
    if (this.#window < 0) return core.fail(errorCode.flowControl, 'the window of the connection is exceeded');
    this.#reopenWindow(length);
    if (streamId === 0) return core.fail(errorCode.protocol, 'DATA on stream 0');
    const ends = (flags & frameFlag.endStream) !== 0;
    if (length === 0 && !ends && !core.counters.emptyData.take()) return core.endFlood('empty DATA');
    if (length < guards.smallFrameBytes && !ends && core.options.server && !core.counters.smallData.take())
      return core.endFlood('DATA of a few bytes');
    const stream = core.streams.get(streamId);
    if (stream === undefined) {
      if (!core.earlyResponses.has(streamId)) return this.#lateData(streamId);
      if (ends) core.earlyResponses.forget(streamId);
      else core.onEarlyResponseData(streamId, length);
      return;
    }
    if (stream.remoteEnded) return core.streamError(stream, errorCode.streamClosed);
    if (!core.options.server && !stream.headRead) return core.streamError(stream, errorCode.protocol);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) return core.streamError(stream, errorCode.flowControl);
    this.#stream = stream;
    this.#ends = ends;
  }

  onDataPart(bytes: Buffer, from: number, to: number): undefined {
    const stream = this.#stream;
    if (stream === undefined || stream.over) return;
    if (stream.contentLeft >= 0) {
      if (to - from > stream.contentLeft) return this.#core.streamError(stream, errorCode.protocol);
      stream.contentLeft -= to - from;
    }
    stream.take(bytes, from, to);
  }

  onDataEnd(padding: number): undefined {
    const core = this.#core;
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream === undefined || stream.over || core.over) return;
    if (padding > 0) core.onConsumed(stream, padding);
    // Padding alone counts as an empty frame.
    if (padding > 0 && padding === this.#length && !this.#ends && !core.counters.emptyData.take())
      return core.endFlood('DATA of padding');
    if (this.#ends) core.remoteEnd(stream);
  }

  /** Drops the rest of the frame at hand, if it belongs to `stream`, which is closed. */
  forget(stream: Stream): void {
    if (this.#stream === stream) this.#stream = undefined;
  }

  /** Widens the connection's window to at least `bytes`. */
  ensureWindow(bytes: number): void {
    const missing = bytes - this.#window;
    if (missing <= 0) return;
    this.#core.writer.windowUpdate(0, missing);
    this.#window += missing;
  }

  #reopenWindow(bytes: number): void {
    this.#unannounced += bytes;
    if (this.#unannounced < connectionWindow / 2) return;
    this.#core.writer.windowUpdate(0, this.#unannounced);
    this.#window += this.#unannounced;
    this.#unannounced = 0;
  }

  /** Handles DATA for a stream that is not open. */
  #lateData(streamId: number): undefined {
    const core = this.#core;
    if (core.streams.isIdle(streamId)) return core.fail(errorCode.protocol, 'DATA on an idle stream');
    const how = core.streams.howClosed(streamId);
    if (how === 'ended') core.fail(errorCode.streamClosed, 'DATA on a closed stream');
    else if (how === 'unknown') core.streamErrorOf(streamId, errorCode.streamClosed);
  }
}
