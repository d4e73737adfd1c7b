// Control frames: SETTINGS, WINDOW_UPDATE, RST_STREAM, PING, PRIORITY and GOAWAY (RFC 9113 §6.3 to §6.9).
import { errorCode, nameOfCode } from './error-code.ts';
import { frameFlag, frameType, windowMax } from './frame.ts';
import { streamIdAt, uint32At } from './frame-reader.ts';
import type { SessionCore } from './session-core.ts';
import type { Stream } from './stream.ts';

export class ControlFrames {
  readonly #core: SessionCore;
  /** True once the first SETTINGS have arrived. */
  settingsSeen = false;
  /** True once the peer begins no more streams, or takes none. */
  goingAway = false;
  /** Error that the upstream's GOAWAY gives for closing the connection; empty when there is none. */
  goAwayError = '';

  constructor(core: SessionCore) {
    this.#core = core;
  }

  /** Handles a frame that is neither DATA, HEADERS nor CONTINUATION; its payload is `bytes[from..to)`. */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    switch (type) {
      case frameType.priority:
        return this.#onPriority(streamId, bytes, from, to);
      case frameType.rstStream:
        return this.#onRstStream(streamId, bytes, from, to);
      case frameType.settings:
        return this.#onSettings(flags, streamId, bytes, from, to);
      case frameType.pushPromise:
        return this.#core.fail(errorCode.protocol, 'PUSH_PROMISE');
      case frameType.ping:
        return this.#onPing(flags, streamId, bytes, from, to);
      case frameType.goAway:
        return this.#onGoAway(streamId, bytes, from, to);
      case frameType.windowUpdate:
        return this.#onWindowUpdate(streamId, bytes, from, to);
      default:
        return this.#core.countIdleFrame('unknown frames');
    }
  }

  #onPriority(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (streamId === 0) return core.fail(errorCode.protocol, 'PRIORITY on stream 0');
    if (to - from !== 5) return core.streamErrorOf(streamId, errorCode.frameSize);
    if (streamIdAt(bytes, from) === streamId) return core.streamErrorOf(streamId, errorCode.protocol);
    core.countIdleFrame('PRIORITY');
  }

  #onRstStream(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (to - from !== 4) return core.fail(errorCode.frameSize, 'RST_STREAM of another size');
    if (core.streams.isIdle(streamId)) return core.fail(errorCode.protocol, 'RST_STREAM on an idle stream');
    const stream = core.streams.get(streamId);
    if (stream === undefined) {
      core.earlyResponses.forget(streamId);
      return core.countIdleFrame('RST_STREAM');
    }
    const code = uint32At(bytes, from);
    if (!core.options.server && stream.remoteEnded) return this.#stopSending(stream);
    const message = `the stream was reset: ${nameOfCode(code)}`;
    core.reportReset(
      stream,
      { code, untouched: code === errorCode.refused, faulty: false, unanswered: false, message },
      false,
    );
    if (!core.over && !core.counters.resets.take()) core.endFlood('resets');
  }

  /**
   * Stops the request body: the upstream has answered and wants no more of it (RFC 9113 §8.1). Its response is still
   * taken.
   */
  #stopSending(stream: Stream): undefined {
    const core = this.#core;
    core.scheduler.forget(stream);
    stream.pending.clear();
    stream.pendingSent = 0;
    stream.endPending = false;
    if (!stream.localEnded) core.onLocalEnd(stream);
  }

  #onSettings(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (streamId !== 0) return core.fail(errorCode.protocol, 'SETTINGS on a stream');
    const ack = (flags & frameFlag.ack) !== 0;
    if (ack ? to !== from : (to - from) % 6 !== 0) return core.fail(errorCode.frameSize, 'SETTINGS of another size');
    if (ack) return core.countIdleFrame('SETTINGS');
    if (!core.counters.settings.take()) return core.endFlood('SETTINGS');
    const { peer } = core;
    const before = peer.initialWindow;
    const problem = peer.read(bytes, from, to, !core.options.server);
    if (problem !== undefined) return core.fail(problem.code, problem.message);
    this.settingsSeen = true;
    core.writer.settingsAck();
    if (peer.initialWindow !== before) this.#shiftWindows(peer.initialWindow - before);
    if (!core.over) core.host.onSettings();
  }

  #shiftWindows(by: number): undefined {
    const core = this.#core;
    for (const stream of core.streams.all()) {
      stream.shiftWindow(by);
      if (stream.sendWindow > windowMax) return core.fail(errorCode.flowControl, 'a window is too large');
    }
    if (by > 0) core.onWiderWindows();
  }

  #onPing(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (streamId !== 0) return core.fail(errorCode.protocol, 'PING on a stream');
    if (to - from !== 8) return core.fail(errorCode.frameSize, 'PING of another size');
    if (!core.counters.pings.take()) return core.endFlood('PING');
    if ((flags & frameFlag.ack) === 0) core.writer.ping(true, bytes, from);
  }

  #onGoAway(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (streamId !== 0) return core.fail(errorCode.protocol, 'GOAWAY on a stream');
    if (to - from < 8) return core.fail(errorCode.frameSize, 'GOAWAY of another size');
    if (!core.counters.idleFrames.take()) return core.endFlood('GOAWAY');
    const lastId = streamIdAt(bytes, from);
    const code = uint32At(bytes, from + 4);
    if (!core.options.server) {
      this.goingAway = true;
      if (code !== errorCode.none) this.goAwayError = nameOfCode(code);
      const message = `the upstream is closing the connection: ${nameOfCode(code)}`;
      for (const stream of core.streams.all()) {
        if (stream.id > lastId && !stream.over)
          core.reportReset(stream, { code, untouched: true, faulty: false, unanswered: false, message }, false);
      }
    }
    core.host.onGoAway();
  }

  #onWindowUpdate(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (to - from !== 4) return core.fail(errorCode.frameSize, 'WINDOW_UPDATE of another size');
    if (!core.counters.idleFrames.take()) return core.endFlood('WINDOW_UPDATE');
    const increment = streamIdAt(bytes, from);
    if (streamId === 0) {
      if (increment === 0) return core.fail(errorCode.protocol, 'WINDOW_UPDATE of 0');
      if (!core.scheduler.widen(increment))
        core.fail(errorCode.flowControl, 'the window of the connection is too large');
      return;
    }
    if (core.streams.isIdle(streamId)) return core.fail(errorCode.protocol, 'WINDOW_UPDATE on an idle stream');
    const stream = core.streams.get(streamId);
    if (stream === undefined) return;
    if (increment === 0) return core.streamError(stream, errorCode.protocol);
    if (stream.sendWindow + increment > windowMax) return core.streamError(stream, errorCode.flowControl);
    stream.widen(increment);
    core.scheduler.pumpOne(stream);
  }
}
