// One exchange on a stream of a connection to an upstream. Each request gets an object of its own: its holder may
// cancel it at any time, and must not reach another request's stream.
import { createHash } from 'node:crypto';
import type { ProxyErrorType } from '../../../errors.ts';
import { type FieldLines, FieldList } from '../../fields/field-lines.ts';
import { renderLines } from '../../http1/serialize-head.ts';
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { BodyKind, ExchangeRequest } from '../../message/request.ts';
import type { ResponseHead } from '../../message/response.ts';
import type {
  PoolCallbacks,
  ResponseReceiver,
  UpstreamRequest,
  UpstreamStream,
} from '../../message/upstream-stream.ts';
import type { Loss } from '../../socket/connection-error.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import { encoder } from '../hpack/encoder.ts';
import { encodeLines, encodeRequest } from '../outgoing-head.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../stream.ts';
import { ClientTunnel } from './client-tunnel.ts';

/** The connection, as its streams see it. */
export interface ClientStreamOwner {
  readonly scheme: 'http' | 'https';
  readonly wheel: Wheel;
  /** Milliseconds; 0 = no limit. */
  readonly responseHeaderMs: number;
  /** Returns a stream for a request whose head follows at once; undefined when there is no room any more. */
  begin(): Stream | undefined;
  /** Returns the type and message of the loss of the connection for a reason. */
  lossOf(reason: string): Loss;
  /** Called when a frame of a response has arrived. */
  onMessage(): void;
  /** True when the upstream takes extended CONNECT (RFC 8441); undefined before its first SETTINGS. */
  readonly connectProtocol: boolean | undefined;
  /** Calls the stream's `onSettings` after the upstream's first SETTINGS, or its `onNoConnection`. */
  awaitSettings(stream: ClientStream): void;
  /**
   * Gets the taker an HTTP/1.1 connection to the same endpoint. Returns false where the endpoint does not speak
   * HTTP/1.1.
   */
  takeHttp1(taker: PoolCallbacks): boolean;
  cancelHttp1(taker: PoolCallbacks): void;
}

const none: readonly string[] = [];

export class ClientStream
  extends Timed
  implements UpstreamStream, BodySource, StreamReceiver, ResponseHead, PoolCallbacks
{
  /** Streams share their connection. */
  readonly reused = true;
  readonly reason = '';
  readonly named = none;
  upgrade = '';
  status = 0;
  lines: FieldLines = FieldList.empty;
  bodyKind: BodyKind = 'none';
  bodyLength = 0;
  readonly #owner: ClientStreamOwner;
  /** Undefined before `send` and after the end. */
  #stream: Stream | undefined;
  #receiver: ResponseReceiver | undefined;
  #sink: BodySink | undefined;
  #requestSource: BodySource | undefined;
  /** True once the request is whole. */
  #sent = false;
  #responded = false;
  /** Error that ended the response body before it had a sink. */
  #lostBody: ProxyError | undefined;
  #order: UpstreamRequest | undefined;
  /** Upgrade request, until the upstream has accepted or refused it. */
  #upgrading: UpstreamRequest | undefined;
  /** Replacement stream where an upgrade goes over HTTP/1.1. */
  #replacement: UpstreamStream | undefined;

  constructor(owner: ClientStreamOwner) {
    super();
    this.#owner = owner;
  }

  send(receiver: ResponseReceiver, order: UpstreamRequest): void {
    this.#receiver = receiver;
    this.#order = order;
    if (order.request.upgrade !== '') {
      this.#upgrading = order;
      this.#awaitHead();
      if (this.#owner.connectProtocol === undefined) this.#owner.awaitSettings(this);
      else this.onSettings();
    } else this.#begin(order);
  }

  /** Sends the waiting upgrade, now that the upstream's settings are known. */
  onSettings(): void {
    const order = this.#upgrading;
    if (order === undefined) return;
    if (this.#owner.connectProtocol === true && isWebSocket(order.request)) this.#begin(order);
    else if (!this.#owner.takeHttp1(this)) this.#failSoon('bad_response', nothingToUpgrade, false);
  }

  /** Takes over an HTTP/1.1 stream for an upgrade that HTTP/2 does not carry. */
  onConnection(stream: UpstreamStream): void {
    const order = this.#upgrading;
    const receiver = this.#receiver;
    if (order === undefined || receiver === undefined) return;
    this.#owner.wheel.remove(this);
    this.#replacement = stream;
    stream.send(receiver, order);
  }

  onNoConnection(type: ProxyErrorType, message: string): void {
    if (this.#upgrading === undefined) return;
    if (type === 'tls_handshake_failure') this.#failSoon('bad_response', `${nothingToUpgrade}: ${message}`, false);
    else this.#failSoon(type, message, false);
  }

  #begin(order: UpstreamRequest): void {
    const stream = this.#owner.begin();
    if (stream === undefined) {
      this.#failSoon('connection_reset', 'the connection has no room for another stream', true);
      return;
    }
    this.#stream = stream;
    this.#sent = order.bodyKind === 'none';
    stream.receiver = this;
    stream.bodiless = order.request.method === 'HEAD';
    encodeRequest(encoder, order, this.#owner.scheme);
    // A stream that becomes a tunnel stays open.
    stream.sendHead(encoder, this.#sent && this.#upgrading === undefined);
    if (this.#sent) this.#awaitHead();
  }

  /** Flushes the replacement, if any; frames of a stream leave together at the end of the tick. */
  flush(): void {
    this.#replacement?.flush();
  }

  destroy(): void {
    const stream = this.#stream;
    const instead = this.#replacement;
    const receiver = this.#receiver;
    if (this.#upgrading !== undefined && stream === undefined && instead === undefined) this.#owner.cancelHttp1(this);
    this.#finish();
    stream?.reset(errorCode.cancel);
    if (receiver !== undefined) instead?.destroy(receiver);
  }

  // Request body, towards the upstream.

  from(source: BodySource): void {
    this.#requestSource = source;
  }

  data(chunk: Buffer): boolean {
    return this.#stream === undefined || this.#stream.sendData(chunk);
  }

  end(trailers: string): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#sent = true;
    this.#requestSource = undefined;
    const kept = trailers === '' ? '' : (this.#order?.request.edits.trailersOf(trailers) ?? trailers);
    if (kept === '') stream.sendEnd();
    else {
      encoder.begin();
      encodeLines(encoder, kept);
      stream.sendTrailers(encoder);
    }
    if (!this.#responded) this.#awaitHead();
  }

  fail(_why: ProxyError): void {
    this.destroy();
  }

  // Response body, from the upstream.

  start(sink: BodySink): void {
    if (this.#lostBody !== undefined) {
      sink.fail(this.#lostBody);
      return;
    }
    this.#sink = sink;
    this.#stream?.resume();
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  abort(_why: ProxyError): void {
    this.destroy();
  }

  override onDeadline(): void {
    const receiver = this.#receiver;
    this.destroy();
    receiver?.onFailure('timeout', false, 'no response header in time');
  }

  // Callbacks of the stream.

  onHead(stream: Stream): void {
    const { fields } = stream;
    this.status = fields.status;
    this.lines = fields;
    this.#owner.onMessage();
    if (fields.status < 200) {
      this.bodyKind = 'none';
      this.#receiver?.onInterim(this);
      return;
    }
    this.#responded = true;
    this.#owner.wheel.remove(this);
    if (this.#upgrading !== undefined && fields.status < 300) {
      this.#switchProtocols(stream, this.#upgrading.request);
      return;
    }
    const bodiless = stream.bodiless || fields.status === 204 || fields.status === 304;
    this.bodyKind = bodiless ? 'none' : fields.contentLength >= 0 ? 'length' : 'stream';
    this.bodyLength = Math.max(0, fields.contentLength);
    this.lines = stream.takeFields();
    // The body has no sink yet.
    stream.pause();
    this.#receiver?.onResponse(this, this);
    this.#receiver?.onSettled();
  }

  onData(_stream: Stream, chunk: Buffer): boolean {
    this.#owner.onMessage();
    const more = this.#sink === undefined || this.#sink.data(chunk);
    this.#receiver?.onSettled();
    return more;
  }

  onEnd(stream: Stream): void {
    const sink = this.#sink;
    const receiver = this.#receiver;
    const trailers = stream.trailers === undefined ? '' : renderLines(stream.trailers);
    const whole = stream.localEnded;
    if (!this.#sent) this.#requestSource?.abort({ type: 'connection_reset' });
    this.#finish();
    sink?.end(trailers);
    // The rest of the request is of no use to an upstream that has answered.
    if (!whole) stream.reset(errorCode.cancel);
    receiver?.onSettled();
  }

  onReset(_stream: Stream, { untouched, faulty, unanswered, message: reason }: StreamEnd): void {
    const { type, message } = this.#failureOf(reason, faulty);
    const sink = this.#sink;
    const receiver = this.#receiver;
    const responded = this.#responded;
    this.#finish();
    // The head may still be in a response phase.
    if (responded && sink === undefined) this.#lostBody = { type, message };
    else if (responded) sink?.fail({ type, message });
    else receiver?.onFailure(type, unanswered, message, untouched);
    receiver?.onSettled();
  }

  onRoom(): void {
    this.#requestSource?.resume();
  }

  onOver(): void {}

  #failureOf(reason: string, faulty: boolean): { readonly type: ProxyErrorType; readonly message: string } {
    if (this.#order?.overdue === true)
      return { type: 'timeout', message: `the call's deadline has passed (${reason})` };
    return faulty ? { type: 'bad_response', message: reason } : this.#owner.lossOf(reason);
  }

  #switchProtocols(stream: Stream, request: ExchangeRequest): void {
    const receiver = this.#receiver;
    const lines: string[] = [];
    for (let i = 0; i < stream.fields.count; i++) {
      // Extended CONNECT has no proof of the key (RFC 8441 §5).
      if (stream.fields.name(i) !== 'sec-websocket-accept') lines.push(stream.fields.name(i), stream.fields.value(i));
    }
    // A client of HTTP/1.1 expects proof that its key was read (RFC 6455 §4.2.2).
    const key = request.header('sec-websocket-key');
    if (request.protocol !== 'HTTP/2.0' && key !== undefined) lines.push('Sec-WebSocket-Accept', acceptOf(key));
    this.status = 101;
    this.lines = new FieldList(lines);
    this.bodyKind = 'none';
    this.upgrade = request.upgrade;
    stream.pause();
    const tunnel = new ClientTunnel(stream, this.#owner.wheel);
    this.#finish();
    receiver?.onUpgrade(this, tunnel, Buffer.alloc(0));
    receiver?.onSettled();
  }

  /** Reports the failure in a microtask, so that the sender gets it after `send` has returned. */
  #failSoon(type: ProxyErrorType, message: string, refused: boolean): void {
    queueMicrotask(() => {
      const receiver = this.#receiver;
      this.#finish();
      receiver?.onFailure(type, false, message, refused);
      receiver?.onSettled();
    });
  }

  #awaitHead(): void {
    const { wheel, responseHeaderMs } = this.#owner;
    if (responseHeaderMs > 0) wheel.arm(this, responseHeaderMs);
  }

  #finish(): void {
    this.#stream = undefined;
    this.#order = undefined;
    this.#upgrading = undefined;
    this.#replacement = undefined;
    this.#receiver = undefined;
    this.#sink = undefined;
    this.#requestSource = undefined;
    this.#owner.wheel.remove(this);
  }
}

const isWebSocket = ({ upgrade }: ExchangeRequest): boolean => upgrade.toLowerCase() === 'websocket';

const nothingToUpgrade = 'the upstream speaks HTTP/2 and does not announce extended CONNECT (RFC 8441)';

/** Returns the value of Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2). */
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
