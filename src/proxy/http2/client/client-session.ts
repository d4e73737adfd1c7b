// HTTP/2 connection to an upstream (RFC 9113): carries as many exchanges at a time as the upstream allows, and sends
// a PING when the upstream is silent. The endpoint's pool makes it and gets a callback when there is room and when it
// ends.
import type { PoolCallbacks } from '../../message/upstream-stream.ts';
import type { ByteSocket, SocketReceiver } from '../../socket/byte-socket.ts';
import { type Loss, lossBeforeFirstByte, lossOf } from '../../socket/connection-error.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import type { BlockLimits } from '../field-block.ts';
import { type FrameBatcher, threadBatcher } from '../frame-batcher.ts';
import { Session } from '../session.ts';
import type { SessionHost } from '../session-core.ts';
import type { Stream } from '../stream.ts';
import { ClientStream, type ClientStreamOwner } from './client-stream.ts';

/** Callbacks of the pool that owns the connection. */
export interface Http2ConnectionOwner {
  /** Called when a stream has ended or the upstream allows more streams. */
  onRoom(connection: Http2ClientConnection): void;
  /** Called when the last stream has ended. */
  onIdle(connection: Http2ClientConnection): void;
  /**
   * Called when the socket is closed, or about to close, and no stream is open. Called once, and not after the owner
   * has closed the connection.
   */
  onGone(connection: Http2ClientConnection): void;
  /** Same contract as `ClientStreamOwner.takeHttp1`. */
  takeHttp1(taker: PoolCallbacks): boolean;
  cancelHttp1(taker: PoolCallbacks): void;
}

export interface Http2ClientOptions {
  readonly wheel: Wheel;
  /** Milliseconds; 0 = no limit. */
  readonly responseHeaderMs: number;
  /** Milliseconds that the connection may be idle; 0 = no limit. */
  readonly idleMs: number;
  readonly batcher?: FrameBatcher;
}

/**
 * Streams of one connection; beyond them another connection shares the load, even when the upstream would allow more.
 */
export const streamsMax = 100;
/** Receive window of one stream in bytes: upstreams are near and fast. */
const streamWindow = 128 * 1024;
/** Milliseconds of silence with streams open after which a PING is sent. */
const silentMs = 20_000;
/** Milliseconds that the upstream has to answer a PING; then the connection ends. */
const pingMs = 10_000;
/**
 * Milliseconds between two PINGs without a message between them. gRPC servers count more than one in five minutes as
 * abuse, and would end long-lived streams.
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
  #receivedMs: number;
  /** True while nothing has arrived since a PING. */
  #pinged = false;
  /** True while no message has arrived since the last PING. */
  #quiet = false;
  #closing = false;
  #gone = false;
  /** True once the upstream has sent a byte. */
  #heard = false;
  /** Streams that wait for the upstream's first SETTINGS. */
  #awaitingSettings: ClientStream[] = [];

  constructor(socket: ByteSocket, owner: Http2ConnectionOwner, options: Http2ClientOptions) {
    super();
    this.#socket = socket;
    this.#owner = owner;
    this.scheme = socket.security === undefined ? 'http' : 'https';
    this.wheel = options.wheel;
    this.responseHeaderMs = options.responseHeaderMs;
    this.#idleMs = options.idleMs;
    this.#receivedMs = options.wheel.nowMs;
    this.#session = new Session(socket, this, {
      server: false,
      batcher: options.batcher ?? threadBatcher,
      wheel: options.wheel,
      nowMs: () => options.wheel.nowMs,
      limits: () => limits,
      streamsMax: 0,
      streamWindow,
      // Many resets at once are the upstream's decision and no abuse.
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

  /** Number of streams that could begin now. */
  get room(): number {
    return this.#closing ? 0 : Math.min(this.#session.room, streamsMax - this.#session.streamCount);
  }

  get idle(): boolean {
    return this.#session.streamCount === 0;
  }

  /** True once the connection is closed or about to close. */
  get ended(): boolean {
    return this.#gone;
  }

  /** Returns a stream for one request, which has to be sent in the same tick. */
  stream(): ClientStream {
    return new ClientStream(this);
  }

  lossOf(reason: string): Loss {
    return this.#heard ? lossOf(reason) : lossBeforeFirstByte(reason, this.#socket.security);
  }

  begin(): Stream | undefined {
    if (this.room <= 0) return undefined;
    const stream = this.#session.request();
    if (this.#session.streamCount === 1) {
      this.#receivedMs = this.wheel.nowMs;
      this.#pinged = false;
      this.wheel.arm(this, silentMs);
    }
    return stream;
  }

  get connectProtocol(): boolean | undefined {
    return this.#session.connectProtocol;
  }

  awaitSettings(stream: ClientStream): void {
    this.#awaitingSettings.push(stream);
  }

  takeHttp1(taker: PoolCallbacks): boolean {
    return this.#owner.takeHttp1(taker);
  }

  cancelHttp1(taker: PoolCallbacks): void {
    this.#owner.cancelHttp1(taker);
  }

  /** Takes no more requests, and closes after those that are in flight. */
  retire(): void {
    this.#closing = true;
    if (this.idle) this.#end('');
  }

  /** Closes an idle connection that its owner has released. */
  close(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#closing = true;
    this.wheel.remove(this);
    this.#session.fail(errorCode.none, 'the connection is not needed any more');
    this.#refuseAwaiting();
    this.#socket.end();
    this.#socket.destroySoon();
  }

  override onDeadline(): void {
    if (this.idle) {
      this.#end('');
      return;
    }
    const silent = this.wheel.nowMs - this.#receivedMs;
    if (this.#pinged) {
      this.#lost('the upstream does not answer');
      return;
    }
    const pingAfterMs = this.#quiet ? silentAgainMs : silentMs;
    if (silent < pingAfterMs) this.wheel.arm(this, pingAfterMs - silent);
    else {
      this.#pinged = true;
      this.#quiet = true;
      this.#session.ping();
      this.wheel.arm(this, pingMs);
    }
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#gone) return;
    this.#heard = true;
    this.#receivedMs = this.wheel.nowMs;
    this.#pinged = false;
    this.#session.read(bytes, 0, length);
  }

  // Callbacks of the session.

  onRequest(): void {}
  onAlive(): void {}
  onEarlyResponse(): void {}
  onHeld(): void {}

  onMessage(): void {
    this.#quiet = false;
  }

  onStreamGone(): void {
    if (this.#gone) return;
    if (this.idle) {
      this.#rearm();
      if (this.#closing || this.#session.refusesStreams) this.#end('');
      else this.#owner.onIdle(this);
    } else if (!this.#closing) this.#owner.onRoom(this);
  }

  onSettings(): void {
    for (const stream of this.#awaitingSettings.splice(0)) stream.onSettings();
    if (this.room > 0) this.#owner.onRoom(this);
    // An idle connection that takes no requests is of no use until the upstream changes its settings, and each
    // further request would open another: their number would have no bound.
    else if (this.idle && this.#session.refusesStreams) this.#end('');
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

  /** Sends GOAWAY and closes the socket. */
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
    this.#refuseAwaiting();
    this.#owner.onGone(this);
  }

  #refuseAwaiting(): void {
    const { type, message } = this.lossOf('the upstream closed the connection');
    for (const stream of this.#awaitingSettings.splice(0)) stream.onNoConnection(type, message);
  }
}
