// Response half of one stream of a client's connection: heads and bodies leave as frames. A response that fails ends
// its stream, not the connection.
import type { ProxyErrorType } from '../../../errors.ts';
import type { DownstreamResponse } from '../../exchange/downstream.ts';
import type { ExchangeContext } from '../../exchange/exchange-context.ts';
import { ResponseLimit } from '../../exchange/response-limit.ts';
import type { BodySource } from '../../message/body.ts';
import { isGrpc } from '../../message/grpc.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { ExchangeResponse, ResponseHead } from '../../message/response.ts';
import { Deadline } from '../../wheel.ts';
import { encoder } from '../hpack/encoder.ts';
import { encodeAnswer, encodeLines, encodeResponse } from '../outgoing-head.ts';
import type { Stream } from '../stream.ts';
import { answerGrpc, grpcTrailers } from './grpc-answer.ts';

/** Request of a response, as the response sees it, with the callbacks for its end. */
export interface RespondedStream {
  readonly stream: Stream | undefined;
  /** True for a response to HEAD: no body follows, in spite of the head's Content-Length. */
  readonly toHead: boolean;
  /** True for a gRPC request. */
  readonly grpc: boolean;
  /** Content type of the request, as the client sent it; empty without one. */
  readonly sentType: string;
  /** True while the rest of the request is on its way and not held back. */
  readonly bodyComes: boolean;
  /** True when the client waits for 100 before it sends the body. */
  readonly holdsBodyBack: boolean;
  /** True when the rest of the request has a consumer after the response. */
  readonly restWanted: boolean;
  /** Called when the response has been given to the connection to its end. */
  onAnswered(): void;
  /** The same for a response that is cut short: its trailers give the reason. */
  onAnsweredShort(why: ProxyErrorType): void;
  /**
   * Called when the response cannot be completed, which the client must see. `why`: given for a failure of the
   * upstream's.
   */
  onAbort(why?: ProxyErrorType): void;
  /** Called when the client has no room for more. */
  onBlocked(): void;
  /** Called when the client has taken nothing, or not all, for too long. */
  onOverdue(): void;
}

/** Milliseconds that a response waits for the rest of its request, and bytes of that rest it waits for. */
const waitingMs = 100;
const discardedBytesMax = 64 * 1024;

export class StreamResponse implements DownstreamResponse {
  responseBytes = 0;
  readonly #request: RespondedStream;
  readonly #context: ExchangeContext;
  readonly #limit: ResponseLimit;
  /** Response that waits for the end of its request. */
  #waiting: ExchangeResponse | undefined;
  #waitingDeadline: Deadline | undefined;
  #discarded = 0;
  #source: BodySource | undefined;
  #continued = false;
  #blocked = false;
  /** True while a gRPC response is relayed: trailers tell the client how it ends. */
  #relaysGrpc = false;

  constructor(request: RespondedStream, context: ExchangeContext) {
    this.#request = request;
    this.#context = context;
    this.#limit = new ResponseLimit(
      context,
      () => request.stream?.unsent ?? 0,
      () => request.onOverdue(),
    );
  }

  /** Prepares the object for the next request. */
  reset(): void {
    this.responseBytes = 0;
    this.#continued = false;
    this.#blocked = false;
    this.#source = undefined;
    this.#relaysGrpc = false;
  }

  /** Ends writing: all bytes have left, or never will. */
  over(): void {
    this.#source = undefined;
    this.#waiting = undefined;
    if (this.#waitingDeadline !== undefined) this.#context.wheel.remove(this.#waitingDeadline);
    this.#limit.close();
  }

  relay(response: ExchangeResponse): void {
    const { clientResponseMs, serverName } = this.#context.settings();
    encodeResponse(encoder, response, { serverName, clock: this.#context.clock });
    this.#markEnd(response.status);
    this.#relaysGrpc = this.#request.grpc && isGrpc(response);
    this.#request.stream?.sendHead(encoder, false);
    this.#limit.begin(clientResponseMs);
  }

  /**
   * Sends a whole response. A response that ends before its request would end the stream by a reset, which not every
   * client understands, and hide errors in the rest of the request: it waits a moment for that rest.
   */
  answer(response: ExchangeResponse, _close: boolean): void {
    const { stream } = this.#request;
    if (stream === undefined || stream.remoteEnded || !this.#request.bodyComes) {
      this.#answer(response);
      return;
    }
    this.#waiting = response;
    this.#discarded = 0;
    this.#waitingDeadline ??= new Deadline(() => this.onRequestEnd());
    this.#context.wheel.arm(this.#waitingDeadline, waitingMs);
    stream.resume();
  }

  /** Counts bytes of a request that are dropped. */
  onDiscarded(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > discardedBytesMax) this.onRequestEnd();
  }

  /** Sends a waiting response: the request is whole, or the wait is over. */
  onRequestEnd(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#answer(waiting);
  }

  #answer(response: ExchangeResponse): void {
    const { clientResponseMs, serverName } = this.#context.settings();
    if (this.#request.grpc) answerGrpc(response, this.#request.sentType);
    const { status, own } = response;
    const bodiless = status === 204 || status === 304 || status < 200;
    const length = own?.length ?? 0;
    const said = bodiless || (own === undefined && this.#request.grpc) ? -1 : length;
    encodeAnswer(encoder, response, { serverName, clock: this.#context.clock }, said);
    const { stream } = this.#request;
    const content = bodiless || this.#request.toHead ? 0 : length;
    this.#markEnd(response.status);
    stream?.sendHead(encoder, false);
    if (content > 0 && own !== undefined && !this.data(Buffer.from(own.buffer, own.byteOffset, content))) {
      this.#limit.begin(clientResponseMs);
    }
    this.end('');
  }

  /**
   * Marks streams whose clients stop by themselves: clients that read an error send no more; with a success some go
   * on until they are reset, those of gRPC excepted.
   */
  #markEnd(status: number): void {
    const { stream, grpc } = this.#request;
    if (stream !== undefined) stream.clientStops = status >= 400 || grpc;
  }

  interim(head: ResponseHead): void {
    if (head.status === 100) this.continue();
    else if (head.status !== 101) {
      encodeResponse(encoder, head, { serverName: this.#context.settings().serverName, clock: this.#context.clock });
      this.#request.stream?.sendHead(encoder, false);
    }
  }

  continue(): void {
    if (!this.#request.holdsBodyBack || this.#continued) return;
    this.#continued = true;
    encoder.begin();
    encoder.status(100);
    this.#request.stream?.sendHead(encoder, false);
  }

  abort(): void {
    this.#request.onAbort();
  }

  /** Does nothing: frames leave together at the end of the tick. */
  flush(): void {}

  from(source: BodySource): void {
    this.#source = source;
  }

  data(chunk: Buffer): boolean {
    const { stream } = this.#request;
    if (stream === undefined) return true;
    this.responseBytes += chunk.length;
    if (stream.sendData(chunk)) return true;
    this.#blocked = true;
    this.#limit.onBlocked();
    this.#request.onBlocked();
    return false;
  }

  end(trailers: string): void {
    if (this.#request.stream === undefined) return;
    this.#sendEnd(trailers);
    this.#request.onAnswered();
  }

  /** Fails a response that has begun. gRPC callers get a timeout as trailers; any other loss is a reset. */
  fail(why: ProxyError): void {
    if (!this.#relaysGrpc || why.type !== 'timeout' || this.#request.stream === undefined) {
      this.#request.onAbort(why.type);
      return;
    }
    this.#sendEnd(grpcTrailers(why, this.#context.settings().detail));
    this.#request.onAnsweredShort(why.type);
  }

  #sendEnd(trailers: string): void {
    const { stream } = this.#request;
    if (stream === undefined) return;
    this.#source = undefined;
    stream.restWanted = this.#request.restWanted && !(this.#request.holdsBodyBack && !this.#continued);
    if (this.#blocked) this.#limit.onBlocked();
    if (trailers === '') stream.sendEnd();
    else {
      encoder.begin();
      encodeLines(encoder, trailers);
      stream.sendTrailers(encoder);
    }
  }

  /** Continues: the client has taken what waited. */
  onRoom(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#limit.onRoom();
    this.#source?.resume();
  }
}
