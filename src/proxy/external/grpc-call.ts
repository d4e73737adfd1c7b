// One call of gRPC on a stream of HTTP/2: messages both ways, and how it ended. It may have to wait for a connection:
// what is said meanwhile is kept.
import type { Clock } from '../../util/clock.ts';
import type { FieldLines } from '../fields/field-lines.ts';
import { errorCode } from '../http2/error-code.ts';
import { encoder } from '../http2/hpack/encoder.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../http2/stream.ts';
import { Timed, type Wheel } from '../wheel.ts';
import { ExternalFailure, timedOut } from './external-failure.ts';
import { frameOf, MessageReader } from './grpc-frames.ts';

/** Caller of a call. Exactly one `onEnd` comes last. */
export interface CallReceiver {
  /** The bytes are the receiver's. */
  onMessage(message: Buffer): void;
  /** Undefined: the service ended the call with status OK. */
  onEnd(failure: ExternalFailure | undefined): void;
}

export interface Call {
  send(message: Uint8Array): void;
  /** Nothing more is going to be sent. */
  end(): void;
  /** Cancels the call; the receiver gets no further event. */
  cancel(): void;
  /** As `cancel`, but the service has a moment to end the call in good order. */
  leave(): void;
}

export interface CallOptions {
  /**
   * Deadline that is sent to the service, which ends the call by itself; the caller keeps a timer of its own. 0 = no
   * limit.
   */
  readonly timeoutMs?: number;
  /** On behalf of which span. */
  readonly traceparent?: string | undefined;
}

/** The channel's side. */
export interface CallOwner {
  readonly clock: Clock;
  readonly wheel: Wheel;
  /** The call waits for a connection no more. */
  forget(call: RunningCall): void;
  /** Retries the call on another stream, since the service has not processed it. Throws ExternalFailure. */
  place(call: RunningCall): void;
}

/** Connection that carries the call; informed that a message has come. */
export interface CallCarrier {
  onMessage(): void;
}

/** A service may take its time to end a call on which nothing more comes. */
const lingerMs = 1_000;

export class RunningCall extends Timed implements Call, StreamReceiver {
  readonly #owner: CallOwner;
  readonly #receiver: CallReceiver;
  /** Pseudo-fields and fields that all calls of this kind have. */
  readonly #head: Uint8Array;
  readonly #traceparent: string | undefined;
  /** Deadline on the monotonic clock of this side; undefined: none is sent to the service. */
  readonly #deadlineMs: number | undefined;
  readonly #reader = new MessageReader();
  #stream: Stream | undefined;
  #carrier: CallCarrier | undefined;
  /**
   * Messages sent, kept while they may have to be sent again on another stream; undefined once the service has
   * answered.
   */
  #said: Buffer[] | undefined = [];
  #ended = false;
  #placed = 0;
  #status: string | undefined;
  #message = '';
  #refusal: ExternalFailure | undefined;
  /** True when the receiver gets no further event. */
  #over = false;

  constructor(owner: CallOwner, receiver: CallReceiver, head: Uint8Array, { timeoutMs = 0, traceparent }: CallOptions) {
    super();
    this.#owner = owner;
    this.#receiver = receiver;
    this.#head = head;
    this.#traceparent = traceparent;
    this.#deadlineMs = timeoutMs > 0 ? owner.clock.monotonicMs() + timeoutMs : undefined;
  }

  /** On this stream, which is new. */
  begin(stream: Stream, carrier: CallCarrier): void {
    this.#stream = stream;
    this.#carrier = carrier;
    this.#placed++;
    stream.receiver = this;
    encoder.begin();
    encoder.block(this.#head);
    if (this.#deadlineMs !== undefined) {
      const leftMs = Math.max(1, Math.ceil(this.#deadlineMs - this.#owner.clock.monotonicMs()));
      encoder.field('grpc-timeout', `${leftMs}m`);
    }
    if (this.#traceparent !== undefined) encoder.field('traceparent', this.#traceparent);
    stream.sendHead(encoder, false);
    for (const frame of this.#said ?? []) stream.sendData(frame);
    if (this.#ended) stream.sendEnd();
  }

  /** There is no connection for it. */
  refuse(failure: ExternalFailure): void {
    this.#end(failure);
  }

  send(message: Uint8Array): void {
    if (this.#over || this.#ended) return;
    const frame = frameOf(message);
    this.#said?.push(frame);
    this.#stream?.sendData(frame);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream?.sendEnd();
  }

  cancel(): void {
    this.#over = true;
    this.#reset();
  }

  leave(): void {
    this.#over = true;
    if (this.#stream === undefined) this.#reset();
    else {
      this.end();
      if (this.#stream !== undefined) this.#owner.wheel.arm(this, lingerMs);
    }
  }

  override onDeadline(): void {
    this.#reset();
  }

  // What comes on the stream.

  onHead(stream: Stream): void {
    this.#carrier?.onMessage();
    const { fields } = stream;
    if (fields.status < 200) return;
    this.#said = undefined;
    this.#note(fields);
    if (fields.status !== 200) this.#refusal = new ExternalFailure(`answers ${fields.status}`);
    else if (!isGrpc(fields.first('content-type')))
      this.#refusal = new ExternalFailure('answers with something else than gRPC');
  }

  onData(_stream: Stream, chunk: Buffer): boolean {
    this.#carrier?.onMessage();
    if (this.#over || this.#refusal !== undefined) return true;
    try {
      this.#reader.read(chunk, this.#take);
    } catch (error) {
      this.#reset();
      this.#end(error instanceof ExternalFailure ? error : new ExternalFailure(String(error)));
    }
    return true;
  }

  onEnd(stream: Stream): void {
    if (stream.trailers !== undefined) this.#note(stream.trailers);
    this.#leaveStream();
    // The service is done: the rest of this side's messages is of no use to it.
    if (!stream.localEnded) stream.reset(errorCode.cancel);
    this.#end(this.#outcome());
  }

  onReset(_stream: Stream, { untouched, message }: StreamEnd): void {
    this.#leaveStream();
    if (this.#over) return;
    if (untouched && this.#said !== undefined && this.#placed < 2) this.#again();
    else this.#end(this.#broken(message));
  }

  onRoom(): void {}

  onOver(): void {}

  readonly #take = (message: Buffer): boolean => {
    this.#receiver.onMessage(message);
    return !this.#over;
  };

  #again(): void {
    try {
      this.#owner.place(this);
    } catch (error) {
      this.#end(error instanceof ExternalFailure ? error : new ExternalFailure(String(error)));
    }
  }

  #note(fields: FieldLines): void {
    const status = fields.first('grpc-status');
    if (status === undefined) return;
    this.#status = status;
    this.#message = decoded(fields.first('grpc-message') ?? '');
  }

  #outcome(): ExternalFailure | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#status === undefined) return new ExternalFailure('the stream broke off');
    if (this.#status !== '0') return new ExternalFailure(`status ${this.#status}${detail(this.#message)}`);
    return this.#reader.partial ? new ExternalFailure('a message was cut short') : undefined;
  }

  /** A reset after the head does not cancel a failure that the head reported. */
  #broken(message: string): ExternalFailure {
    const said = this.#status === undefined || this.#status === '0' ? this.#refusal : this.#outcome();
    return said ?? new ExternalFailure(`the stream broke off: ${message}`);
  }

  #end(failure: ExternalFailure | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#receiver.onEnd(failure !== undefined && this.#isLate() ? timedOut() : failure);
  }

  /**
   * Returns whether the call ended at its deadline. The service's timer may fire before ours: it ends the call by its
   * status, or in any other way.
   */
  #isLate(): boolean {
    if (this.#deadlineMs === undefined) return false;
    return this.#status === deadlineExceeded || this.#owner.clock.monotonicMs() >= this.#deadlineMs;
  }

  #reset(): void {
    const stream = this.#stream;
    this.#leaveStream();
    if (stream === undefined) this.#owner.forget(this);
    else stream.reset(errorCode.cancel);
  }

  #leaveStream(): void {
    this.#stream = undefined;
    this.#owner.wheel.remove(this);
  }
}

/** `DEADLINE_EXCEEDED` among the statuses of gRPC. */
const deadlineExceeded = '4';

const detail = (message: string): string => (message === '' ? '' : `: ${message}`);

/** `application/grpc`, `application/grpc+proto`, … A service that names no type may still speak it. */
const isGrpc = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/grpc(?:[+; ]|$)/i.test(contentType);

/** As senders of gRPC write it: bytes of UTF-8, all but printable ASCII as `%XX`. What is not that stays as it is. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
