// One HTTP/2 connection to an upstream (RFC 9113): as many exchanges at a time as the upstream allows, asked now and
// then whether it is still there. Made by the endpoint's pool, which is told when there is room and when it ends.
import type { PoolCallbacks } from '../../message/upstream-stream.ts';
import type { ByteSocket, SocketReceiver } from '../../socket/byte-socket.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import type { BlockLimits } from '../field-block.ts';
import { type FlushTurn, threadTurn } from '../frame-batcher.ts';
import { Session } from '../session.ts';
import type { SessionHost } from '../session-core.ts';
import type { Stream } from '../stream.ts';
import { ClientStream, type ClientStreamOwner } from './client-stream.ts';

/** The pool's side. */
export interface Http2ConnectionOwner {
  /** A stream has ended, or the upstream allows more. */
  onRoom(connection: Http2ClientConnection): void;
  /** The last stream has ended. */
  onIdle(connection: Http2ClientConnection): void;
  /** The socket is closed, or about to be, and nothing is under way. Told once, unless the owner has closed it. */
  onGone(connection: Http2ClientConnection): void;
  /** As `ClientStreamOwner`. */
  takeHttp1(taker: PoolCallbacks): boolean;
  cancelHttp1(taker: PoolCallbacks): void;
}

export interface Http2ClientOptions {
  readonly wheel: Wheel;
  /** 0 = no limit. */
  readonly responseHeaderMs: number;
  /** How long it may have nothing to do; 0 = no limit. */
  readonly idleMs: number;
  readonly turn?: FlushTurn;
}

/** Beyond so many another connection shares the load, even when the upstream would allow more. */
export const streamsMax = 100;
/** What an upstream may send on one stream before it was taken: upstreams are near and fast. */
const streamWindow = 128 * 1024;
/** With streams open and nothing heard for so long the upstream is asked whether it is there … */
const silentMs = 20_000;
/** … and given up when it does not say so in time. */
const pingMs = 10_000;
/**
 * With no message since the last question it is asked as seldom as this: servers of gRPC take more often than once in
 * five minutes for abuse, and end the streams that are meant to stay.
 */
const silentAgainMs = 310_000;
const limits: BlockLimits = { fieldBytesMax: 0, linesMax: 1_000 };

export class Http2ClientConnection extends Timed implements SessionHost, ClientStreamOwner, SocketReceiver {
  readonly scheme: 'http' | 'https';
  readonly wheel: Wheel;
  readonly responseHeaderMs: number;
  readonly #socket: ByteSocket;
  readonly #owner: Http2ConnectionOwner;
  readonly #session: Session;
  readonly #idleMs: number;
  #heardMs: number;
  /** Nothing has come since a PING. */
  #asked = false;
  /** A PING was the last that was said; no message has come since. */
  #quiet = false;
  #closing = false;
  #gone = false;
  /** Streams that want to know what the upstream says about itself first. */
  #unsettled: ClientStream[] = [];

  constructor(socket: ByteSocket, owner: Http2ConnectionOwner, options: Http2ClientOptions) {
    super();
    this.#socket = socket;
    this.#owner = owner;
    this.scheme = socket.security === undefined ? 'http' : 'https';
    this.wheel = options.wheel;
    this.responseHeaderMs = options.responseHeaderMs;
    this.#idleMs = options.idleMs;
    this.#heardMs = options.wheel.nowMs;
    this.#session = new Session(socket, this, {
      server: false,
      turn: options.turn ?? threadTurn,
      wheel: options.wheel,
      nowMs: () => options.wheel.nowMs,
      limits: () => limits,
      streamsMax: 0,
      streamWindow,
      // An upstream that gives up many requests at once has its reasons.
      resetsPerSecond: 10_000,
    });
    socket.receiver = this;
    socket.on('drain', () => this.#session.onDrain());
    socket.on('end', () => this.#lost('the upstream closed the connection'));
    socket.readsAfterReset = true;
    socket.on('error', (error: NodeJS.ErrnoException) => this.#lost(error.code ?? error.message));
    socket.on('close', () => this.#lost('the upstream closed the connection'));
    socket.resume();
    this.#rearm();
  }

  /** Streams that could be begun now. */
  get room(): number {
    return this.#closing ? 0 : Math.min(this.#session.room, streamsMax - this.#session.streamCount);
  }

  get idle(): boolean {
    return this.#session.streamCount === 0;
  }

  /** It is closed, or about to be. */
  get ended(): boolean {
    return this.#gone;
  }

  /** For one request, which is to be sent before anything else happens. */
  stream(): ClientStream {
    return new ClientStream(this);
  }

  begin(): Stream | undefined {
    if (this.room <= 0) return undefined;
    const stream = this.#session.request();
    if (this.#session.streamCount === 1) {
      this.#heardMs = this.wheel.nowMs;
      this.#asked = false;
      this.wheel.arm(this, silentMs);
    }
    return stream;
  }

  get connectProtocol(): boolean | undefined {
    return this.#session.connectProtocol;
  }

  awaitSettings(stream: ClientStream): void {
    this.#unsettled.push(stream);
  }

  takeHttp1(taker: PoolCallbacks): boolean {
    return this.#owner.takeHttp1(taker);
  }

  cancelHttp1(taker: PoolCallbacks): void {
    this.#owner.cancelHttp1(taker);
  }

  /** Takes no more requests, and ends with those it has. */
  retire(): void {
    this.#closing = true;
    if (this.idle) this.#end('');
  }

  /** Ends an idle connection whose owner has let go of it. */
  close(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#closing = true;
    this.wheel.remove(this);
    this.#session.fail(errorCode.none, 'the connection is not needed any more');
    this.#refuseUnsettled();
    this.#socket.end();
    this.#socket.destroySoon();
  }

  override onDeadline(): void {
    if (this.idle) {
      this.#end('');
      return;
    }
    const silent = this.wheel.nowMs - this.#heardMs;
    if (this.#asked) {
      this.#lost('the upstream does not answer');
      return;
    }
    const patienceMs = this.#quiet ? silentAgainMs : silentMs;
    if (silent < patienceMs) this.wheel.arm(this, patienceMs - silent);
    else {
      this.#asked = true;
      this.#quiet = true;
      this.#session.ping();
      this.wheel.arm(this, pingMs);
    }
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#gone) return;
    this.#heardMs = this.wheel.nowMs;
    this.#asked = false;
    this.#session.read(bytes, 0, length);
  }

  // What the session tells.

  onRequest(): void {}
  onAlive(): void {}
  onAnsweredEarly(): void {}
  onHeld(): void {}

  onMessage(): void {
    this.#quiet = false;
  }

  onStreamGone(): void {
    if (this.#gone) return;
    if (this.idle) {
      this.#rearm();
      if (this.#closing || this.#session.barred) this.#end('');
      else this.#owner.onIdle(this);
    } else if (!this.#closing) this.#owner.onRoom(this);
  }

  onSettings(): void {
    for (const stream of this.#unsettled.splice(0)) stream.onSettings();
    if (this.room > 0) this.#owner.onRoom(this);
    // Of no use to anybody until it changes its mind, and whoever comes opens another: they would be without number.
    else if (this.idle && this.#session.barred) this.#end('');
  }

  onGoAway(): void {
    this.#closing = true;
    if (this.idle) this.#end('');
  }

  onFailed(problem: string): void {
    this.#end(problem);
  }

  #rearm(): void {
    if (this.#idleMs > 0) this.wheel.arm(this, this.#idleMs);
    else this.wheel.disarm(this);
  }

  #lost(message: string): void {
    this.#closing = true;
    this.#session.lost(message);
    this.#over();
    this.#socket.destroy();
  }

  /** Says goodbye. */
  #end(problem: string): void {
    if (this.#gone) return;
    this.#closing = true;
    if (problem === '') this.#session.fail(errorCode.none, 'the connection is not needed any more');
    this.#over();
    this.#socket.end();
    this.#socket.destroySoon();
  }

  #over(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.wheel.remove(this);
    this.#refuseUnsettled();
    this.#owner.onGone(this);
  }

  #refuseUnsettled(): void {
    for (const stream of this.#unsettled.splice(0)) {
      stream.onNoConnection('connection_reset', 'the upstream closed the connection');
    }
  }
}
