// One exchange on a stream of a connection to an upstream. Made for one request: whoever holds it may ask for its end
// at any time, and must not reach another's.
import type { ProxyErrorType } from '../../../errors.ts';
import { type FieldLines, FieldList } from '../../fields/field-lines.ts';
import { renderLines } from '../../http1/render.ts';
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { BodyKind } from '../../message/request.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { ResponseReceiver, UpstreamRequest, UpstreamStream } from '../../message/upstream-stream.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import { encoder } from '../hpack/encoder.ts';
import { encodeLines, encodeRequest } from '../outgoing-head.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../stream.ts';

/** The connection's side. */
export interface ClientStreamOwner {
  readonly scheme: 'http' | 'https';
  readonly wheel: Wheel;
  /** 0 = no limit. */
  readonly responseHeaderMs: number;
  /** A stream for a request whose head follows at once; undefined when there is no room any more. */
  begin(): Stream | undefined;
  /** Something of a response has come. */
  onMessage(): void;
}

const none: readonly string[] = [];

export class ClientStream extends Timed implements UpstreamStream, BodySource, StreamReceiver, ResponseHead {
  readonly reason = '';
  readonly named = none;
  readonly upgrade = '';
  status = 0;
  lines: FieldLines = FieldList.empty;
  bodyKind: BodyKind = 'none';
  bodyLength = 0;
  readonly #owner: ClientStreamOwner;
  /** Undefined before `send`, and when it is over. */
  #stream: Stream | undefined;
  #receiver: ResponseReceiver | undefined;
  #sink: BodySink | undefined;
  #requestSource: BodySource | undefined;
  /** The request is whole. */
  #sent = false;
  #responded = false;

  constructor(owner: ClientStreamOwner) {
    super();
    this.#owner = owner;
  }

  send(receiver: ResponseReceiver, order: UpstreamRequest): void {
    this.#receiver = receiver;
    if (order.request.upgrade !== '') {
      this.#failSoon('bad_response', 'the upstream speaks HTTP/2: nothing to upgrade there', false);
      return;
    }
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
    stream.sendHead(encoder, this.#sent);
    if (this.#sent) this.#awaitHead();
  }

  /** Frames leave together at the end of the turn. */
  flush(): void {}

  destroy(): void {
    const stream = this.#stream;
    this.#finish();
    stream?.reset(errorCode.cancel);
  }

  // The request's body goes in here.

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
    if (trailers === '') stream.sendEnd();
    else {
      encoder.begin();
      encodeLines(encoder, trailers);
      stream.sendTrailers(encoder);
    }
    if (!this.#responded) this.#awaitHead();
  }

  fail(_why: ProxyError): void {
    this.destroy();
  }

  // The response's body comes out here.

  start(sink: BodySink): void {
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
    const stream = this.#stream;
    const receiver = this.#receiver;
    this.#finish();
    stream?.reset(errorCode.cancel);
    receiver?.onFailure('timeout', false, 'no response header in time');
  }

  // What comes on the stream.

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
    const bodiless = stream.bodiless || fields.status === 204 || fields.status === 304;
    this.bodyKind = bodiless ? 'none' : fields.contentLength >= 0 ? 'length' : 'stream';
    this.bodyLength = Math.max(0, fields.contentLength);
    this.lines = stream.takeFields();
    // Nobody takes the body yet.
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
    // What is left of the request is of no use to an upstream that has answered.
    if (!whole) stream.reset(errorCode.cancel);
    receiver?.onSettled();
  }

  onReset(_stream: Stream, { untouched, faulty, unanswered, message }: StreamEnd): void {
    const type = faulty ? 'bad_response' : 'connection_reset';
    const sink = this.#sink;
    const receiver = this.#receiver;
    const responded = this.#responded;
    this.#finish();
    if (responded) sink?.fail({ type, message });
    else receiver?.onFailure(type, unanswered, message, untouched);
    receiver?.onSettled();
  }

  onRoom(): void {
    this.#requestSource?.resume();
  }

  onOver(): void {}

  /** Whoever sends is not to hear of it before it has sent. */
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
    this.#receiver = undefined;
    this.#sink = undefined;
    this.#requestSource = undefined;
    this.#owner.wheel.remove(this);
  }
}
