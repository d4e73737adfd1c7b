// One exchange on a connection to an upstream, whatever version of HTTP that speaks. As a sink it takes the request's
// body.
import type { ProxyErrorType } from '../../errors.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { BodySink, BodySource } from './body.ts';
import type { BodyKind, ExchangeRequest } from './request.ts';
import type { ResponseHead } from './response.ts';

/** What an upstream is told of a trace. */
export interface TraceFields {
  /** Value of `traceparent`. */
  readonly traceparent: string;
  /** The same as a whole field line of HTTP/1.1. */
  readonly line: string;
  /** Names, in lower case, of the client's lines that go. */
  readonly replaced: readonly string[];
}

/** What is to be sent: the client's request, and what the action says differently. */
export interface UpstreamRequest {
  readonly request: ExchangeRequest;
  /** Path and query as the upstream is to see them. */
  readonly target: string;
  /** Value of `Host`, or `:authority`. */
  readonly host: string;
  /** Which try the upstream is to be told of, from 1; 0 = it is told nothing and the client's own line stays. */
  readonly attempt: number;
  readonly bodyKind: BodyKind;
  /** The upstream is asked for 100 before the body goes out. */
  readonly expectContinue: boolean;
  /** Value of `grpc-timeout` in place of the client's; empty: untouched. */
  readonly grpcTimeout: string;
  /** What it is told of the trace; undefined: what the client said. */
  readonly trace: TraceFields | undefined;
  /** The caller's deadline (`grpc-timeout`) has passed: whatever ends the exchange now, that is why. */
  readonly overdue: boolean;
}

/** Whoever sent the request. Exactly one of `onResponse`, `onUpgrade` and `onFailure` follows; `onSettled` any number of times. */
export interface ResponseReceiver {
  /** 100 to 199 but 101; the head is valid for the duration of the call. */
  onInterim(head: ResponseHead): void;
  /** The final head. The body waits in `body` until it is started. */
  onResponse(head: ResponseHead, body: BodySource): void;
  /** 101 to a request that asked for it: the socket is the receiver's from here on. `rest` came behind the head. */
  onUpgrade(head: ResponseHead, socket: TunnelEnd, rest: Buffer): void;
  /**
   * No response. `untouched`: a connection used before ended without a byte in answer, or for what the upstream had
   * against all that it carried. `refused`: the upstream says that it has done nothing with the request.
   */
  onFailure(type: ProxyErrorType, untouched: boolean, message: string, refused?: boolean): void;
  /** Everything that arrived together has been dealt with: what was written may leave. */
  onSettled(): void;
}

export interface UpstreamStream extends BodySink {
  /** Begins the exchange. A body of another kind than `none` follows through the sink that this stream is. */
  send(receiver: ResponseReceiver, request: UpstreamRequest): void;
  /** What the request's source delivered at once has been taken. */
  flush(): void;
  /**
   * Ends the exchange of that receiver without another word; it hears nothing more. An exchange that is over has none to
   * end: what carried it may be another's by then.
   */
  destroy(receiver: ResponseReceiver): void;
}

/** Whoever needs a connection. Exactly one of the two is called, perhaps before `take` returns. */
export interface PoolCallbacks {
  onConnection(stream: UpstreamStream): void;
  onNoConnection(type: ProxyErrorType, message: string): void;
}
