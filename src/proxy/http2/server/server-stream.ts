// Stream of a client's connection, as an exchange sees it. Kept by its connection and reused for later streams, with
// its exchange: a request allocates no stream object.
import { type ProxyErrorType, proxyErrors } from '../../../errors.ts';
import { type Downstream, type RestConsumer, restMs } from '../../exchange/downstream.ts';
import { Exchange } from '../../exchange/exchange.ts';
import type { ExchangeContext } from '../../exchange/exchange-context.ts';
import type { FieldLines } from '../../fields/field-lines.ts';
import { renderLines } from '../../http1/serialize-head.ts';
import type { BodySink } from '../../message/body.ts';
import { isGrpc } from '../../message/grpc.ts';
import { requestLineBytes } from '../../message/parsed-request.ts';
import { type ProxyError, proxyError } from '../../message/proxy-error.ts';
import type { DownstreamAddress } from '../../message/request.ts';
import { type Peer, RequestView } from '../../message/request-view.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { Security } from '../../socket/security.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Deadline } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import { encoder } from '../hpack/encoder.ts';
import { encodeAcceptance } from '../outgoing-head.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../stream.ts';

import { ParsedStream } from './parsed-stream.ts';
import { type RespondedStream, StreamResponse } from './stream-response.ts';
import { StreamTunnel } from './stream-tunnel.ts';

/** The connection, as its streams see it. */
export interface ServerStreamOwner {
  readonly security: Security | undefined;
  /** True when written bytes do not arrive: only the end of the connection reaches the client. */
  readonly unwritable: boolean;
  senderOf(lines: FieldLines): DownstreamAddress;
  /** Called when a stream has no room for more. */
  onBlocked(): void;
  destroy(): void;
  /** Called when the stream and its exchange are over and the object can be reused. */
  onStreamOver(stream: ServerStream): void;
}

export class ServerStream implements Downstream, StreamReceiver, RespondedStream, Peer {
  readonly request: RequestView;
  readonly response: StreamResponse;
  requestBytes = 0;
  restConsumer: RestConsumer | undefined;
  /** Undefined after the end. */
  stream: Stream | undefined;
  readonly #owner: ServerStreamOwner;
  readonly #context: ExchangeContext;
  readonly #exchange: Exchange;
  readonly #parsed = new ParsedStream();
  readonly #bodyDeadline: Deadline;
  #sink: BodySink | undefined;
  #tunnel: StreamTunnel | undefined;
  #answering = false;

  constructor(owner: ServerStreamOwner, context: ExchangeContext) {
    this.#owner = owner;
    this.#context = context;
    this.request = new RequestView(this.#parsed, this.#parsed, this);
    this.response = new StreamResponse(this, context);
    this.#exchange = new Exchange(this, context);
    this.#bodyDeadline = new Deadline(() => this.#onBodyOverdue());
  }

  get security(): Security | undefined {
    return this.#owner.security;
  }

  /** Begins a request. */
  begin(stream: Stream): void {
    this.stream = stream;
    stream.receiver = this;
    this.requestBytes = 0;
    this.#sink = undefined;
    this.#answering = true;
    this.response.reset();
    this.#parsed.read(stream);
    const refused = this.#refusal(stream);
    if (refused !== undefined) this.#exchange.refuse(refused);
    else {
      this.#armBody(stream);
      this.#exchange.begin();
    }
  }

  sender(): DownstreamAddress {
    return this.#owner.senderOf(this.#parsed.head);
  }

  /**
   * Returns whether a status accepts the tunnel: any 2xx for extended CONNECT (RFC 8441 §5), where HTTP/1.1 needs
   * 101.
   */
  readsAsTunnel(status: number): boolean {
    return status >= 200 && status < 300 && this.#parsed.upgrade !== '';
  }

  get isTunnel(): boolean {
    return this.#tunnel !== undefined;
  }

  // Callbacks of the response.

  get toHead(): boolean {
    return this.#parsed.method === 'HEAD';
  }

  get grpc(): boolean {
    return this.#parsed.upgrade === '' && isGrpc(this.request);
  }

  /** Content type as the client sent it; empty without one. */
  get sentType(): string {
    return this.request.lines.first('content-type') ?? '';
  }

  get holdsBodyBack(): boolean {
    return this.#parsed.expectContinue && this.stream?.remoteEnded === false;
  }

  get bodyComes(): boolean {
    return this.#parsed.kind !== 'none' && !this.#parsed.expectContinue;
  }

  get restWanted(): boolean {
    return this.restConsumer?.wantsRest === true;
  }

  onAnswered(): void {
    this.#answering = false;
    this.#exchange.onResponseSent();
    this.#keepOrDropRest();
    this.#settle();
  }

  onAnsweredShort(why: ProxyErrorType): void {
    this.#answering = false;
    this.#exchange.abort(why);
    this.#keepOrDropRest();
    this.#settle();
  }

  onAbort(why?: ProxyErrorType): void {
    this.#abort(errorCode.internal, why);
  }

  onBlocked(): void {
    this.#owner.onBlocked();
  }

  onOverdue(): void {
    if (this.#owner.unwritable) this.#owner.destroy();
    else this.#abort(errorCode.cancel);
  }

  tunnel(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void {
    const { stream } = this;
    if (stream === undefined) {
      upstream.destroy();
      return;
    }
    this.#answering = false;
    const { wheel, settings, clock } = this.#context;
    encodeAcceptance(encoder, head, { serverName: settings().serverName, clock });
    stream.sendHead(encoder, false);
    wheel.remove(this.#bodyDeadline);
    const tunnel = new StreamTunnel(stream, upstream, wheel, settings().idleTunnelMs, () =>
      this.#abort(errorCode.connect),
    );
    this.#tunnel = tunnel;
    tunnel.begin(rest);
    stream.resume();
  }

  // Request body, from the client.

  start(sink: BodySink): void {
    this.#sink = sink;
    this.stream?.resume();
  }

  pause(): void {
    this.stream?.pause();
  }

  resume(): void {
    this.stream?.resume();
  }

  abort(_why: ProxyError): void {
    this.#sink = undefined;
    this.stream?.resume();
  }

  // Callbacks of the stream.

  onHead(): void {}

  onData(_stream: Stream, chunk: Buffer): boolean {
    if (this.#tunnel !== undefined) return this.#tunnel.onData(chunk);
    this.requestBytes += chunk.length;
    if (this.#sink === undefined) {
      this.response.onDiscarded(chunk.length);
      return true;
    }
    const more = this.#sink.data(chunk);
    if (!this.#answering) {
      this.#keepOrDropRest();
      this.#settle();
    }
    return more;
  }

  onEnd(stream: Stream): void {
    this.#context.wheel.disarm(this.#bodyDeadline);
    if (this.#tunnel !== undefined) {
      this.#tunnel.onEnd();
      return;
    }
    const sink = this.#sink;
    this.#sink = undefined;
    this.restConsumer = undefined;
    const { trailers } = stream;
    sink?.end(trailers === undefined ? '' : renderLines(trailers));
    this.response.onRequestEnd();
  }

  onRoom(): void {
    if (this.#tunnel !== undefined) this.#tunnel.onRoom();
    else this.response.onRoom();
  }

  onOver(): void {
    this.stream = undefined;
    this.#tunnel?.onOver();
    this.#settle();
  }

  onReset(_stream: Stream, _end: StreamEnd): void {
    this.stream = undefined;
    this.#tunnel?.onOver();
    this.#answering = false;
    this.#sink = undefined;
    this.#exchange.abort();
    this.#settle();
  }

  #refusal({ fields }: Stream): ProxyError | undefined {
    const { pathNormalization, headLimits } = this.#context.settings();
    const refused = this.request.read(pathNormalization);
    if (fields.tooLarge) return proxyError('request_headers_too_large');
    if (requestLineBytes(fields.method.length, fields.path.length) > headLimits.startLineBytesMax)
      return proxyError('uri_too_long');
    if (fields.hostConflict) return refusal('bad_request', 'host and :authority name different hosts');
    if (fields.method === 'CONNECT' && this.#parsed.upgrade.toLowerCase() !== 'websocket')
      return proxyError('method_not_allowed');
    if (this.#parsed.upgrade !== '' && this.#parsed.kind !== 'none')
      return refusal('bad_request', 'what is to become a tunnel has no content-length');
    if (refused !== undefined) return refusal(refused, this.request.problem);
    const { path, canonicalPath } = this.request;
    if (path !== canonicalPath) this.#context.reportPath(path, canonicalPath);
    return undefined;
  }

  #armBody(stream: Stream): void {
    const { clientRequestMs } = this.#context.settings();
    if (clientRequestMs > 0 && !stream.remoteEnded && this.#parsed.upgrade === '')
      this.#context.wheel.arm(this.#bodyDeadline, clientRequestMs);
  }

  /** Decides about the rest of the request: the response has been given to the connection. */
  #keepOrDropRest(): void {
    const { stream } = this;
    if (this.restWanted && stream?.restWanted === true) {
      // A stream that its client forgets counts among the open streams of its connection.
      if (this.#context.settings().clientRequestMs === 0) this.#context.wheel.arm(this.#bodyDeadline, restMs);
      return;
    }
    this.#sink = undefined;
    if (stream?.restWanted !== true) return;
    if (stream.localEnded) {
      this.stream = undefined;
      stream.receiver = undefined;
    }
    stream.dropRest();
  }

  #onBodyOverdue(): void {
    const isAnswered = !this.#answering && this.stream?.localEnded === true;
    this.#abort(isAnswered ? errorCode.none : errorCode.cancel);
  }

  /** Resets the stream and aborts its exchange. */
  #abort(code: number, why?: ProxyErrorType): void {
    const { stream } = this;
    this.stream = undefined;
    this.#answering = false;
    stream?.reset(code);
    this.#exchange.abort(why);
    this.#settle();
  }

  #settle(): void {
    if (this.stream !== undefined || this.#answering) return;
    const taker = this.restConsumer;
    this.restConsumer = undefined;
    taker?.onRestLost();
    this.#tunnel = undefined;
    this.#sink = undefined;
    this.response.over();
    this.#context.wheel.remove(this.#bodyDeadline);
    this.#owner.onStreamOver(this);
  }
}

function refusal(type: ProxyErrorType, problem: string): ProxyError {
  return proxyError(type, {}, problem === '' ? undefined : `${proxyErrors[type].message}: ${problem}`);
}
