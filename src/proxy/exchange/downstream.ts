// A client's side of one exchange, whatever version of HTTP it speaks.

import type { BodySink, BodySource } from '../message/body.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeResponse, ResponseHead } from '../message/response.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';

/** Somebody who takes the request's body as it passes, and what of it comes behind the end of the response too. */
export interface RestTaker {
  /** It has not all of it, and wants it. */
  readonly wantsRest: boolean;
  /** It will not come. Said once, if at all. */
  onRestLost(): void;
}

/** Where the listener has no limit for requests: how long nothing of that may come. */
export const restMs = 60_000;

/** As a source it delivers the request's body. */
export interface Downstream extends BodySource {
  readonly request: ExchangeRequest;
  readonly response: DownstreamResponse;
  /** Bytes of the request's body so far. */
  readonly requestBytes: number;
  /** For whom the body is read on when the response has been sent; forgotten with the end of the body. */
  restTaker: RestTaker | undefined;
  /** Whether the client takes a response of that status for a tunnel, which only `tunnel` makes. */
  readsAsTunnel(status: number): boolean;
  /** After 101: joins the client with the upstream's socket. `rest` came behind the head. */
  tunnel(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void;
}

/** As a sink it takes the response's body. Exactly one of `relay`, `answer` and `cut` ends what begins with a request. */
export interface DownstreamResponse extends BodySink {
  /** Bytes of the body so far. */
  readonly responseBytes: number;
  /** The head goes to the client; its body, if it has one, follows through this sink. */
  relay(response: ExchangeResponse): void;
  /** A response of Sluice's own, whole; `close`: the connection ends with it. */
  answer(response: ExchangeResponse, close: boolean): void;
  /** An interim response of the upstream. */
  interim(head: ResponseHead): void;
  /** Asks the client for the body it holds back, once. */
  continue(): void;
  /** The response cannot be completed: the client must see that it is not. */
  cut(): void;
  /** What was written may leave. */
  flush(): void;
}
