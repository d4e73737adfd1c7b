// Response half of a client's HTTP/1.1 connection: heads and bodies leave in the framing that the client understands;
// decides whether the connection persists.
import type { ProxyErrorType } from '../../../errors.ts';
import type { DownstreamResponse } from '../../exchange/downstream.ts';
import type { ExchangeContext } from '../../exchange/exchange-context.ts';
import { ResponseLimit } from '../../exchange/response-limit.ts';
import type { BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { ExchangeResponse, ResponseHead } from '../../message/response.ts';
import type { ByteSocket } from '../../socket/byte-socket.ts';
import type { BodyKind } from '../framing.ts';
import { Head } from '../head.ts';
import { MessageWriter } from '../message-writer.ts';
import { type ResponseSettings, renderAnswer, renderResponse } from '../serialize-head.ts';

/** Request of a response, as the response sees it, with the callbacks for its end. */
export interface RespondedRequest {
  readonly method: string;
  /** Minor version of HTTP/1 of the client. */
  readonly minor: number;
  /** True when the client keeps the connection and its request does not prevent that. */
  readonly mayPersist: boolean;
  /** True when the client waits for 100 before it sends the body. */
  readonly holdsBodyBack: boolean;
  /**
   * Called when the response has been written to its end. `awaitsEnd`: for the client, it ends with the connection.
   */
  onAnswered(keepAlive: boolean, awaitsEnd: boolean): void;
  /**
   * Called when the response cannot be completed, which the client must see. `why`: given for a failure of the
   * upstream's.
   */
  onAbort(why?: ProxyErrorType): void;
  /** Called when a part of the response's body has passed. */
  onProgress(): void;
  /** Called when the client has taken all written bytes. */
  onRoom(): void;
}

export class ServerResponse implements DownstreamResponse {
  readonly #request: RespondedRequest;
  readonly #context: ExchangeContext;
  readonly #writer: MessageWriter;
  readonly #limit: ResponseLimit;
  #source: BodySource | undefined;
  #keepAlive = true;
  /** True when the body ends with the connection. */
  #awaitsEnd = false;
  /** True once 100 has been sent. */
  #continued = false;
  /** True while the socket refuses more. */
  #blocked = false;
  #over = false;
  responseBytes = 0;

  constructor(socket: ByteSocket, request: RespondedRequest, context: ExchangeContext) {
    this.#request = request;
    this.#context = context;
    this.#writer = new MessageWriter(socket);
    this.#limit = new ResponseLimit(
      context,
      () => socket.writableLength,
      () => request.onAbort(),
    );
    socket.on('drain', () => this.#onDrain());
    socket.on('blocked', () => {
      if (!this.#over) this.#limit.onUnsent();
    });
  }

  /** True while the client holds its body back and has not got 100. */
  get bodyUnasked(): boolean {
    return this.#request.holdsBodyBack && !this.#continued;
  }

  get blocked(): boolean {
    return this.#blocked;
  }

  /** True while the client takes less than it asks for. `onRoom` follows when that changes. */
  get congested(): boolean {
    return this.#writer.congested;
  }

  /** Prepares for the next request. */
  reset(): void {
    this.#continued = false;
    this.responseBytes = 0;
  }

  /** Ends writing: the connection has ended. */
  close(): void {
    this.#over = true;
    this.#source = undefined;
    this.#limit.close();
  }

  relay(response: ExchangeResponse): void {
    const bodyKind = this.#announcesTrailers(response) ? 'stream' : response.bodyKind;
    if (bodyKind !== response.bodyKind) response.edits.dropLength();
    // RFC 9112 §6.1: no Transfer-Encoding for a client of HTTP/1.0, nor on a message without a body.
    const own = bodyKind === 'stream' ? (this.#request.minor === 1 ? 'chunked' : 'close') : bodyKind;
    this.#keepAlive = this.#mayKeepAlive(own);
    this.#awaitsEnd = own === 'close';
    this.#writer.head(this.#render(response, this.#connectionLines(own)), own);
    this.#limit.begin(this.#context.settings().clientResponseMs);
  }

  interim(head: ResponseHead): void {
    if (this.#request.minor === 0) return;
    if (head.status === 100) this.continue();
    else this.#writer.head(this.#render(head, ''), 'none');
  }

  continue(): void {
    if (!this.#request.holdsBodyBack || this.#continued) return;
    this.#continued = true;
    this.#writer.head('HTTP/1.1 100 Continue\r\n\r\n', 'none');
    this.#writer.flush();
  }

  answer(response: ExchangeResponse, close: boolean): void {
    this.#keepAlive = !close && this.#mayKeepAlive('length');
    this.#awaitsEnd = false;
    const { status, own } = response;
    const bodiless = status === 204 || status === 304 || status < 200;
    const length = own?.length ?? 0;
    const lines = `${bodiless ? '' : `Content-Length: ${length}\r\n`}${this.#connectionLines('length')}`;
    this.#writer.head(renderAnswer(response, this.#settings(lines)), 'length');
    if (!bodiless && own !== undefined && length > 0 && this.#request.method !== 'HEAD') {
      this.responseBytes += length;
      this.#writer.data(Buffer.from(own.buffer, own.byteOffset, length));
    }
    this.#done();
  }

  abort(): void {
    this.#request.onAbort();
  }

  /** Writes the head of a 101; the bytes after it are not HTTP. */
  switching(head: ResponseHead, protocol: string): void {
    this.#writer.head(this.#render(head, `Connection: upgrade\r\nUpgrade: ${protocol}\r\n`), 'none');
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
    this.responseBytes += chunk.length;
    const room = this.#writer.data(chunk);
    this.#request.onProgress();
    this.#blocked = !room;
    if (!room) this.#limit.onBlocked();
    return room;
  }

  end(trailers: string): void {
    if (this.#over) return;
    this.#writer.end(this.#request.minor === 1 ? trailers : '');
    this.#done();
  }

  fail({ type }: ProxyError): void {
    this.#request.onAbort(type);
  }

  #done(): void {
    this.#source = undefined;
    this.#blocked = false;
    this.#limit.end(this.#writer.unsent);
    this.#request.onAnswered(this.#keepAlive, this.#awaitsEnd);
  }

  /** HTTP/2 has trailers behind a body of known length too (RFC 9113 §8.1), HTTP/1.1 behind chunks alone. */
  #announcesTrailers({ bodyKind, lines }: ExchangeResponse): boolean {
    const { method, minor } = this.#request;
    if (bodyKind !== 'length' || lines instanceof Head || minor === 0 || method === 'HEAD') return false;
    return lines.first('trailer') !== undefined;
  }

  #render(head: ResponseHead, connectionLines: string): string {
    return renderResponse(head, this.#settings(connectionLines));
  }

  #settings(connectionLines: string): ResponseSettings {
    const { clock } = this.#context;
    return { serverName: this.#context.settings().serverName, clock, connectionLines };
  }

  #mayKeepAlive(kind: BodyKind): boolean {
    return this.#request.mayPersist && kind !== 'close' && !this.bodyUnasked;
  }

  #connectionLines(kind: BodyKind): string {
    const lines = kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : '';
    if (!this.#keepAlive) return `${lines}Connection: close\r\n`;
    return this.#request.minor === 0 ? `${lines}Connection: keep-alive\r\n` : lines;
  }

  #onDrain(): void {
    this.#writer.onDrain();
    this.#limit.onRoom();
    this.#request.onRoom();
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#source?.resume();
  }
}
