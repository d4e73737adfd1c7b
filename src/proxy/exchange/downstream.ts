// Client's side of one exchange, in any version of HTTP.

import type { BodySink, BodySource } from '../message/body.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeResponse, ResponseHead } from '../message/response.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';

/** Consumer of the request's body that also takes the part behind the end of the response. */
export interface RestConsumer {
  /** True while the consumer lacks a part of the body and wants it. */
  readonly wantsRest: boolean;
  /** Called at most once, when the rest will not arrive. */
  onRestLost(): void;
}

/** Milliseconds of silence of such a rest, where the listener has no limit for requests. */
export const restMs = 60_000;

/** As a source it delivers the request's body. */
export interface Downstream extends BodySource {
  readonly request: ExchangeRequest;
  readonly response: DownstreamResponse;
  /** Bytes of the request's body so far. */
  readonly requestBytes: number;
  /** Consumer for which the body is read on after the response; cleared at the end of the body. */
  restConsumer: RestConsumer | undefined;
  /** Returns whether the client takes a response of that status for a tunnel, which only `tunnel` makes. */
  readsAsTunnel(status: number): boolean;
  /** Joins the client with the upstream's socket, after 101. `rest` arrived behind the head. */
  tunnel(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void;
}

/** As a sink it takes the response's body. Exactly one of `relay`, `answer` and `cut` ends a request. */
export interface DownstreamResponse extends BodySink {
  /** Bytes of the body so far. */
  readonly responseBytes: number;
  /** Sends the head to the client; its body, if it has one, follows through this sink. */
  relay(response: ExchangeResponse): void;
  /** Sends a whole response of Sluice's own; `close`: the connection ends with it. */
  answer(response: ExchangeResponse, close: boolean): void;
  /** Sends an interim response of the upstream. */
  interim(head: ResponseHead): void;
  /** Sends 100 to a client that waits for it, once. */
  continue(): void;
  /** Aborts a response that cannot be completed, so that the client sees it. */
  abort(): void;
  /** Sends gathered bytes. */
  flush(): void;
}
