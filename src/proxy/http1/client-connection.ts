// One connection to an upstream: it carries one exchange at a time and is used again only when nothing is left in
// doubt (S04). Made by the endpoint's pool; an exchange holds it from `send` until the response is complete.
import type { ProxyErrorType } from '../../errors.ts';
import type { BodySink, BodySource } from '../body.ts';
import type { ProxyError } from '../proxy-error.ts';
import type { Wire, WireReceiver } from '../socket/wire.ts';
import { Timed, type Wheel } from '../wheel.ts';
import { BodyDecoder } from './body-decoder.ts';
import { type BodyKind, Framing } from './framing.ts';
import { HeldBytes } from './held-bytes.ts';
import { MessageWriter } from './message-writer.ts';
import { renderTrailers } from './render.ts';
import { ResponseParser } from './response-parser.ts';

/** Whoever sent the request. Exactly one of `onResponse`, `onUpgrade` and `onFailure` follows; `onSettled` any number of times. */
export interface ResponseReceiver {
  /** 100 to 199 but 101; the head is in `connection.parser` for the duration of the call. */
  onInterim(connection: ClientConnection): void;
  /** The final head is in `connection.parser`; the body follows through `connection.responseBody`. */
  onResponse(connection: ClientConnection): void;
  /** 101 to a request that asked for it: the socket is the receiver's from here on. `rest` came behind the head. */
  onUpgrade(connection: ClientConnection, socket: Wire, rest: Buffer): void;
  /** No response. `untouched`: a connection used before that ended without a byte in answer. */
  onFailure(type: ProxyErrorType, untouched: boolean, message: string): void;
  /** Everything that arrived together has been dealt with: what was written may leave. */
  onSettled(): void;
}

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
}

const headLimits = { startLineBytesMax: 16_384, headBytesMax: 1 << 20, fieldBytesMax: 0, linesMax: 1_000 };
/** More interim responses than this to one request are a flood. */
const interimMax = 100;

type Phase = 'idle' | 'head' | 'body' | 'over';

export class ClientConnection extends Timed implements BodySource, BodySink, WireReceiver {
  readonly parser = new ResponseParser(headLimits);
  readonly framing = new Framing();
  readonly #socket: Wire;
  readonly #owner: ConnectionOwner;
  readonly #wheel: Wheel;
  readonly #responseHeaderMs: number;
  readonly #decoder = new BodyDecoder();
  readonly #held = new HeldBytes();
  readonly #writer: MessageWriter;
  #phase: Phase = 'idle';
  #receiver: ResponseReceiver | undefined;
  #sink: BodySink | undefined;
  #requestSource: BodySource | undefined;
  /** The request is wholly with the socket. */
  #sent = false;
  #sourceBlocked = false;
  #paused = false;
  #toHead = false;
  #upgrading = false;
  #uses = 0;
  #interims = 0;
  #answered = false;

  constructor(socket: Wire, owner: ConnectionOwner, { wheel, responseHeaderMs }: ClientConnectionOptions) {
    super();
    this.#socket = socket;
    this.#owner = owner;
    this.#wheel = wheel;
    this.#responseHeaderMs = responseHeaderMs;
    this.#writer = new MessageWriter(socket);
    socket.receiver = this;
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

  /** Begins an exchange. A body of another kind than `none` follows through the sink that this connection is. */
  send(receiver: ResponseReceiver, head: string, kind: BodyKind, method: string, upgrading: boolean): void {
    this.#receiver = receiver;
    this.#phase = 'head';
    this.#toHead = method === 'HEAD';
    this.#upgrading = upgrading;
    this.#sent = kind === 'none';
    this.#interims = 0;
    this.#answered = false;
    this.#requestSource = undefined;
    this.#sink = undefined;
    this.parser.reset();
    this.#writer.head(head, kind);
    if (this.#sent) {
      this.#writer.flush();
      this.#awaitHead();
    }
  }

  /** What the request's source delivered at once has been taken. */
  flush(): void {
    this.#writer.flush();
  }

  /** Ends the exchange and the connection without another word. The receiver hears nothing more. */
  destroy(): void {
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
    this.#writer.end(trailers);
    this.#writer.flush();
    this.#sent = true;
    if (this.#phase === 'head') this.#awaitHead();
  }

  fail(_why: ProxyError): void {
    this.destroy();
  }

  // The response's body comes out here.

  start(sink: BodySink): void {
    this.#sink = sink;
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  abort(_why: ProxyError): void {
    this.destroy();
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
    this.#receiver?.onSettled();
  }

  /** Returns where it stopped: a head that is not whole stays to be read again. */
  #read(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (this.#phase === 'head' && at < to) {
      const status = this.parser.parse(bytes, at, to);
      if (status === 'more') return at;
      if (status !== 'done') {
        this.#fail('bad_response', false, this.parser.fault || status);
        return to;
      }
      at = this.parser.end;
      this.#takeHead(bytes, at, to);
    }
    if (this.#phase === 'body') this.#takeBody(bytes, at, to);
    return to;
  }

  #takeHead(bytes: Buffer, at: number, to: number): void {
    const { parser, framing } = this;
    const fault = framing.readResponse(parser, this.#toHead);
    if (fault !== '') this.#fail('bad_response', false, fault);
    else if (parser.status === 101) this.#switchProtocols(Buffer.from(bytes.subarray(at, to)));
    else if (parser.status < 200) this.#takeInterim();
    else {
      this.#phase = 'body';
      this.#wheel.disarm(this);
      this.#decoder.reset(framing.kind, framing.length);
      this.#receiver?.onResponse(this);
    }
  }

  #takeInterim(): void {
    if (++this.#interims > interimMax) this.#fail('bad_response', false, 'too many interim responses');
    else {
      this.#receiver?.onInterim(this);
      this.parser.reset();
    }
  }

  #switchProtocols(rest: Buffer): void {
    if (!this.#upgrading) {
      this.#fail('bad_response', false, '101 to a request that asked for none');
      return;
    }
    const receiver = this.#receiver;
    const socket = this.#socket;
    this.#finish();
    socket.removeAllListeners('drain');
    receiver?.onUpgrade(this, socket, rest);
    this.#owner.onRelease(this, false);
  }

  #takeBody(bytes: Buffer, from: number, to: number): void {
    const decoder = this.#decoder;
    const at = decoder.decode(bytes, from, to);
    if (decoder.dataEnd > decoder.dataStart && this.#sink !== undefined) {
      const chunk = bytes.subarray(decoder.dataStart, decoder.dataEnd);
      if (!this.#sink.data(chunk)) this.pause();
    }
    if (decoder.fault !== '') this.#cutShort(decoder.fault);
    else if (decoder.done && this.#phase === 'body') this.#complete(at === to);
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
    if (this.#phase === 'idle') this.#endIdle();
    else if (this.#phase === 'head')
      this.#fail('connection_reset', this.#isUntouched(), 'the upstream closed the connection');
    else if (this.#phase === 'body') {
      this.#decoder.endOfInput();
      if (this.#decoder.done) this.#complete(false);
      else this.#cutShort(this.#decoder.fault);
    }
  }

  #onError(error: NodeJS.ErrnoException): void {
    if (this.#phase === 'idle') this.#endIdle();
    else if (this.#phase === 'head') this.#fail('connection_reset', this.#isUntouched(), error.code ?? error.message);
    else if (this.#phase === 'body') this.#cutShort(error.code ?? error.message);
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
    this.#sourceBlocked = false;
    this.#held.clear();
  }
}
