// One connection of a client: requests come in one after the other, responses leave in the same order. It reads no
// further than the request that is being answered, bounds what a client may send ahead, and says goodbye in a way
// that lets the last response arrive.
import type { Socket } from 'node:net';
import { type ProxyErrorType, proxyErrors } from '../../errors.ts';
import type { BodySink, BodySource } from '../body.ts';
import type { TrustedProxies } from '../client-address.ts';
import type { Downstream } from '../downstream.ts';
import { Exchange, type ExchangeContext } from '../exchange.ts';
import type { LocalAnswer } from '../local-answer.ts';
import { type ProxyError, proxyError, renderProxyError, statusOf } from '../proxy-error.ts';
import { Timed } from '../wheel.ts';
import { BodyDecoder } from './body-decoder.ts';
import type { ClientConnection } from './client-connection.ts';
import { fieldId } from './field-name.ts';
import { type BodyKind, Framing } from './framing.ts';
import type { HeadStatus } from './head-parser.ts';
import { HeldBytes } from './held-bytes.ts';
import { MessageWriter } from './message-writer.ts';
import { reasonOf } from './reason.ts';
import { renderResponse, renderTrailers, type Sender, valuesOf } from './render.ts';
import { RequestParser } from './request-parser.ts';
import { RequestView } from './request-view.ts';
import { joinSockets } from './tunnel.ts';

/** What a client may send ahead of the response it waits for. */
const aheadBytesMax = 64 * 1024;
/** How long a closing connection still listens, so that its last response is not lost to a reset. */
const lingerMs = 1_000;
/** After FIN behind a whole request: how long the response may be silent until the client counts as gone. */
const halfClosedMs = 1_000;
/** What came is not enough to go on with. */
const incomplete = -1;

/**
 * `head`: waiting for a request or within its head. `body`: within its body. `done`: whole, the response is under way.
 * `linger`: what comes is dropped. `tunnel`: the sockets are joined. `over`: closed.
 */
type Reading = 'head' | 'body' | 'done' | 'linger' | 'tunnel' | 'over';

export class ServerConnection extends Timed implements Downstream {
  readonly framing = new Framing();
  readonly request: RequestView;
  readonly #parser: RequestParser;
  readonly #socket: Socket;
  readonly #context: ExchangeContext;
  readonly #exchange: Exchange;
  readonly #decoder = new BodyDecoder();
  readonly #held = new HeldBytes();
  readonly #writer: MessageWriter;
  readonly #responseDeadline: ResponseDeadline;
  readonly #peer: string;
  #sender: Sender | undefined;
  /** What the sender was found by. */
  #senderRule: TrustedProxies | undefined;
  #reading: Reading = 'head';
  #sink: BodySink | undefined;
  #responseSource: BodySource | undefined;
  /** A response is owed or under way. */
  #answering = false;
  /** Its head has been written. */
  #headSent = false;
  #keepAlive = true;
  /** FIN has come behind a whole request. */
  #halfClosed = false;
  #responseKind: BodyKind = 'none';
  #reads = 0;
  #processing = false;
  #paused = false;
  #blocked = false;
  #continued = false;
  #headStartedMs = -1;
  readonly #onOver: (connection: ServerConnection) => void;

  constructor(socket: Socket, context: ExchangeContext, onOver: (connection: ServerConnection) => void) {
    super();
    this.#socket = socket;
    this.#context = context;
    this.#onOver = onOver;
    this.#parser = new RequestParser(context.settings().headLimits);
    this.request = new RequestView(this.#parser);
    this.#writer = new MessageWriter(socket);
    this.#exchange = new Exchange(this, context);
    this.#responseDeadline = new ResponseDeadline(() => this.#reset());
    this.#peer = socket.remoteAddress ?? '';
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => this.#onDrain());
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => this.#over());
    socket.on('close', () => this.#over());
    this.#armHead(context.settings().clientHeaderMs);
  }

  /** Between two requests, with nothing of the next one here yet. */
  get idle(): boolean {
    return this.#reading === 'head' && this.#held.length === 0;
  }

  /** Whether it ever carried a request. */
  get used(): boolean {
    return this.#reads > 0;
  }

  /** Ends at once, whatever is under way. */
  destroy(): void {
    this.#socket.destroy();
    this.#over();
  }

  sender(): Sender {
    const { trusted } = this.#context.settings();
    if (this.#sender !== undefined && this.#senderRule === trusted && !this.#sender.trusted) return this.#sender;
    this.#senderRule = trusted;
    const chain = valuesOf(this.#parser.head, fieldId.forwardedFor).join(',');
    this.#sender = { ...trusted.locate(this.#peer, chain), scheme: 'http' };
    return this.#sender;
  }

  // Responses.

  relay(response: ClientConnection): void {
    const kind = response.framing.kind;
    const open = kind === 'chunked' || kind === 'close';
    this.#responseKind = open ? (this.#parser.minor === 1 ? 'chunked' : 'close') : kind;
    this.#headSent = true;
    this.#keepAlive = this.#mayKeepAlive(this.#responseKind);
    const connectionLines = this.#connectionLines(this.#responseKind);
    const { serverName, clientResponseMs } = this.#context.settings();
    const head = renderResponse(response.parser, response.framing, { serverName, connectionLines });
    this.#writer.head(head, this.#responseKind);
    if (clientResponseMs > 0) this.#context.wheel.arm(this.#responseDeadline, clientResponseMs);
  }

  interim(response: ClientConnection): void {
    if (this.#parser.minor === 0) return;
    if (response.parser.status === 100) {
      this.continue();
      return;
    }
    const { serverName } = this.#context.settings();
    this.#writer.head(renderResponse(response.parser, response.framing, { serverName, connectionLines: '' }), 'none');
  }

  continue(): void {
    if (!this.framing.expectContinue || this.#continued || this.#reading !== 'body') return;
    this.#continued = true;
    this.#writer.head('HTTP/1.1 100 Continue\r\n\r\n', 'none');
    this.#writer.flush();
  }

  answer({ status, fields, body }: LocalAnswer, close = false): void {
    this.#headSent = true;
    this.#keepAlive = !close && this.#mayKeepAlive('length');
    const bodiless = status === 204 || status === 304;
    const content = Buffer.from(body, 'utf8');
    let head = `HTTP/1.1 ${status} ${reasonOf(status)}\r\n`;
    const { serverName } = this.#context.settings();
    if (serverName !== undefined) head += `Server: ${serverName}\r\n`;
    for (let i = 0; i + 1 < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`;
    if (!bodiless) head += `Content-Length: ${content.length}\r\n`;
    this.#writer.head(`${head}${this.#connectionLines('length')}\r\n`, 'length');
    if (!bodiless && content.length > 0 && this.#parser.method !== 'HEAD') this.#writer.data(content);
    this.#responseDone();
    if (!this.#processing) this.#writer.flush();
  }

  answerError(error: ProxyError, close = false): void {
    if (this.#headSent) {
      this.#reset();
      return;
    }
    const { detail } = this.#context.settings();
    const body = renderProxyError(error, detail, this.#context.clock.nowMs());
    this.answer({ status: statusOf(error), fields: ['Content-Type', 'application/json'], body }, close);
  }

  tunnel(response: ClientConnection, upstream: Socket, rest: Buffer): void {
    const { parser, framing } = response;
    const { serverName } = this.#context.settings();
    const connectionLines = `Connection: upgrade\r\nUpgrade: ${framing.upgrade || this.framing.upgrade}\r\n`;
    this.#writer.head(renderResponse(parser, framing, { serverName, connectionLines }), 'none');
    this.#writer.flush();
    if (rest.length > 0) this.#socket.write(rest);
    const { bytes, length } = this.#held;
    if (length > 0) upstream.write(Buffer.from(bytes.subarray(0, length)));
    this.#held.clear();
    this.#reading = 'tunnel';
    this.#disarm();
    this.#socket.removeAllListeners('data').removeAllListeners('drain');
    joinSockets(this.#socket, upstream, () => this.#over());
  }

  flush(): void {
    this.#writer.flush();
  }

  // The response's body comes in here.

  from(source: BodySource): void {
    this.#responseSource = source;
  }

  data(chunk: Buffer): boolean {
    if (this.#reading === 'over') return true;
    const room = this.#writer.data(chunk);
    if (this.#halfClosed) this.#context.wheel.arm(this, halfClosedMs);
    this.#blocked = !room;
    if (!room) this.#armStall();
    return room;
  }

  end(trailers: string): void {
    if (this.#reading === 'over') return;
    this.#writer.end(this.#parser.minor === 1 ? trailers : '');
    this.#responseDone();
  }

  fail(_why: ProxyError): void {
    this.#reset();
  }

  // The request's body goes out here.

  start(sink: BodySink): void {
    this.#sink = sink;
    if (this.#reading === 'done') sink.end('');
    else if (!this.#processing) this.#goOn();
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
    if (this.#halfClosed && this.#blocked) {
      // It is slow, not silent; the response has deadlines of its own.
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    // No word: a head or a body that does not come, a client that left half, a connection nobody uses.
    this.#exchange.abandon();
    this.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#reading === 'linger' || this.#reading === 'over') return;
    if (this.#held.length > 0) {
      this.#held.append(chunk, 0, chunk.length);
      this.#processHeld();
      return;
    }
    const end = this.#process(chunk, 0, chunk.length);
    if (end < chunk.length) this.#held.append(chunk, end, chunk.length);
    this.#boundAhead();
  }

  #processHeld(): void {
    const { bytes, length } = this.#held;
    const end = this.#process(bytes, 0, length);
    this.#held.drop(end);
    this.#boundAhead();
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
    this.#writer.flush();
    return this.#reading === 'linger' || this.#reading === 'over' ? to : at;
  }

  #wantsMore(): boolean {
    return this.#reading === 'head' || (this.#reading === 'body' && this.#sink !== undefined && !this.#paused);
  }

  #boundAhead(): void {
    const waiting = this.#reading === 'body' ? 0 : aheadBytesMax;
    if (this.#reading !== 'head' && this.#held.length > waiting) this.pause();
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    const status = this.#parser.parse(bytes, from, to);
    if (status === 'more') {
      this.#headBegins();
      return incomplete;
    }
    this.#answering = true;
    this.#headSent = false;
    if (status !== 'done') {
      this.#refuse(refusals[status], this.#parser.fault);
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
      this.#refuse(refused, this.request.fault);
      return;
    }
    const fault = this.framing.readRequest(this.#parser);
    if (fault !== '') {
      this.#refuse('bad_request', fault);
      return;
    }
    this.#decoder.reset(this.framing.kind, this.framing.length);
    this.#continued = false;
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
      if (sink?.data(bytes.subarray(decoder.dataStart, decoder.dataEnd)) === false) this.pause();
    }
    if (decoder.fault !== '') {
      this.#exchange.abandon();
      this.#refuse('bad_request', decoder.fault);
      return to;
    }
    if (decoder.done) {
      this.#reading = 'done';
      this.#context.wheel.disarm(this);
      this.#sink = undefined;
      sink?.end(renderTrailers(decoder.trailers, this.framing.named));
      if (!this.#answering) this.#next();
    }
    return at;
  }

  #refuse(type: ProxyErrorType, fault: string): void {
    const message = fault === '' ? undefined : `${proxyErrors[type].message}: ${fault}`;
    this.answerError(proxyError(type, {}, message), true);
  }

  #mayKeepAlive(kind: BodyKind): boolean {
    const bodyHeldBack = this.framing.expectContinue && !this.#continued && this.#reading === 'body';
    return (
      this.framing.keepAlive && !this.#halfClosed && kind !== 'close' && !bodyHeldBack && !this.#context.draining()
    );
  }

  #connectionLines(kind: BodyKind): string {
    const lines = kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : '';
    if (!this.#keepAlive) return `${lines}Connection: close\r\n`;
    return this.#parser.minor === 0 ? `${lines}Connection: keep-alive\r\n` : lines;
  }

  #responseDone(): void {
    this.#answering = false;
    this.#responseSource = undefined;
    this.#blocked = false;
    this.#context.wheel.disarm(this.#responseDeadline);
    this.#exchange.onResponseSent();
    if (!this.#keepAlive) this.#endGently();
    else if (this.#reading === 'done') this.#next();
    else this.start(new Discard(() => this.#endGently()));
  }

  #next(): void {
    const { headLimits, idleMs } = this.#context.settings();
    this.#parser.reset(headLimits);
    this.#reading = 'head';
    this.#headStartedMs = -1;
    this.#armHead(idleMs);
    if (!this.#processing) this.#goOn();
  }

  /** Reads what is held, and then from the socket again. */
  #goOn(): void {
    if (this.#paused) this.resume();
    else if (this.#held.length > 0) this.#processHeld();
  }

  /** What is still to come is read and dropped for a while, for closing with bytes unread would reset the connection. */
  #endGently(): void {
    this.#writer.flush();
    this.#reading = 'linger';
    this.#held.clear();
    this.#sink = undefined;
    this.resume();
    this.#socket.end();
    this.#context.wheel.arm(this, lingerMs);
  }

  #onDrain(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    if (this.#context.settings().clientResponseMs === 0) this.#context.wheel.disarm(this.#responseDeadline);
    this.#responseSource?.resume();
  }

  /** FIN. Behind a whole request it may be all the client had to say; anything else is a client that has gone. */
  #onEnd(): void {
    if (this.#reading === 'tunnel') return;
    if (this.#reading === 'done' && this.#answering) {
      this.#halfClosed = true;
      this.#keepAlive = false;
      this.#context.wheel.arm(this, halfClosedMs);
      return;
    }
    this.#exchange.abandon();
    this.#socket.destroySoon();
  }

  #reset(): void {
    this.#exchange.abandon();
    this.#socket.resetAndDestroy();
    this.#over();
  }

  #over(): void {
    if (this.#reading === 'over') return;
    this.#reading = 'over';
    this.#exchange.abandon();
    this.#held.clear();
    this.#disarm();
    this.#onOver(this);
  }

  #disarm(): void {
    this.#context.wheel.remove(this);
    this.#context.wheel.remove(this.#responseDeadline);
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
    const { wheel, settings } = this.#context;
    const { clientRequestMs } = settings();
    if (clientRequestMs === 0) wheel.disarm(this);
    else {
      const spentMs = this.#headStartedMs < 0 ? 0 : wheel.nowMs - this.#headStartedMs;
      wheel.arm(this, Math.max(0, clientRequestMs - spentMs));
    }
  }

  #armStall(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0 && clientStallMs > 0) this.#context.wheel.arm(this.#responseDeadline, clientStallMs);
  }
}

/** Takes the rest of a request that was answered without it, so that the connection can go on; within limits. */
class Discard implements BodySink {
  readonly #tooMuch: () => void;
  #bytes = 0;

  constructor(tooMuch: () => void) {
    this.#tooMuch = tooMuch;
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > aheadBytesMax) this.#tooMuch();
    return true;
  }

  end(_trailers: string): void {}

  fail(_why: ProxyError): void {}
}

/** The deadline of the response beside the one of the request: both may run. */
class ResponseDeadline extends Timed {
  readonly #act: () => void;

  constructor(act: () => void) {
    super();
    this.#act = act;
  }

  override onDeadline(): void {
    this.#act();
  }
}

const refusals: Readonly<Record<Exclude<HeadStatus, 'more' | 'done'>, ProxyErrorType>> = {
  malformed: 'bad_request',
  'line-too-long': 'uri_too_long',
  'head-too-large': 'request_headers_too_large',
  version: 'version_not_supported',
};
