// The answering half of one stream of a client's connection: heads and bodies leave as frames, and a response that does
// not get through ends its stream, not the connection.
import type { ProxyErrorType } from '../../../errors.ts';
import type { ExchangeContext } from '../../exchange/context.ts';
import type { DownstreamResponse } from '../../exchange/downstream.ts';
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

/** What the response must know of the request it answers, and whom it tells how it ended. */
export interface AnsweredStream {
  readonly stream: Stream | undefined;
  /** It answers HEAD: no body follows, whatever the head says. */
  readonly toHead: boolean;
  /** The client asked by gRPC. */
  readonly grpc: boolean;
  /** The rest of the request is on its way, and not held back. */
  readonly bodyComes: boolean;
  /** It waits for 100 before it sends its body. */
  readonly holdsBodyBack: boolean;
  /** Somebody takes the rest of the request whatever has been answered. */
  readonly restWanted: boolean;
  /** The response has been given to the connection to its end. */
  onAnswered(): void;
  /** The same, but it is not the whole response: its trailers say why. */
  onAnsweredShort(why: ProxyErrorType): void;
  /** The response cannot be completed: the client must see that it is not. `why`: where it is a failure of the upstream's. */
  onCut(why?: ProxyErrorType): void;
  /** The client has no room for more at the moment. */
  onBlocked(): void;
  /** The client has taken nothing, or not all, for too long. */
  onOverdue(): void;
}

/** How long an answer waits for the rest of its request, and how much of that it waits for. */
const waitingMs = 100;
const discardedBytesMax = 64 * 1024;

export class StreamResponse implements DownstreamResponse {
  responseBytes = 0;
  readonly #request: AnsweredStream;
  readonly #context: ExchangeContext;
  readonly #limit: ResponseLimit;
  /** An answer that waits for the end of its request. */
  #waiting: ExchangeResponse | undefined;
  #waitingDeadline: Deadline | undefined;
  #discarded = 0;
  #source: BodySource | undefined;
  #continued = false;
  #blocked = false;
  /** What is being relayed is of gRPC: trailers say how it ends. */
  #relaysGrpc = false;

  constructor(request: AnsweredStream, context: ExchangeContext) {
    this.#request = request;
    this.#context = context;
    this.#limit = new ResponseLimit(
      context,
      () => request.stream?.unsent ?? 0,
      () => request.onOverdue(),
    );
  }

  /** Ready for the next request. */
  reset(): void {
    this.responseBytes = 0;
    this.#continued = false;
    this.#blocked = false;
    this.#source = undefined;
    this.#relaysGrpc = false;
  }

  /** Nothing is written any more: all has left, or never will. */
  over(): void {
    this.#source = undefined;
    this.#waiting = undefined;
    if (this.#waitingDeadline !== undefined) this.#context.wheel.remove(this.#waitingDeadline);
    this.#limit.close();
  }

  relay(response: ExchangeResponse): void {
    const { clientResponseMs, serverName } = this.#context.settings();
    encodeResponse(encoder, response, serverName);
    this.#markEnd(response.status);
    this.#relaysGrpc = this.#request.grpc && isGrpc(response);
    this.#request.stream?.sendHead(encoder, false);
    this.#limit.begin(clientResponseMs);
  }

  /**
   * A response that is whole before its request is would end the stream by a reset, which not every client
   * understands, and hide what is wrong with the rest of the request: so it waits a moment for that.
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

  /** Part of a request that nobody wants has come. */
  onDiscarded(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > discardedBytesMax) this.onRequestEnd();
  }

  /** The request is whole, or will not be waited for any longer. */
  onRequestEnd(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#answer(waiting);
  }

  #answer(response: ExchangeResponse): void {
    const { clientResponseMs, serverName } = this.#context.settings();
    if (this.#request.grpc) answerGrpc(response);
    const { status, own } = response;
    const bodiless = status === 204 || status === 304 || status < 200;
    const length = own?.length ?? 0;
    const said = bodiless || (own === undefined && this.#request.grpc) ? -1 : length;
    encodeAnswer(encoder, response, serverName, said);
    const { stream } = this.#request;
    const content = bodiless || this.#request.toHead ? 0 : length;
    this.#markEnd(response.status);
    stream?.sendHead(encoder, false);
    if (content > 0 && own !== undefined && !this.data(Buffer.from(own.buffer, own.byteOffset, content))) {
      this.#limit.begin(clientResponseMs);
    }
    this.end('');
  }

  /** Clients that read of an error send no more; with a success some go on until they are stopped, those of gRPC apart. */
  #markEnd(status: number): void {
    const { stream, grpc } = this.#request;
    if (stream !== undefined) stream.endsGently = status >= 400 || grpc;
  }

  interim(head: ResponseHead): void {
    if (head.status === 100) this.continue();
    else if (head.status !== 101) {
      encodeResponse(encoder, head, this.#context.settings().serverName);
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

  cut(): void {
    this.#request.onCut();
  }

  /** Frames leave together at the end of the turn. */
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

  /** Callers of gRPC hear that time ran out; whatever else is lost they see as a stream that breaks off. */
  fail(why: ProxyError): void {
    if (!this.#relaysGrpc || why.type !== 'timeout' || this.#request.stream === undefined) {
      this.#request.onCut(why.type);
      return;
    }
    this.#sendEnd(grpcTrailers(why, this.#context.settings().detail));
    this.#request.onAnsweredShort(why.type);
  }

  #sendEnd(trailers: string): void {
    const { stream } = this.#request;
    if (stream === undefined) return;
    this.#source = undefined;
    stream.readsOn = this.#request.restWanted && !(this.#request.holdsBodyBack && !this.#continued);
    if (this.#blocked) this.#limit.onBlocked();
    if (trailers === '') stream.sendEnd();
    else {
      encoder.begin();
      encodeLines(encoder, trailers);
      stream.sendTrailers(encoder);
    }
  }

  /** The client has taken what waited. */
  onRoom(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#limit.onRoom();
    this.#source?.resume();
  }
}
