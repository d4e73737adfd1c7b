// Phases of a middleware: up to three functions, called in the order of the chain (contract.md §6.7). The usual
// result is undefined, at once; a promise only where the middleware really waits.

import type { ProxyErrorType } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { BodySource } from '../message/body.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeResponse } from '../message/response.ts';
import type { ExchangeTrace } from '../tracing/exchange-trace.ts';
import type { CollectedBody, HeldCount } from './held-body.ts';

/** Counts of single types of middleware, beside those that all of them have. */
export type Tally =
  | 'compressedResponses'
  | 'compressInputBytes'
  | 'compressOutputBytes'
  | 'basicAuthVerifications'
  | 'rateLimitTokens'
  | 'rateLimitStore';

/** Response of Sluice's own. */
export interface LocalReply {
  readonly status: number;
  /** Names and values in turn, as byte strings, without `Content-Length`. */
  readonly fields: readonly string[];
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array;
  /** True: it is to HEAD, and the length of the body that GET would get is not known. */
  readonly lengthUnknown?: boolean;
  /** True: Content-Type is for response phases alone; no body follows. */
  readonly hidesType?: boolean;
}

/** Undefined: the exchange goes on. A reply ends the request phase: links further in do not run. */
export type MiddlewareResult = LocalReply | undefined;

/** Exchange, as middlewares see it. */
export interface MiddlewareExchange {
  readonly request: ExchangeRequest;
  /** Filled from the response phase on. */
  readonly response: ExchangeResponse;
  readonly clock: Clock;
  /** Monotonic milliseconds of the current event: all that one read of a socket brought has one time. */
  readonly nowMs: number;
  /** State of a middleware between the phases of one exchange, by place in the chain. Emptied with the exchange. */
  readonly state: unknown[];
  /** Monotonic milliseconds at which the head was whole. */
  readonly startedMs: number;
  readonly route: { readonly id: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string } | undefined;
  /** Index, id and name of the configuration that serves it. */
  readonly snapshot: { readonly index: number; readonly id: string; readonly name: string };
  /** Consumers of that configuration. */
  readonly consumers: ConsumerDirectory;
  /** Role of that configuration: the stable one, or a candidate. */
  readonly role: 'stable' | 'candidate';
  /** Destination; empty while none is chosen. */
  readonly destinationId: string;
  /** `host:port`, or empty. */
  readonly endpoint: string;
  /** Attempts so far; 0 for a response without an upstream. */
  readonly attempts: number;
  /** Type of the proxy error that answered it, or empty. */
  readonly error: ProxyErrorType | '';
  /** Monotonic milliseconds at which the last attempt began; meaningless without one. */
  readonly attemptMs: number;
  /** Milliseconds from the start of the last attempt to its connection; -1 before. */
  readonly connectMs: number;
  /** Milliseconds from the start of the last attempt to its response head; -1 before. */
  readonly upstreamMs: number;
  /** Bytes of the two bodies so far. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** True when the client or the upstream was gone before the response was whole. */
  readonly aborted: boolean;
  /**
   * Type of the proxy error that ended a response whose head was sent, or empty. It is no response: `error` stays
   * empty.
   */
  readonly abortReason: ProxyErrorType | '';
  /** Trace of the exchange; undefined while tracing is off. */
  readonly trace: ExchangeTrace | undefined;

  /**
   * Sets, appends or removes a field of the request; later expressions see it. Returns false for fields that cannot
   * be changed.
   */
  setRequestField(name: string, value: string): boolean;
  appendRequestField(name: string, value: string): boolean;
  removeRequestField(name: string): boolean;
  /** Removes the lines that the client sent; lines that an earlier middleware set or appended stay. */
  stripRequestField(name: string): boolean;
  /** Query in place of the request's; undefined: unchanged. */
  readonly upstreamQuery: string | undefined;
  /** Sets the query for the upstream, without its `?`; all other stages still see the client's. */
  setUpstreamQuery(query: string): void;
  /**
   * Reads the request's body until more than `bytesMax` bytes have arrived, or its end. It is still forwarded whole.
   * Sends 100 to a client that waits for it. Returns undefined when the client is gone or the body cannot be read, and
   * what there was room for when `count` has no more.
   */
  collectRequestBody(
    bytesMax: number,
    count?: HeldCount,
  ): CollectedBody | undefined | Promise<CollectedBody | undefined>;
  replaceRequestBody(bytes: Uint8Array): void;
  /** Wraps the body between the client and the upstream. Without `sameLength`, the length is not known any more. */
  wrapRequestBody(wrap: (source: BodySource) => BodySource, sameLength?: boolean): void;
  /** The same for the response, in the response phase. */
  collectResponseBody(
    bytesMax: number,
    count?: HeldCount,
  ): CollectedBody | undefined | Promise<CollectedBody | undefined>;
  replaceResponseBody(bytes: Uint8Array): void;
  wrapResponseBody(wrap: (source: BodySource) => BodySource, sameLength?: boolean): void;
  /**
   * Counts what the middleware in that place has done, in the metrics of the listener. `value`: of the label that the
   * count has beside the middleware.
   */
  tally(slot: number, count: Tally, value: string, by: number): void;
  /** Sends the gathered bytes of the response: its body comes later than the event that brought it. */
  flushResponse(): void;
  /**
   * Interrupts an exchange whose bodies are passing already. The reply replaces the response if none of it has been
   * sent; otherwise the response is aborted.
   */
  interrupt(reply: LocalReply): void;
}

/** Part of an exchange that a middleware needs which decides alone, from the request, the time and shared keys. */
export interface LoneExchange
  extends Pick<
    MiddlewareExchange,
    | 'request'
    | 'response'
    | 'state'
    | 'consumers'
    | 'upstreamQuery'
    | 'setUpstreamQuery'
    | 'setRequestField'
    | 'appendRequestField'
    | 'removeRequestField'
    | 'stripRequestField'
  > {
  /**
   * Notes the hash that the password of the request is compared with, where the exchange serves no client: no password is
   * hashed for it. `isVerified`: it is known to be right; otherwise the request passes as if it were.
   */
  notePassword?(hash: string, isVerified: boolean): void;
}

/** Phases of such a middleware: they change nothing beyond that exchange, which may be one that serves no client. */
export interface LonePhases {
  onRequest?(exchange: LoneExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult>;
  onSkip?(exchange: LoneExchange): void;
  onResponse?(exchange: LoneExchange, slot: number): MiddlewareResult;
}

/**
 * One middleware of one chain, built when the table is compiled and used by each exchange of its entries. `slot` is
 * its place in the chain.
 */
export interface MiddlewarePhases {
  /** True when its own expressions read the body: it is attached to the view before `onRequest`. */
  readonly needsBody?: boolean;
  /** Its phases, where it decides alone. */
  readonly alone?: LonePhases;
  /** Called on the way in, outermost first. */
  onRequest?(exchange: MiddlewareExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult>;
  /** Called in place of `onRequest` where its conditions exclude the request. None of its other phases follow. */
  onSkip?(exchange: MiddlewareExchange): void;
  /**
   * Called on the way out, innermost first, for links whose request phase ran and did not reply. Nothing has been
   * sent yet. A reply takes the response's place.
   */
  onResponse?(exchange: MiddlewareExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult>;
  /** Called at every end of the exchange, for links whose request phase began. */
  onFinish?(exchange: MiddlewareExchange, slot: number): void;
}
