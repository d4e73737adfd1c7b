// A client's connection as an exchange sees it, whatever version of HTTP it speaks.
import type { BodySink, BodySource } from './body.ts';
import type { LocalAnswer } from './decision.ts';
import type { ClientConnection } from './http1/client-connection.ts';
import type { Framing } from './http1/framing.ts';
import type { Sender } from './http1/render.ts';
import type { RequestView } from './http1/request-view.ts';
import type { ProxyError } from './proxy-error.ts';
import type { Wire } from './socket/wire.ts';

/** As a source it delivers the request's body. */
export interface Downstream extends BodySource {
  readonly request: RequestView;
  /** How the request's body is framed, and what its `Connection` asks for. */
  readonly framing: Framing;
  readonly response: DownstreamResponse;
  /** Who sends the request at hand. */
  sender(): Sender;
  /** After 101: joins the client with the upstream's socket. `rest` came behind the head. */
  tunnel(response: ClientConnection, upstream: Wire, rest: Buffer): void;
}

/** As a sink it takes the response's body. */
export interface DownstreamResponse extends BodySink {
  /** Name of the route that the response is to show; undefined shows none. Forgotten with the response. */
  debugRoute: string | undefined;
  /** The upstream's head goes to the client; its body is to follow through this sink. */
  relay(response: ClientConnection): void;
  /** An interim response of the upstream. */
  interim(response: ClientConnection): void;
  /** Asks the client for the body it holds back, once. */
  continue(): void;
  /** A response of Sluice's own; `close`: the connection ends with it. */
  answer(answer: LocalAnswer, close?: boolean): void;
  /** While nothing of a response has been sent; later it cuts the connection, so that the client can tell. */
  answerError(error: ProxyError, close?: boolean): void;
  /** What was written may leave. */
  flush(): void;
}
