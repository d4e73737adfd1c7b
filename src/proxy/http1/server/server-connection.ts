// HTTP/1.1 connection of a client: requests arrive one after the other, responses leave in the same order. Reads no
// further than the request whose response is pending, bounds pipelined bytes, and closes so that the last response
// arrives.
import { type ProxyErrorType, proxyErrors } from '../../../errors.ts';
import { ReceiveBuffer } from '../../../util/receive-buffer.ts';
import { type Downstream, type RestConsumer, restMs } from '../../exchange/downstream.ts';
import { Exchange } from '../../exchange/exchange.ts';
import type { ExchangeContext } from '../../exchange/exchange-context.ts';
import type { BodySink } from '../../message/body.ts';
import { type ProxyError, proxyError } from '../../message/proxy-error.ts';
import type { DownstreamAddress } from '../../message/request.ts';
import { type Peer, RequestView } from '../../message/request-view.ts';
import type { ResponseHead } from '../../message/response.ts';
import { Sender } from '../../message/sender.ts';
import type { ByteSocket, SocketReceiver } from '../../socket/byte-socket.ts';
import { Lingering, lingerMs } from '../../socket/lingering.ts';
import type { Security } from '../../socket/security.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed } from '../../wheel.ts';
import { BodyDecoder } from '../body-decoder.ts';
import { Framing } from '../framing.ts';
import type { HeadStatus } from '../head-parser.ts';
import { RequestParser } from '../request-parser.ts';
import { renderTrailers } from '../serialize-head.ts';
import { announcedBytesMax, Discard, discardMs } from './discard.ts';
import { type RespondedRequest, ServerResponse } from './server-response.ts';
import { Tunnel } from './tunnel.ts';

/** Bytes that a client may send ahead of the response it waits for. */
const aheadBytesMax = 64 * 1024;
/** Milliseconds of silence of the response, after FIN behind a whole request, until the client counts as gone. */
const halfClosedMs = 1_000;
/** Result of a read that needs more bytes. */
const incomplete = -1;

/** Milliseconds that a request may have been in transit when the port closed. */
const inTransitMs = 200;

/**
 * `head`: waiting for a request or within its head. `body`: within its body. `done`: whole, the response is pending.
 * `linger`: received bytes are dropped. `tunnel`: the sockets are joined. `over`: closed.
 */
type Reading = 'head' | 'body' | 'done' | 'linger' | 'tunnel' | 'over';

export class ServerConnection extends Timed implements Downstream, RespondedRequest, Peer, SocketReceiver {
  readonly security: Security | undefined;
  requestBytes = 0;
  restConsumer: RestConsumer | undefined;
  readonly framing = new Framing();
  readonly request: RequestView;
  readonly response: ServerResponse;
  readonly #parser: RequestParser;
  readonly #socket: ByteSocket;
  readonly #context: ExchangeContext;
  readonly #exchange: Exchange;
  readonly #decoder = new BodyDecoder();
  readonly #held = new ReceiveBuffer();
  readonly #sender: Sender;
  #lingering: Lingering | undefined;
  #reading: Reading = 'head';
  #sink: BodySink | undefined;
  /** True while a response is pending or being written. */
  #answering = false;
  /** True when FIN has arrived behind a whole request. */
  #halfClosed = false;
  /** True when the connection ends with the next response, or at once when no request is open. */
  #leaving = false;
  /** True when the connection ends with the body at hand: the response has announced it. */
  #endsWithBody = false;
  #reads = 0;
  #processing = false;
  #paused = false;
  /** True while reading has stopped until the client takes earlier responses. */
  #congested = false;
  #headStartedMs = -1;
  headBytes = 0;
  readonly #onOver: (connection: ServerConnection) => void;

  /** `spentMs` of the client's time for its first head have passed in the TLS handshake. */
  constructor(
    socket: ByteSocket,
    context: ExchangeContext,
    onOver: (connection: ServerConnection) => void,
    spentMs = 0,
  ) {
    super();
    this.#socket = socket;
    this.security = socket.security;
    this.#context = context;
    this.#onOver = onOver;
    this.#parser = new RequestParser(context.settings().headLimits);
    this.request = new RequestView(this.#parser, this.framing, this);
    this.response = new ServerResponse(socket, this, context);
    this.#exchange = new Exchange(this, context);
    this.#sender = new Sender(socket);
    socket.receiver = this;
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => this.#over());
    socket.on('close', () => this.#over());
    socket.resume();
    const { clientHeaderMs } = context.settings();
    if (clientHeaderMs > 0) this.#armHead(Math.max(1, clientHeaderMs - spentMs));
  }

  /** True between two requests, with no byte of the next one received. */
  get idle(): boolean {
    return this.#reading === 'head' && this.#held.length === 0;
  }

  /**
   * Announces the connection's end in its next response; an idle connection ends after the time that a request may be
   * in transit.
   */
  drain(): void {
    this.#leaving = true;
    if (this.idle && this.#reads > 0) this.#armHead(inTransitMs);
  }

  /** Closes at once, in any state. */
  destroy(): void {
    this.#socket.destroy();
    this.#over();
  }

  sender(): DownstreamAddress {
    return this.#sender.of(this.#parser.head, this.#context.settings().trusted);
  }

  readsAsTunnel(): boolean {
    return false;
  }

  // Callbacks of the response.

  get method(): string {
    return this.#parser.method;
  }

  get minor(): number {
    return this.#parser.minor;
  }

  get mayPersist(): boolean {
    return this.framing.keepAlive && !this.#leaving && !this.#halfClosed && !this.#restIsLong();
  }

  get holdsBodyBack(): boolean {
    return this.framing.expectContinue && this.#reading === 'body';
  }

  onAnswered(keepAlive: boolean, awaitsEnd: boolean): void {
    this.#answering = false;
    this.#exchange.onResponseSent();
    if (this.#restComes) this.#readRest(!keepAlive, awaitsEnd);
    else if (!keepAlive || this.#halfClosed) this.#lingeringClose();
    else if (this.#reading === 'done') this.#next();
    else this.#discardRest();
    if (!this.#processing) this.response.flush();
  }

  onAbort(why?: ProxyErrorType): void {
    this.#exchange.abort(why);
    // Relayed bytes count as sent. A connection that ends without a byte of the response looks like a stale one, and
    // clients then repeat their request.
    this.response.flush();
    this.#socket.flush();
    this.#socket.resetAndDestroy();
    this.#over();
  }

  onRoom(): void {
    if (!this.#congested) return;
    this.#congested = false;
    this.#resumeReading();
  }

  onProgress(): void {
    if (this.#halfClosed) this.#context.wheel.arm(this, halfClosedMs);
  }

  tunnel(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void {
    this.response.switching(head, head.upgrade || this.framing.upgrade);
    if (rest.length > 0) this.#socket.write(rest);
    const { bytes, length } = this.#held;
    if (length > 0) upstream.write(Buffer.from(bytes.subarray(0, length)));
    this.#held.clear();
    this.#reading = 'tunnel';
    this.response.close();
    this.#context.wheel.remove(this);
    this.#socket.removeAllListeners('drain');
    const { wheel, settings } = this.#context;
    const tunnel = new Tunnel(this.#socket, upstream, wheel, settings().idleTunnelMs, () => this.#over());
    // The FIN behind the request has passed; the socket does not report it again.
    if (this.#halfClosed) tunnel.onClientEnded();
  }

  // Request body, from the client.

  start(sink: BodySink): void {
    if (this.#reading === 'done') {
      // Nothing more arrives. The next request determines the sink of the next body.
      sink.end('');
      return;
    }
    this.#sink = sink;
    if (!this.#processing) this.#resumeReading();
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#held.length > 0 && !this.#processing) this.#processHeld();
    if (!this.#paused) this.#socket.resume();
  }

  abort(_why: ProxyError): void {
    this.#sink = undefined;
    this.resume();
  }

  override onDeadline(): void {
    if (this.#halfClosed && this.response.blocked) {
      // The client is slow, not silent; the response has deadlines of its own.
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    if (this.#reading === 'linger' && this.#lingering?.lingersOn() === true) {
      this.#context.wheel.arm(this, lingerMs);
      return;
    }
    if ((this.idle && this.#leaving) || (this.#reading === 'body' && !this.#answering)) {
      this.#lingeringClose();
      return;
    }
    // A timeout of a head, a body, a half-closed client or an idle connection.
    this.#exchange.abort();
    this.destroy();
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#isEnding) {
      this.#lingering?.onBytes();
      return;
    }
    if (this.#held.length > 0) {
      this.#held.append(bytes, 0, length);
      this.#processHeld();
      return;
    }
    const end = this.#process(bytes, 0, length);
    if (end < length) this.#held.append(bytes, end, length);
    this.#boundAhead();
    this.#countHead();
  }

  /** Refuses an incomplete head as too large: the process holds too many bytes of incomplete heads. */
  refuseHead(): void {
    this.#leaving = true;
    this.#answering = true;
    this.response.reset();
    this.requestBytes = 0;
    this.#refuse('request_headers_too_large', '');
    this.response.flush();
  }

  /** Counts the memory of an incomplete head, with the spare capacity of its buffer. */
  #countHead(): void {
    const bytes = this.#reading === 'head' && !this.#congested && !this.#answering ? this.#held.bytes.length : 0;
    if (bytes !== this.headBytes) this.#context.heads.hold(this, bytes);
  }

  #processHeld(): void {
    const { bytes, length } = this.#held;
    const end = this.#process(bytes, 0, length);
    this.#held.drop(end);
    this.#boundAhead();
    this.#countHead();
  }

  /**
   * Returns the position where it stopped: the rest waits for more bytes, for a sink with room, or for the response.
   */
  #process(bytes: Buffer, from: number, to: number): number {
    this.#processing = true;
    let at = from;
    while (at < to && this.#wantsMore()) {
      const next = this.#reading === 'head' ? this.#readHead(bytes, at, to) : this.#readBody(bytes, at, to);
      if (next === incomplete) break;
      at = next;
    }
    this.#processing = false;
    this.response.flush();
    return this.#isEnding ? to : at;
  }

  /** Returns whether reading goes on. No request begins while the client has not taken earlier responses. */
  #wantsMore(): boolean {
    if (this.#reading === 'head' && this.response.congested) this.#congested = true;
    return (
      (this.#reading === 'head' && !this.#congested) ||
      (this.#reading === 'body' && this.#sink !== undefined && !this.#paused)
    );
  }

  #boundAhead(): void {
    const waiting = this.#reading === 'body' || this.#congested ? 0 : aheadBytesMax;
    if ((this.#reading !== 'head' || this.#congested) && this.#held.length > waiting) this.pause();
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    // An activation may have changed the limits since the previous request.
    this.#parser.limits = this.#context.settings().headLimits;
    const status = this.#parser.parse(bytes, from, to);
    if (status === 'more') {
      if (this.#parser.skips(bytes, from, to)) {
        this.#parser.reset();
        return to;
      }
      this.#headBegins();
      return incomplete;
    }
    this.#answering = true;
    this.response.reset();
    this.requestBytes = 0;
    if (status !== 'done') {
      this.#refuse(refusals[status], this.#parser.problem);
      return to;
    }
    this.#reads++;
    this.#begin();
    return this.#parser.end;
  }

  #begin(): void {
    const { settings, wheel } = this.#context;
    const refused = this.request.read(settings().pathNormalization);
    if (refused !== undefined) {
      this.#refuse(refused, this.request.problem);
      return;
    }
    const { path, canonicalPath } = this.request;
    if (path !== canonicalPath) this.#context.reportPath(path, canonicalPath);
    const problem = this.framing.readRequest(this.#parser);
    if (problem !== '') {
      this.#refuse('bad_request', problem);
      return;
    }
    this.request.hideNamed();
    this.#decoder.reset(this.framing.kind, this.framing.length);
    this.#reading = this.#decoder.done ? 'done' : 'body';
    if (this.#reading === 'done') wheel.disarm(this);
    else this.#armBody();
    this.#exchange.begin();
  }

  #readBody(bytes: Buffer, from: number, to: number): number {
    const decoder = this.#decoder;
    const at = decoder.decode(bytes, from, to);
    const sink = this.#sink;
    if (decoder.dataEnd > decoder.dataStart) {
      this.requestBytes += decoder.dataEnd - decoder.dataStart;
      if (sink?.data(bytes.subarray(decoder.dataStart, decoder.dataEnd)) === false) this.pause();
      if (this.#isEnding) return to;
    }
    if (decoder.problem !== '') {
      this.#loseRest();
      // A request that has its response gets no second one.
      if (this.#answering) this.#refuse('bad_request', decoder.problem);
      else this.#lingeringClose();
      return to;
    }
    if (decoder.done) {
      this.#reading = 'done';
      this.#context.wheel.disarm(this);
      this.#sink = undefined;
      this.restConsumer = undefined;
      sink?.end(renderTrailers(decoder.trailers, this.framing.named));
      if (this.#endsWithBody) this.#lingeringClose();
      else if (!this.#answering) this.#next();
    } else if (!this.#answering && this.restConsumer !== undefined) this.#keepOrDropRest();
    return at;
  }

  /** True when received bytes are not parsed any more. */
  get #isEnding(): boolean {
    return this.#reading === 'linger' || this.#reading === 'over';
  }

  /** True when more of the body follows and has a consumer after the response. */
  get #restComes(): boolean {
    return this.#reading === 'body' && this.restConsumer?.wantsRest === true && !this.response.bodyUnasked;
  }

  /**
   * Lets the body's consumer read on after the response. Many clients stop sending when they see the connection end.
   */
  #readRest(isLast: boolean, awaitsEnd: boolean): void {
    this.#endsWithBody = isLast;
    if (awaitsEnd) {
      this.response.flush();
      this.#socket.flush();
      this.#socket.end();
    }
    this.#keepOrDropRest();
    if (!this.#processing) this.#resumeReading();
  }

  #keepOrDropRest(): void {
    const { wheel, settings } = this.#context;
    if (this.restConsumer?.wantsRest === true) {
      if (settings().clientRequestMs === 0) wheel.arm(this, restMs);
      return;
    }
    this.restConsumer = undefined;
    if (this.#endsWithBody) this.#lingeringClose();
    else this.#discardRest();
  }

  /**
   * Drops the rest of the request. The client reads the response while it sends, or behind it; its next request
   * follows on the connection.
   */
  #discardRest(): void {
    const { wheel } = this.#context;
    wheel.arm(this, Math.min(this.#bodyMs(), discardMs));
    this.start(new Discard(() => this.#lingeringClose()));
  }

  #loseRest(): void {
    const taker = this.restConsumer;
    this.restConsumer = undefined;
    taker?.onRestLost();
  }

  #refuse(type: ProxyErrorType, problem: string): void {
    const message = problem === '' ? undefined : `${proxyErrors[type].message}: ${problem}`;
    this.#exchange.refuse(proxyError(type, {}, message));
  }

  #next(): void {
    const { idleMs } = this.#context.settings();
    this.#parser.reset();
    this.#sink = undefined;
    this.restConsumer = undefined;
    this.#reading = 'head';
    this.#headStartedMs = -1;
    // The drain may have begun after a head had left without `Connection: close`: the client does not know of it.
    this.#armHead(this.#leaving ? inTransitMs : idleMs);
    if (!this.#processing) this.#resumeReading();
  }

  /** Reads the held bytes, and then from the socket again. */
  #resumeReading(): void {
    if (this.#paused) this.resume();
    else if (this.#held.length > 0) this.#processHeld();
  }

  /** Lingering close: reads and drops further bytes for a while. */
  #lingeringClose(): void {
    this.#loseRest();
    this.response.flush();
    this.#socket.flush();
    if (this.#nothingFollows()) {
      this.destroy();
      return;
    }
    this.#reading = 'linger';
    this.#lingering ??= new Lingering(this.#socket);
    this.#held.clear();
    this.#countHead();
    this.#sink = undefined;
    this.resume();
    this.#socket.end();
    this.#context.wheel.arm(this, lingerMs);
  }

  /**
   * Returns whether the connection can close at once: the client has announced its last request (RFC 9112 §9.6), and
   * the kernel has the whole response, so that no later byte would reset the connection. TLS still has to send
   * close_notify.
   */
  #nothingFollows(): boolean {
    const { keepAlive, kind } = this.framing;
    const asked = !keepAlive && kind === 'none' && this.#reading === 'done';
    return asked && this.security === undefined && this.#held.length === 0 && this.#socket.writableLength === 0;
  }

  /** Handles FIN. Behind a whole request the client may have half-closed; at any other point the client is gone. */
  #onEnd(): void {
    if (this.#reading === 'tunnel') return;
    if (this.#reading === 'done' && this.#answering) {
      this.#halfClosed = true;
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    this.#exchange.abort();
    this.#socket.destroySoon();
  }

  #over(): void {
    if (this.#reading === 'over') return;
    this.#reading = 'over';
    this.#exchange.abort();
    this.#loseRest();
    this.#held.clear();
    this.#countHead();
    this.response.close();
    this.#context.wheel.remove(this);
    this.#onOver(this);
  }

  /**
   * Returns whether the rest of the request exceeds the bytes that would be dropped to keep the connection; its end
   * is then announced.
   */
  #restIsLong(): boolean {
    const { kind, length } = this.framing;
    if (this.#restComes) return false;
    return this.#reading === 'body' && kind === 'length' && length - this.requestBytes > announcedBytesMax;
  }

  #armHead(ms: number): void {
    if (ms > 0) this.#context.wheel.arm(this, ms);
    else this.#context.wheel.disarm(this);
  }

  #headBegins(): void {
    if (this.#headStartedMs >= 0) return;
    this.#headStartedMs = this.#context.wheel.nowMs;
    this.#armHead(this.#context.settings().clientHeaderMs);
  }

  /** Arms the deadline of the body. `clientRequest` counts from the first byte of the head. */
  #armBody(): void {
    const { wheel } = this.#context;
    const ms = this.#bodyMs();
    if (ms === Number.POSITIVE_INFINITY) wheel.disarm(this);
    else wheel.arm(this, ms);
  }

  /** Returns the milliseconds that are left for the body. */
  #bodyMs(): number {
    const { wheel, settings } = this.#context;
    const { clientRequestMs } = settings();
    if (clientRequestMs === 0) return Number.POSITIVE_INFINITY;
    const spentMs = this.#headStartedMs < 0 ? 0 : wheel.nowMs - this.#headStartedMs;
    return Math.max(0, clientRequestMs - spentMs);
  }
}

const refusals: Readonly<Record<Exclude<HeadStatus, 'more' | 'done'>, ProxyErrorType>> = {
  malformed: 'bad_request',
  'line-too-long': 'uri_too_long',
  'head-too-large': 'request_headers_too_large',
  version: 'version_not_supported',
};
