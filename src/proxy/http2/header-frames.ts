// HEADERS and CONTINUATION, and the message part that a block is: a request, a response, trailers, or a block that
// arrived too late (RFC 9113 §6.2, §8.1). Each block is decoded even when it is dropped: the HPACK tables of both
// sides have to stay equal.
import { errorCode } from './error-code.ts';
import { type BlockKind, FieldBlock } from './field-block.ts';
import { frameFlag, streamIdMax } from './frame.ts';
import { streamIdAt } from './frame-reader.ts';
import { guards } from './guards.ts';
import { HeaderAssembly } from './header-assembly.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import type { SessionCore } from './session-core.ts';
import type { Stream } from './stream.ts';

export class HeaderFrames {
  readonly #core: SessionCore;
  readonly #decoder = new HpackDecoder(guards.tableBytes);
  readonly assembly = new HeaderAssembly(this.#decoder);
  /** Sink of blocks that are decoded for the table's sake only. */
  readonly #dropped = new FieldBlock();
  /** Highest stream id whose request is taken; a GOAWAY has announced it. */
  acceptMax = streamIdMax;

  constructor(core: SessionCore) {
    this.#core = core;
  }

  onHeaders(flags: number, streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    if (streamId === 0) return core.fail(errorCode.protocol, 'HEADERS on stream 0');
    let start = from;
    let end = to;
    if ((flags & frameFlag.padded) !== 0) end -= bytes[start++] ?? 0;
    const selfish = (flags & frameFlag.priority) !== 0 && streamIdAt(bytes, start) === streamId;
    if ((flags & frameFlag.priority) !== 0) start += 5;
    if (start > to || end < start) return core.fail(errorCode.protocol, 'padding beyond the end of its frame');
    this.assembly.begin(streamId, (flags & frameFlag.endStream) !== 0, selfish);
    if ((flags & frameFlag.endHeaders) !== 0) this.#onBlock(bytes, start, end);
    else this.#beginParts(streamId, bytes, start, end);
  }

  onContinuation(flags: number, bytes: Buffer, from: number, to: number): undefined {
    if (!this.#takePart(bytes, from, to) || (flags & frameFlag.endHeaders) === 0) return;
    const problem = this.assembly.finish();
    if (problem !== '') this.#core.fail(errorCode.compression, problem);
    else this.#onBlock(bytes, to, to);
  }

  /**
   * Begins a block in several frames. Its fields go into a block of their own: the stream's state is checked at the
   * end.
   */
  #beginParts(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const { options } = this.#core;
    const fields = new FieldBlock();
    fields.begin(this.#kindOf(streamId), options.limits());
    this.assembly.readTo(fields);
    this.#takePart(bytes, from, to);
  }

  #kindOf(streamId: number): BlockKind {
    const { streams, options } = this.#core;
    const stream = streams.get(streamId);
    if (stream === undefined) return options.server && streamId > streams.lastId ? 'request' : 'trailers';
    return stream.headRead ? 'trailers' : 'response';
  }

  /** Takes a part of a block. Returns false when the connection is over. */
  #takePart(bytes: Buffer, from: number, to: number): boolean {
    const problem = this.assembly.append(bytes, from, to);
    if (problem === 'flood') this.#core.endFlood('a header block without end');
    else if (problem !== '') this.#core.fail(errorCode.compression, problem);
    return problem === '';
  }

  /** Handles a whole header block. */
  #onBlock(bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    const { streamId, ends } = this.assembly;
    const stream = core.streams.get(streamId);
    if (stream !== undefined) this.#onFurtherBlock(stream, bytes, from, to, ends);
    else if (core.options.server && streamId > core.streams.lastId) this.#onRequest(streamId, bytes, from, to, ends);
    else this.#lateBlock(streamId, bytes, from, to);
    this.assembly.end();
  }

  #onRequest(streamId: number, bytes: Buffer, from: number, to: number, ends: boolean): undefined {
    const core = this.#core;
    if (streamId % 2 === 0) return core.fail(errorCode.protocol, 'a client uses an even stream');
    const refused = streamId > this.acceptMax || core.streams.size >= core.options.streamsMax;
    core.streams.lastId = streamId;
    if (refused) {
      if (!this.#decode(bytes, from, to, this.#dropped, 'request')) return;
      core.writer.rstStream(streamId, errorCode.refused);
      core.streams.remember(streamId, true);
      return streamId <= this.acceptMax ? core.countStreamError('streams beyond the limit') : undefined;
    }
    const stream = core.streams.open(streamId, core.peer.initialWindow, core.options.streamWindow);
    const fields = this.#decode(bytes, from, to, stream.fields, 'request');
    if (fields === undefined) return;
    stream.fields = fields;
    core.streams.headBytes += fields.listBytes;
    stream.headRead = true;
    stream.contentLeft = fields.contentLength;
    if (fields.problem !== '' || this.assembly.dependsOnItself) return core.streamError(stream, errorCode.protocol);
    if (core.streams.headBytes > guards.openHeadBytesMax && core.streams.size > 1) {
      const { listBytes } = fields;
      core.onLocalReset(stream, errorCode.refused);
      if (!core.over && !core.counters.refusedHeads.take(listBytes)) core.endFlood('heads beyond the limit');
      return;
    }
    if (ends && stream.contentLeft > 0) return core.streamError(stream, errorCode.protocol);
    stream.remoteEnded = ends;
    stream.headOnly = ends;
    core.onRequest(stream);
  }

  /** Handles a response's head, or trailers of either side. */
  #onFurtherBlock(stream: Stream, bytes: Buffer, from: number, to: number, ends: boolean): undefined {
    const core = this.#core;
    if (stream.remoteEnded) {
      if (this.#decode(bytes, from, to, this.#dropped, 'trailers')) core.streamError(stream, errorCode.streamClosed);
      return;
    }
    if (stream.headRead) {
      const trailers = this.#decode(bytes, from, to, stream.trailerBlock(), 'trailers');
      if (trailers === undefined) return;
      stream.setTrailers(trailers);
      if (!ends || trailers.problem !== '' || trailers.tooLarge) return core.streamError(stream, errorCode.protocol);
      return core.remoteEnd(stream);
    }
    const fields = this.#decode(bytes, from, to, stream.fields, 'response');
    if (fields === undefined) return;
    stream.fields = fields;
    this.#onResponse(stream, ends);
  }

  #onResponse(stream: Stream, ends: boolean): undefined {
    const core = this.#core;
    const { fields } = stream;
    const interim = fields.status < 200;
    if (fields.problem !== '' || fields.tooLarge || (interim && ends))
      return core.streamError(stream, errorCode.protocol);
    if (interim) {
      stream.interimBytes += fields.listBytes;
      if (stream.interimBytes > guards.interimBytesMax) core.streamError(stream, errorCode.calm);
      else stream.receiver?.onHead(stream);
      return;
    }
    stream.headRead = true;
    const bodiless = stream.bodiless || fields.status === 204 || fields.status === 304;
    stream.contentLeft = bodiless ? 0 : fields.contentLength;
    if (ends && stream.contentLeft > 0) return core.streamError(stream, errorCode.protocol);
    stream.remoteEnded = ends;
    const { id } = stream;
    stream.receiver?.onHead(stream);
    if (ends && stream.id === id) stream.deliverEnd();
  }

  /** Decodes into `block`, or returns the block that arrived in parts; undefined: the connection is over. */
  #decode(bytes: Buffer, from: number, to: number, block: FieldBlock, kind: BlockKind): FieldBlock | undefined {
    const core = this.#core;
    const whole = this.assembly.fields ?? block;
    if (whole === block) {
      block.begin(kind, core.options.limits());
      const problem = this.#decoder.decode(bytes, from, to, block);
      if (problem !== '') {
        if (block.excessive) core.endFlood('fields of one head');
        else core.fail(errorCode.compression, problem);
        return undefined;
      }
    }
    whole.finish();
    return whole;
  }

  #lateBlock(streamId: number, bytes: Buffer, from: number, to: number): undefined {
    const core = this.#core;
    const how = core.earlyResponses.has(streamId) ? 'reset' : core.streams.howClosed(streamId);
    if (core.streams.isIdle(streamId)) core.fail(errorCode.protocol, 'HEADERS on an idle stream');
    else if (how === 'ended') core.fail(errorCode.streamClosed, 'HEADERS on a closed stream');
    else if (how === 'unknown') core.fail(errorCode.protocol, 'HEADERS on a stream that was passed over');
    else if (this.#decode(bytes, from, to, this.#dropped, 'trailers')) core.earlyResponses.forget(streamId);
  }
}
