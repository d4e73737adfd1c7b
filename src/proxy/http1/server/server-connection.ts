// One connection of a client: requests come in one after the other, responses leave in the same order. It reads no
// further than the request that is being answered, bounds what a client may send ahead, and says goodbye in a way
// that lets the last response arrive.
import { type ProxyErrorType, proxyErrors } from '../../../errors.ts';
import type { ExchangeContext } from '../../exchange/context.ts';
import { type Downstream, type RestTaker, restMs } from '../../exchange/downstream.ts';
import { Exchange } from '../../exchange/exchange.ts';
import type { BodySink } from '../../message/body.ts';
import { type ProxyError, proxyError } from '../../message/proxy-error.ts';
import type { DownstreamAddress } from '../../message/request.ts';
import { type Peer, RequestView } from '../../message/request-view.ts';
import type { ResponseHead } from '../../message/response.ts';
import { Sender } from '../../message/sender.ts';
import type { ByteSocket, SocketReceiver } from '../../socket/byte-socket.ts';
import { Lingering, lingerMs } from '../../socket/lingering.ts';
import { ReceiveBuffer } from '../../socket/receive-buffer.ts';
import type { Security } from '../../socket/security.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed } from '../../wheel.ts';
import { BodyDecoder } from '../body-decoder.ts';
import { Framing } from '../framing.ts';
import type { HeadStatus } from '../head-parser.ts';
import { RequestParser } from '../request-parser.ts';
import { renderTrailers } from '../serialize-head.ts';
import { announcedBytesMax, Discard, discardMs } from './discard.ts';
import { type Answered, ServerResponse } from './server-response.ts';
import { Tunnel } from './tunnel.ts';

/** What a client may send ahead of the response it waits for. */
const aheadBytesMax = 64 * 1024;
/** After FIN behind a whole request: how long the response may be silent until the client counts as gone. */
const halfClosedMs = 1_000;
/** What came is not enough to go on with. */
const incomplete = -1;

/** How long a request may have been on its way when the port closed. */
const lastCallMs = 200;

/**
 * `head`: waiting for a request or within its head. `body`: within its body. `done`: whole, the response is under way.
 * `linger`: what comes is dropped. `tunnel`: the sockets are joined. `over`: closed.
 */
type Reading = 'head' | 'body' | 'done' | 'linger' | 'tunnel' | 'over';

export class ServerConnection extends Timed implements Downstream, Answered, Peer, SocketReceiver {
  readonly security: Security | undefined;
  requestBytes = 0;
  restTaker: RestTaker | undefined;
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
  /** A response is owed or under way. */
  #answering = false;
  /** FIN has come behind a whole request. */
  #halfClosed = false;
  /** The connection ends with the response that is next, or when none is asked for. */
  #leaving = false;
  /** It ends with the body that is being read: the response has said so. */
  #endsWithBody = false;
  #reads = 0;
  #processing = false;
  #paused = false;
  /** Reading has stopped until the client takes what waits for it. */
  #congested = false;
  #headStartedMs = -1;
  headBytes = 0;
  readonly #onOver: (connection: ServerConnection) => void;

  /** `spentMs` of the client's time for its first head are gone: its connection was secured in it. */
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
    this.#sender = new Sender(socket.remoteAddress ?? '', socket.security);
    socket.receiver = this;
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => this.#over());
    socket.on('close', () => this.#over());
    socket.resume();
    const { clientHeaderMs } = context.settings();
    if (clientHeaderMs > 0) this.#armHead(Math.max(1, clientHeaderMs - spentMs));
  }

  /** Between two requests, with nothing of the next one here yet. */
  get idle(): boolean {
    return this.#reading === 'head' && this.#held.length === 0;
  }

  /** Responses say that the connection ends with them; one that is idle ends when no request was on its way. */
  drain(): void {
    this.#leaving = true;
    if (this.idle && this.#reads > 0) this.#armHead(lastCallMs);
  }

  /** Ends at once, whatever is under way. */
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

  // What the response asks and tells.

  get method(): string {
    return this.#parser.method;
  }

  get minor(): number {
    return this.#parser.minor;
  }

  get mayGoOn(): boolean {
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

  onCut(why?: ProxyErrorType): void {
    this.#exchange.abandon(why);
    // What was relayed counts as sent. A connection that ends without a byte of the response reads as one that had gone
    // stale, and clients repeat their request then.
    this.response.flush();
    this.#socket.flush();
    this.#socket.resetAndDestroy();
    this.#over();
  }

  onRoom(): void {
    if (!this.#congested) return;
    this.#congested = false;
    this.#goOn();
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
    // The FIN behind the request is past: the socket does not tell of it again.
    if (this.#halfClosed) tunnel.onClientEnded();
  }

  // The request's body goes out here.

  start(sink: BodySink): void {
    if (this.#reading === 'done') {
      // Nothing comes any more. To whom the next body goes, the next request says.
      sink.end('');
      return;
    }
    this.#sink = sink;
    if (!this.#processing) this.#goOn();
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
      // It is slow, not silent; the response has deadlines of its own.
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    if (this.#reading === 'linger' && this.#lingering?.goesOn() === true) {
      this.#context.wheel.arm(this, lingerMs);
      return;
    }
    if ((this.idle && this.#leaving) || (this.#reading === 'body' && !this.#answering)) {
      this.#lingeringClose();
      return;
    }
    // No word: a head or a body that does not come, a client that left half, a connection nobody uses.
    this.#exchange.abandon();
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

  /** Answers a head that is not whole as one that is too large: the process holds too many bytes of such. */
  refuseHead(): void {
    this.#leaving = true;
    this.#answering = true;
    this.response.reset();
    this.requestBytes = 0;
    this.#refuse('request_headers_too_large', '');
    this.response.flush();
  }

  /** What is held of a head, with the room that was made for it. */
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

  /** Returns where it stopped: the rest has to wait for more bytes, for a sink with room, or for the response. */
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

  /** No request is begun while earlier responses wait for the client to take them. */
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
    // An activation may have changed them since the request before.
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
      // What has been answered is not answered again.
      if (this.#answering) this.#refuse('bad_request', decoder.problem);
      else this.#lingeringClose();
      return to;
    }
    if (decoder.done) {
      this.#reading = 'done';
      this.#context.wheel.disarm(this);
      this.#sink = undefined;
      this.restTaker = undefined;
      sink?.end(renderTrailers(decoder.trailers, this.framing.named));
      if (this.#endsWithBody) this.#lingeringClose();
      else if (!this.#answering) this.#next();
    } else if (!this.#answering && this.restTaker !== undefined) this.#keepOrDropRest();
    return at;
  }

  /** No more of what comes is looked at. */
  get #isEnding(): boolean {
    return this.#reading === 'linger' || this.#reading === 'over';
  }

  /** There is more of the body to come, and somebody who wants it whatever has been answered. */
  get #restComes(): boolean {
    return this.#reading === 'body' && this.restTaker?.wantsRest === true && !this.response.bodyUnasked;
  }

  /** Whoever has taken the body so far goes on taking it. Many clients send no more when they see the connection end. */
  #readRest(isLast: boolean, awaitsEnd: boolean): void {
    this.#endsWithBody = isLast;
    if (awaitsEnd) {
      this.response.flush();
      this.#socket.flush();
      this.#socket.end();
    }
    this.#keepOrDropRest();
    if (!this.#processing) this.#goOn();
  }

  #keepOrDropRest(): void {
    const { wheel, settings } = this.#context;
    if (this.restTaker?.wantsRest === true) {
      if (settings().clientRequestMs === 0) wheel.arm(this, restMs);
      return;
    }
    this.restTaker = undefined;
    if (this.#endsWithBody) this.#lingeringClose();
    else this.#discardRest();
  }

  /** The client learns the response while it sends, or behind what it sends; its next request follows on the connection. */
  #discardRest(): void {
    const { wheel } = this.#context;
    wheel.arm(this, Math.min(this.#bodyMs(), discardMs));
    this.start(new Discard(() => this.#lingeringClose()));
  }

  #loseRest(): void {
    const taker = this.restTaker;
    this.restTaker = undefined;
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
    this.restTaker = undefined;
    this.#reading = 'head';
    this.#headStartedMs = -1;
    // The drain may have come after a head had gone out without `Connection: close`: the client knows nothing of it.
    this.#armHead(this.#leaving ? lastCallMs : idleMs);
    if (!this.#processing) this.#goOn();
  }

  /** Reads what is held, and then from the socket again. */
  #goOn(): void {
    if (this.#paused) this.resume();
    else if (this.#held.length > 0) this.#processHeld();
  }

  /** What is still to come is read and dropped for a while. */
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
   * The client has said that this was its last request (RFC 9112 §9.6), and the system has the whole response: nothing
   * is going to come that would reset the connection. Under TLS a goodbye is owed.
   */
  #nothingFollows(): boolean {
    const { keepAlive, kind } = this.framing;
    const asked = !keepAlive && kind === 'none' && this.#reading === 'done';
    return asked && this.security === undefined && this.#held.length === 0 && this.#socket.writableLength === 0;
  }

  /** FIN. Behind a whole request it may be all the client had to say; anything else is a client that has gone. */
  #onEnd(): void {
    if (this.#reading === 'tunnel') return;
    if (this.#reading === 'done' && this.#answering) {
      this.#halfClosed = true;
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    this.#exchange.abandon();
    this.#socket.destroySoon();
  }

  #over(): void {
    if (this.#reading === 'over') return;
    this.#reading = 'over';
    this.#exchange.abandon();
    this.#loseRest();
    this.#held.clear();
    this.#countHead();
    this.response.close();
    this.#context.wheel.remove(this);
    this.#onOver(this);
  }

  /** More of the request is to come than would be taken for the sake of the connection: clients are told that it ends. */
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

  /** `clientRequest` counts from the first byte of the head. */
  #armBody(): void {
    const { wheel } = this.#context;
    const ms = this.#bodyMs();
    if (ms === Number.POSITIVE_INFINITY) wheel.disarm(this);
    else wheel.arm(this, ms);
  }

  /** Milliseconds that are left for the body. */
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
