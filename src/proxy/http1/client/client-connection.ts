// HTTP/1.1 connection to an upstream: carries one exchange at a time, and is reused only when its state is certain
// (S04). Made by the endpoint's pool; an exchange holds it from `send` until the response is complete.
import type { ProxyErrorType } from '../../../errors.ts';
import { ReceiveBuffer } from '../../../util/receive-buffer.ts';
import type { FieldEdits } from '../../fields/field-edits.ts';
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ClientEnds } from '../../message/client-ends.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { ResponseReceiver, UpstreamRequest, UpstreamStream } from '../../message/upstream-stream.ts';
import { type ByteSocket, type SocketReceiver, sharedReadBuffer } from '../../socket/byte-socket.ts';
import { type Loss, lossBeforeFirstByte, lossOf } from '../../socket/connection-error.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { BodyDecoder } from '../body-decoder.ts';
import { Framing } from '../framing.ts';
import type { HeadStatus } from '../head-parser.ts';
import type { Lenience } from '../lenience.ts';
import { LenientResponseParser } from '../lenient-response-parser.ts';
import { MessageWriter } from '../message-writer.ts';
import { ResponseParser } from '../response-parser.ts';
import { renderRequest, renderTrailers } from '../serialize-head.ts';
import { ParsedResponse } from './parsed-response.ts';
import { notAsked } from './switched.ts';

/** Callbacks of the pool that owns the connection. */
export interface ConnectionOwner {
  /** Called when the exchange is over. `reusable`: the connection can carry another exchange. */
  onRelease(connection: ClientConnection, reusable: boolean): void;
  /** Called when the connection ended while idle. */
  onIdleEnd(connection: ClientConnection): void;
}

export interface ClientConnectionOptions {
  readonly wheel: Wheel;
  /** Milliseconds; 0 = no limit. */
  readonly responseHeaderMs: number;
  /** Non-standard forms that the upstream may send; undefined: none. */
  readonly lenience: Lenience | undefined;
}

const headLimits = { startLineBytesMax: 16_384, headBytesMax: 1 << 20, fieldBytesMax: 0, linesMax: 1_000 };
/** Bytes of interim responses to one request; `timeouts` of the destination bound their time. */
const interimBytesMax = headLimits.headBytesMax;

/** Time that the end of an idle connection, and a request to it, may take to the other side. */
const inTransitSeconds = 1;

const tooMuch: Partial<Record<HeadStatus, string>> = {
  'line-too-long': 'status line too long',
  'head-too-large': 'response headers too large',
};

type Phase = 'idle' | 'head' | 'body' | 'over';

export class ClientConnection extends Timed implements UpstreamStream, BodySource, SocketReceiver {
  /**
   * Address of the endpoint, and the wheel time from which the connection takes no new request; both belong to the
   * pool.
   */
  remoteAddress = '';
  /** Client that it serves alone; set by the pool where the upstream is told. */
  client: ClientEnds | undefined;
  endsMs = Number.POSITIVE_INFINITY;
  readonly parser: ResponseParser;
  readonly framing = new Framing();
  readonly #head: ResponseHead;
  readonly #socket: ByteSocket;
  readonly #owner: ConnectionOwner;
  readonly #wheel: Wheel;
  readonly #responseHeaderMs: number;
  readonly #decoder: BodyDecoder;
  readonly #held = new ReceiveBuffer();
  readonly #writer: MessageWriter;
  #phase: Phase = 'idle';
  #receiver: ResponseReceiver | undefined;
  #sink: BodySink | undefined;
  #requestSource: BodySource | undefined;
  /** Edits of the request by middlewares, which apply to its trailers too. */
  #edits: FieldEdits | undefined;
  /** True once the whole request has been given to the socket. */
  #sent = false;
  #sourceBlocked = false;
  #paused = false;
  /** True while the sink refuses more data. */
  #sinkFull = false;
  /** True within `#read`. */
  #reading = false;
  /**
   * Reason why the body is cut short, when the upstream ended before the body had a sink; empty if the body may be
   * complete.
   */
  #ended: string | undefined;
  #toHead = false;
  /** Value of the request's Upgrade; empty when it has none. */
  #requestedUpgrade = '';
  #uses = 0;
  #interimBytes = 0;
  #answered = false;
  #lastPart: Buffer = sharedReadBuffer;
  #partFrom = 0;

  constructor(socket: ByteSocket, owner: ConnectionOwner, options: ClientConnectionOptions) {
    super();
    const { wheel, responseHeaderMs, lenience } = options;
    this.parser =
      lenience === undefined ? new ResponseParser(headLimits) : new LenientResponseParser(headLimits, lenience);
    this.#decoder = new BodyDecoder(lenience);
    this.#head = new ParsedResponse(this.parser, this.framing);
    this.#socket = socket;
    this.#owner = owner;
    this.#wheel = wheel;
    this.#responseHeaderMs = responseHeaderMs;
    this.#writer = new MessageWriter(socket);
    socket.receiver = this;
    socket.readsAfterReset = true;
    socket.on('drain', () => this.#onDrain());
    socket.on('end', () => this.#onEnd());
    socket.on('error', (error: NodeJS.ErrnoException) => this.#onError(error));
    socket.on('close', () => this.#onEnd());
    socket.resume();
  }

  /** True while the connection is idle and its end has not been seen. */
  get usable(): boolean {
    return this.#phase === 'idle' && this.#socket.writable && !this.#socket.readableEnded;
  }

  /**
   * Milliseconds for which the idle connection may still be used, by what its upstream said with the last response:
   * some less than it keeps the connection open, so that no request meets its end on the way.
   */
  get announcedIdleMs(): number {
    const { idleSeconds } = this.framing;
    return Math.max((idleSeconds - inTransitSeconds) * 1_000, idleSeconds * 500);
  }

  get reused(): boolean {
    return this.#uses > 0;
  }

  /** Returns the connection itself as the stream: it carries one exchange at a time. */
  stream(): this {
    return this;
  }

  send(receiver: ResponseReceiver, request: UpstreamRequest): void {
    const { method, upgrade, edits } = request.request;
    this.#receiver = receiver;
    this.#edits = edits;
    this.#phase = 'head';
    this.#toHead = method === 'HEAD';
    this.#requestedUpgrade = upgrade;
    this.#sent = request.bodyKind === 'none';
    this.#interimBytes = 0;
    this.#answered = false;
    this.#requestSource = undefined;
    this.#sink = undefined;
    this.parser.reset();
    this.#writer.head(renderRequest(request), request.bodyKind === 'stream' ? 'chunked' : request.bodyKind);
    if (this.#sent) {
      this.#writer.flush();
      this.#awaitHead();
    }
  }

  flush(): void {
    this.#writer.flush();
  }

  /** Ends the connection with the exchange of `receiver`, unless it carries another exchange already. */
  destroy(receiver: ResponseReceiver): void {
    if (this.#receiver === receiver) this.#end();
  }

  #end(): void {
    if (this.#phase === 'over') return;
    const busy = this.#phase !== 'idle';
    this.#finish();
    this.#socket.destroy();
    if (busy) this.#owner.onRelease(this, false);
  }

  /** Closes an idle connection that its owner has released. */
  close(): void {
    this.#finish();
    this.#socket.destroy();
  }

  // Request body, towards the upstream.

  from(source: BodySource): void {
    this.#requestSource = source;
  }

  data(chunk: Buffer): boolean {
    if (this.#phase === 'over' || this.#phase === 'idle') return true;
    const room = this.#writer.data(chunk);
    this.#writer.flush();
    this.#sourceBlocked = !room;
    return room;
  }

  end(trailers: string): void {
    if (this.#phase === 'over' || this.#phase === 'idle') return;
    this.#writer.end(trailers === '' ? '' : (this.#edits?.trailersOf(trailers) ?? trailers));
    this.#writer.flush();
    this.#sent = true;
    if (this.#phase === 'head') this.#awaitHead();
  }

  fail(_why: ProxyError): void {
    this.#end();
  }

  // Response body, from the upstream.

  start(sink: BodySink): void {
    this.#sink = sink;
    if (!this.#reading && this.#phase === 'body') this.#deliverHeld();
  }

  /** Delivers the held bytes to a sink that started late; nothing more was read before. */
  #deliverHeld(): void {
    const receiver = this.#receiver;
    const { bytes, length } = this.#held;
    this.#reading = true;
    this.#takeBody(bytes, 0, length);
    this.#reading = false;
    if (this.#phase === 'body') {
      this.#held.clear();
      if (this.#ended !== undefined) this.#endBody(this.#ended);
      else if (!this.#sinkFull) this.resume();
    }
    receiver?.onSettled();
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#sinkFull = false;
    this.#socket.resume();
  }

  abort(_why: ProxyError): void {
    this.#end();
  }

  override onDeadline(): void {
    if (this.#phase === 'idle') this.#endIdle();
    else if (this.#phase === 'head') this.#fail('timeout', false, 'no response header in time');
  }

  #awaitHead(): void {
    if (this.#responseHeaderMs > 0) this.#wheel.arm(this, this.#responseHeaderMs);
    else this.#wheel.disarm(this);
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#phase === 'idle') {
      // An unsolicited response must not answer the next request.
      this.#endIdle();
      return;
    }
    this.#answered = true;
    if (this.#held.length > 0) {
      this.#held.append(bytes, 0, length);
      this.#held.drop(this.#read(this.#held.bytes, 0, this.#held.length));
    } else {
      const end = this.#read(bytes, 0, length);
      if (end < length) this.#held.append(bytes, end, length);
    }
    if (this.#phase === 'body' && this.#sink === undefined) this.pause();
    this.#receiver?.onSettled();
  }

  /** Returns the position where it stopped: bytes that are not whole, or have no sink yet, stay to be read again. */
  #read(bytes: Buffer, from: number, to: number): number {
    this.#reading = true;
    const end = this.#readOn(bytes, from, to);
    this.#reading = false;
    return end;
  }

  #readOn(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (this.#phase === 'head' && at < to) {
      const status = this.parser.parse(bytes, at, to);
      if (status === 'more') return at;
      if (status !== 'done') {
        this.#fail('bad_response', false, this.parser.problem || (tooMuch[status] ?? status));
        return to;
      }
      at = this.parser.end;
      this.#takeHead(bytes, at, to);
    }
    if (this.#phase !== 'body') return to;
    if (this.#sink === undefined) return at;
    this.#takeBody(bytes, at, to);
    return to;
  }

  #takeHead(bytes: Buffer, at: number, to: number): void {
    const { parser, framing } = this;
    const problem = framing.readResponse(parser, this.#toHead);
    if (problem !== '') this.#fail('bad_response', false, problem);
    else if (parser.status === 101) this.#switchProtocols(Buffer.from(bytes.subarray(at, to)));
    else if (parser.status < 200) this.#takeInterim();
    else {
      this.#decoder.reset(framing.kind, framing.length);
      // Before the head has been passed on, an unreadable body becomes an error response instead of a response cut
      // short.
      const unreadable = this.#decoder.findProblem(bytes, at, to);
      if (unreadable !== '') {
        this.#fail('bad_response', false, unreadable);
        return;
      }
      this.#phase = 'body';
      this.#wheel.disarm(this);
      this.#receiver?.onResponse(this.#head, this);
    }
  }

  #takeInterim(): void {
    this.#interimBytes += this.parser.head.text.length;
    if (this.#interimBytes > interimBytesMax) this.#fail('bad_response', false, 'too many interim responses');
    else {
      this.#receiver?.onInterim(this.#head);
      this.parser.reset();
    }
  }

  #switchProtocols(rest: Buffer): void {
    const problem =
      this.#requestedUpgrade === ''
        ? '101 to a request that asked for none'
        : notAsked(this.parser.head, this.#requestedUpgrade);
    if (problem !== '') {
      this.#fail('bad_response', false, problem);
      return;
    }
    const receiver = this.#receiver;
    const socket = this.#socket;
    this.#finish();
    socket.removeAllListeners('drain');
    // The tunnel reads all further bytes.
    socket.pause();
    // A tunnel counts as a connection to the upstream as long as it is open.
    socket.once('close', () => this.#owner.onRelease(this, false));
    receiver?.onUpgrade(this.#head, socket, rest);
  }

  #takeBody(bytes: Buffer, from: number, to: number): void {
    const decoder = this.#decoder;
    const at = decoder.decode(bytes, from, to);
    if (decoder.dataEnd > decoder.dataStart && this.#sink !== undefined) {
      const chunk = this.#part(bytes, decoder.dataStart, decoder.dataEnd);
      this.#sinkFull = !this.#sink.data(chunk);
      if (this.#sinkFull) this.pause();
    }
    if (decoder.problem !== '') this.#cutShort(decoder.problem);
    else if (decoder.done && this.#phase === 'body') this.#complete(at === to);
  }

  /**
   * Returns the part as a buffer. The last part of the shared read buffer is cached: bodies of equal responses lie at
   * the same place.
   */
  #part(bytes: Buffer, from: number, to: number): Buffer {
    if (bytes !== sharedReadBuffer) return bytes.subarray(from, to);
    if (from !== this.#partFrom || to - from !== this.#lastPart.length) {
      this.#partFrom = from;
      this.#lastPart = bytes.subarray(from, to);
    }
    return this.#lastPart;
  }

  #complete(exact: boolean): void {
    const sink = this.#sink;
    const receiver = this.#receiver;
    const trailers = renderTrailers(this.#decoder.trailers, this.framing.named);
    const reusable = exact && this.#sent && this.framing.keepAlive;
    if (!this.#sent) this.#requestSource?.abort({ type: 'connection_reset' });
    this.#uses++;
    this.resume();
    if (reusable) this.#clear('idle');
    else {
      this.#finish();
      this.#socket.destroy();
    }
    // The release comes first: the next request may wait for the end of this response.
    this.#owner.onRelease(this, reusable);
    sink?.end(trailers);
    receiver?.onSettled();
  }

  #cutShort(message: string): void {
    const sink = this.#sink;
    this.#finish();
    this.#socket.destroy();
    sink?.fail({ type: 'connection_reset', message });
    this.#owner.onRelease(this, false);
  }

  #onDrain(): void {
    this.#writer.onDrain();
    if (!this.#sourceBlocked) return;
    this.#sourceBlocked = false;
    this.#requestSource?.resume();
  }

  #onEnd(): void {
    if (this.#phase === 'body') this.#endBody(this.#socket.truncated ? 'TLS ended without close_notify' : '');
    else if (this.#phase === 'idle') this.#endIdle();
    else if (this.#phase === 'head') this.#lose('the upstream closed the connection');
  }

  /** @param cut reason why the received bytes cannot be the whole body; empty: the framing decides. */
  #endBody(cut: string): void {
    if (this.#sink === undefined) {
      this.#ended ??= cut;
      return;
    }
    this.#decoder.endOfInput(cut);
    if (this.#decoder.done) this.#complete(false);
    else this.#cutShort(this.#decoder.problem);
  }

  #onError(error: NodeJS.ErrnoException): void {
    if (this.#phase === 'body') this.#endBody(error.code ?? error.message);
    else if (this.#phase === 'idle') this.#endIdle();
    else if (this.#phase === 'head') this.#lose(error.code ?? error.message);
  }

  #lose(reason: string): void {
    const isNew = this.#uses === 0 && !this.#answered;
    const { type, message }: Loss = isNew ? lossBeforeFirstByte(reason, this.#socket.security) : lossOf(reason);
    this.#fail(type, this.#isUntouched(), message);
  }

  #isUntouched(): boolean {
    return this.reused && !this.#answered;
  }

  #endIdle(): void {
    this.#finish();
    this.#socket.destroy();
    this.#owner.onIdleEnd(this);
  }

  #fail(type: ProxyErrorType, untouched: boolean, message: string): void {
    const receiver = this.#receiver;
    this.#finish();
    this.#socket.destroy();
    this.#owner.onRelease(this, false);
    receiver?.onFailure(type, untouched, message);
  }

  #finish(): void {
    this.#clear('over');
    this.#wheel.remove(this);
  }

  #clear(phase: Phase): void {
    this.#phase = phase;
    this.#receiver = undefined;
    this.#sink = undefined;
    this.#requestSource = undefined;
    this.#edits = undefined;
    this.#sourceBlocked = false;
    this.#sinkFull = false;
    this.#ended = undefined;
    this.#held.clear();
  }
}
