// The answering half of a client's connection: heads and bodies leave in the framing that the client understands, and
// it is decided here whether the connection goes on afterwards.
import type { Socket } from 'node:net';
import type { BodySource } from '../body.ts';
import type { LocalAnswer } from '../decision.ts';
import type { DownstreamResponse } from '../downstream.ts';
import type { ExchangeContext } from '../exchange.ts';
import { type ProxyError, renderProxyError, statusOf } from '../proxy-error.ts';
import { Timed } from '../wheel.ts';
import type { ClientConnection } from './client-connection.ts';
import type { BodyKind } from './framing.ts';
import { MessageWriter } from './message-writer.ts';
import { reasonOf } from './reason.ts';
import { renderResponse } from './render.ts';

/** What the response must know of the request it answers, and whom it tells how it ended. */
export interface Answered {
  readonly method: string;
  /** Minor version of HTTP/1 that the client speaks. */
  readonly minor: number;
  /** The client is willing to go on, and nothing it has sent or holds back stands against it. */
  readonly mayGoOn: boolean;
  /** It waits for 100 before it sends its body. */
  readonly holdsBodyBack: boolean;
  /** The response has been written to its end. */
  onAnswered(keepAlive: boolean): void;
  /** The response cannot be completed: the client must see that it is not. */
  onCut(): void;
  /** Part of the response's body has passed. */
  onProgress(): void;
  /** The client has taken all that was written. */
  onRoom(): void;
}

export class ServerResponse implements DownstreamResponse {
  readonly #request: Answered;
  readonly #context: ExchangeContext;
  readonly #writer: MessageWriter;
  readonly #deadline: ResponseDeadline;
  #source: BodySource | undefined;
  #headSent = false;
  #keepAlive = true;
  /** 100 has been sent. */
  #continued = false;
  /** The socket has not taken what it was given. */
  #blocked = false;
  #over = false;
  debugRoute: string | undefined;

  constructor(socket: Socket, request: Answered, context: ExchangeContext) {
    this.#request = request;
    this.#context = context;
    this.#writer = new MessageWriter(socket);
    this.#deadline = new ResponseDeadline(() => request.onCut());
    socket.on('drain', () => this.#onDrain());
  }

  get blocked(): boolean {
    return this.#blocked;
  }

  /** The client takes less than it asks for. `onRoom` follows when that changes. */
  get congested(): boolean {
    return this.#writer.congested;
  }

  /** Ready for the next request. */
  reset(): void {
    this.#headSent = false;
    this.#continued = false;
    this.debugRoute = undefined;
  }

  /** The connection has ended: nothing is written any more. */
  close(): void {
    this.#over = true;
    this.#source = undefined;
    this.#context.wheel.remove(this.#deadline);
  }

  relay(response: ClientConnection): void {
    const { kind } = response.framing;
    const open = kind === 'chunked' || kind === 'close';
    const own = open ? (this.#request.minor === 1 ? 'chunked' : 'close') : kind;
    this.#headSent = true;
    this.#keepAlive = this.#mayKeepAlive(own);
    this.#writer.head(this.#render(response, this.#connectionLines(own)), own);
    const { clientResponseMs } = this.#context.settings();
    if (clientResponseMs > 0) this.#context.wheel.arm(this.#deadline, clientResponseMs);
  }

  interim(response: ClientConnection): void {
    if (this.#request.minor === 0) return;
    if (response.parser.status === 100) this.continue();
    else this.#writer.head(this.#render(response, ''), 'none');
  }

  continue(): void {
    if (!this.#request.holdsBodyBack || this.#continued) return;
    this.#continued = true;
    this.#writer.head('HTTP/1.1 100 Continue\r\n\r\n', 'none');
    this.#writer.flush();
  }

  answer({ status, fields, body }: LocalAnswer, close = false): void {
    this.#headSent = true;
    this.#keepAlive = !close && this.#mayKeepAlive('length');
    const bodiless = status === 204 || status === 304;
    const content = Buffer.from(body, 'utf8');
    const { serverName } = this.#context.settings();
    let head = `HTTP/1.1 ${status} ${reasonOf(status)}\r\n`;
    if (serverName !== undefined) head += `Server: ${serverName}\r\n`;
    for (let i = 0; i + 1 < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`;
    if (!bodiless) head += `Content-Length: ${content.length}\r\n`;
    this.#writer.head(`${head}${this.#connectionLines('length')}\r\n`, 'length');
    if (!bodiless && content.length > 0 && this.#request.method !== 'HEAD') this.#writer.data(content);
    this.#done();
  }

  answerError(error: ProxyError, close = false): void {
    if (this.#headSent) {
      this.#request.onCut();
      return;
    }
    const { detail } = this.#context.settings();
    const body = renderProxyError(error, detail, this.#context.clock.nowMs());
    this.answer({ status: statusOf(error), fields: ['Content-Type', 'application/json'], body }, close);
  }

  /** The head of a 101; what follows is not HTTP. */
  switching(response: ClientConnection, protocol: string): void {
    this.#writer.head(this.#render(response, `Connection: upgrade\r\nUpgrade: ${protocol}\r\n`), 'none');
    this.#writer.flush();
  }

  flush(): void {
    this.#writer.flush();
  }

  from(source: BodySource): void {
    this.#source = source;
  }

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    const room = this.#writer.data(chunk);
    this.#request.onProgress();
    this.#blocked = !room;
    if (!room) this.#armStall();
    return room;
  }

  end(trailers: string): void {
    if (this.#over) return;
    this.#writer.end(this.#request.minor === 1 ? trailers : '');
    this.#done();
  }

  fail(_why: ProxyError): void {
    this.#request.onCut();
  }

  #done(): void {
    this.#source = undefined;
    this.#blocked = false;
    this.#context.wheel.disarm(this.#deadline);
    this.#request.onAnswered(this.#keepAlive);
  }

  #render({ parser, framing }: ClientConnection, connectionLines: string): string {
    const { serverName } = this.#context.settings();
    return renderResponse(parser, framing, { serverName, connectionLines });
  }

  #mayKeepAlive(kind: BodyKind): boolean {
    const bodyUnasked = this.#request.holdsBodyBack && !this.#continued;
    return this.#request.mayGoOn && kind !== 'close' && !bodyUnasked && !this.#context.draining();
  }

  #connectionLines(kind: BodyKind): string {
    let lines = kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : '';
    if (this.debugRoute !== undefined) lines += `x-sluice-route: ${encodeURI(this.debugRoute)}\r\n`;
    if (!this.#keepAlive) return `${lines}Connection: close\r\n`;
    return this.#request.minor === 0 ? `${lines}Connection: keep-alive\r\n` : lines;
  }

  #onDrain(): void {
    this.#writer.onDrain();
    this.#request.onRoom();
    if (!this.#blocked) return;
    this.#blocked = false;
    if (this.#context.settings().clientResponseMs === 0) this.#context.wheel.disarm(this.#deadline);
    this.#source?.resume();
  }

  /** Where the listener sets no limit for a whole response, it is the client that must not stand still. */
  #armStall(): void {
    const { clientResponseMs, clientStallMs } = this.#context.settings();
    if (clientResponseMs === 0 && clientStallMs > 0) this.#context.wheel.arm(this.#deadline, clientStallMs);
  }
}

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
