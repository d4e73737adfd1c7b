// One exchange on a connection to an upstream, in any version of HTTP. As a sink it takes the request's body.
import type { ProxyErrorType } from '../../errors.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { BodySink, BodySource } from './body.ts';
import type { ClientEnds } from './client-ends.ts';
import type { BodyKind, ExchangeRequest } from './request.ts';
import type { ResponseHead } from './response.ts';

/** Trace context that an upstream gets. */
export interface TraceFields {
  /** Value of `traceparent`. */
  readonly traceparent: string;
  /** The same as a whole field line of HTTP/1.1. */
  readonly line: string;
  /** Names, in lower case, of the client's lines that it replaces. */
  readonly replaced: readonly string[];
}

/** Request to the upstream: the client's request, and the changes of the action. */
export interface UpstreamRequest {
  readonly request: ExchangeRequest;
  /** Path and query for the upstream. */
  readonly target: string;
  /** Value of `Host`, or `:authority`. */
  readonly host: string;
  /** Number of the attempt in the request's fields, from 1; 0 = it is not sent and the client's own line stays. */
  readonly attempt: number;
  readonly bodyKind: BodyKind;
  /** True when the upstream is asked for 100 before the body is sent. */
  readonly expectContinue: boolean;
  /** Value of `grpc-timeout` in place of the client's; empty: unchanged. */
  readonly grpcTimeout: string;
  /** Trace context; undefined: the client's fields stay. */
  readonly trace: TraceFields | undefined;
  /** True once the caller's deadline (`grpc-timeout`) has passed: it is then the reason of any failure. */
  readonly overdue: boolean;
}

/**
 * Receiver of the response. Exactly one of `onResponse`, `onUpgrade` and `onFailure` follows; `onSettled` any number
 * of times.
 */
export interface ResponseReceiver {
  /** Called for 100 to 199 except 101; the head is valid for the duration of the call. */
  onInterim(head: ResponseHead): void;
  /** Called with the final head. The body waits in `body` until it is started. */
  onResponse(head: ResponseHead, body: BodySource): void;
  /**
   * Called for a 101 to a request that asked for it: the socket belongs to the receiver from here on. `rest` arrived
   * behind the head.
   */
  onUpgrade(head: ResponseHead, socket: TunnelEnd, rest: Buffer): void;
  /**
   * Called when there is no response. `untouched`: a reused connection ended without a byte in answer, or by an error
   * that concerns all its requests. `refused`: the upstream has not processed the request.
   */
  onFailure(type: ProxyErrorType, untouched: boolean, message: string, refused?: boolean): void;
  /** Called when all bytes that arrived together have been handled: gathered writes may leave. */
  onSettled(): void;
}

export interface UpstreamStream extends BodySink {
  /** True when its connection has carried another exchange: the upstream may have closed it while it was idle. */
  readonly reused: boolean;
  /** Begins the exchange. A body of another kind than `none` follows through this stream as the sink. */
  send(receiver: ResponseReceiver, request: UpstreamRequest): void;
  /** Sends gathered bytes: the request's source has delivered all it had at once. */
  flush(): void;
  /**
   * Aborts the exchange of that receiver, which gets no more calls. For an exchange that is over it does nothing: its
   * connection may carry another one by then.
   */
  destroy(receiver: ResponseReceiver): void;
}

/** Caller that needs a connection. Exactly one of the two is called, possibly before `take` returns. */
export interface PoolCallbacks {
  /** Client that the connection is for, where upstreams are told; undefined: Sluice itself. */
  readonly client?: ClientEnds | undefined;
  onConnection(stream: UpstreamStream): void;
  onNoConnection(type: ProxyErrorType, message: string): void;
}
