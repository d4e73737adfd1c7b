// One connection to an upstream: it carries one exchange at a time and is used again only when nothing is left in
// doubt (S04). Made by the endpoint's pool; an exchange holds it from `send` until the response is complete.
import type { ProxyErrorType } from '../../../errors.ts';
import type { FieldEdits } from '../../fields/field-edits.ts';
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { ResponseReceiver, UpstreamRequest, UpstreamStream } from '../../message/upstream-stream.ts';
import { arrived, type ByteSocket, type SocketReceiver } from '../../socket/byte-socket.ts';
import { lossOf } from '../../socket/connection-error.ts';
import { ReceiveBuffer } from '../../socket/receive-buffer.ts';
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

/** The pool's side. */
export interface ConnectionOwner {
  /** The exchange is over. `reusable`: nothing is left in doubt. */
  onRelease(connection: ClientConnection, reusable: boolean): void;
  /** The connection ended while idle. */
  onIdleEnd(connection: ClientConnection): void;
}

export interface ClientConnectionOptions {
  readonly wheel: Wheel;
  /** 0 = no limit. */
  readonly responseHeaderMs: number;
  /** Forms that the upstream is allowed; undefined: none. */
  readonly lenience: Lenience | undefined;
}

const headLimits = { startLineBytesMax: 16_384, headBytesMax: 1 << 20, fieldBytesMax: 0, linesMax: 1_000 };
/** Bytes of interim responses to one request; `timeouts` of the destination bound their time. */
const interimBytesMax = headLimits.headBytesMax;

const tooMuch: Partial<Record<HeadStatus, string>> = {
  'line-too-long': 'status line too long',
  'head-too-large': 'response headers too large',
};

type Phase = 'idle' | 'head' | 'body' | 'over';

export class ClientConnection extends Timed implements UpstreamStream, BodySource, SocketReceiver {
  /** The address that it was made to, and when it takes no new request any more (wheel time); for its pool. */
  remoteAddress = '';
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
  /** What middlewares changed about the request: its trailers come after them. */
  #edits: FieldEdits | undefined;
  /** The request is wholly with the socket. */
  #sent = false;
  #sourceBlocked = false;
  #paused = false;
  /** The sink has not taken what it was given last. */
  #sinkFull = false;
  /** Within `#read`. */
  #reading = false;
  /** How the other side has ended while nobody took the body yet: why it is cut short, empty if it may be complete. */
  #ended: string | undefined;
  #toHead = false;
  /** Protocols that the request asks for; empty when it asks for none. */
  #asked = '';
  #uses = 0;
  #interimBytes = 0;
  #answered = false;
  #lastPart: Buffer = arrived;
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

  /** An idle connection that the other side has not closed, as far as is known. */
  get usable(): boolean {
    return this.#phase === 'idle' && this.#socket.writable && !this.#socket.readableEnded;
  }

  /** For an exchange: this is one at a time. */
  stream(): this {
    return this;
  }

  send(receiver: ResponseReceiver, request: UpstreamRequest): void {
    const { method, upgrade, edits } = request.request;
    this.#receiver = receiver;
    this.#edits = edits;
    this.#phase = 'head';
    this.#toHead = method === 'HEAD';
    this.#asked = upgrade;
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

  /** The connection ends with the exchange, unless it carries another's already. */
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

  /** Ends an idle connection whose owner has let go of it. */
  close(): void {
    this.#finish();
    this.#socket.destroy();
  }

  // The request's body goes in here.

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

  // The response's body comes out here.

  start(sink: BodySink): void {
    this.#sink = sink;
    if (!this.#reading && this.#phase === 'body') this.#claim();
  }

  /** The receiver took its time: what has come meanwhile was held, and nothing more was read. */
  #claim(): void {
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
      // Nobody asked: what an upstream says out of turn must not answer the next request.
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

  /** Returns where it stopped: what is not whole, or has no taker yet, stays to be read again. */
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
      // While nobody has seen the head, what cannot be read is still an answer of its own, and not a client that is cut.
      const unreadable = this.#decoder.foresee(bytes, at, to);
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
      this.#asked === '' ? '101 to a request that asked for none' : notAsked(this.parser.head, this.#asked);
    if (problem !== '') {
      this.#fail('bad_response', false, problem);
      return;
    }
    const receiver = this.#receiver;
    const socket = this.#socket;
    this.#finish();
    socket.removeAllListeners('drain');
    // Whatever else it says is the tunnel's.
    socket.pause();
    // It is a connection to the upstream for as long as it is open, whatever is said on it.
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

  /** One part of `arrived` is kept: where responses are alike, their bodies lie at the same place. */
  #part(bytes: Buffer, from: number, to: number): Buffer {
    if (bytes !== arrived) return bytes.subarray(from, to);
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
    // Released first: the end of the response may be what the next request waits for.
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
    else if (this.#phase === 'head')
      this.#fail('connection_reset', this.#isUntouched(), 'the upstream closed the connection');
  }

  /** @param cut why what came cannot be all of it; empty: that depends on how the body is framed. */
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
    else if (this.#phase === 'head') {
      const { type, message } = lossOf(error.code ?? error.message);
      this.#fail(type, this.#isUntouched(), message);
    }
  }

  #isUntouched(): boolean {
    return this.#uses > 0 && !this.#answered;
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
