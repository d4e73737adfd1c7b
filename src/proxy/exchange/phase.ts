// What a middleware is to the exchange it stands in: up to three functions, called in the order of the chain
// (contract.md §6.7). The usual answer is nothing, at once; a promise only where something is really waited for.

import type { ProxyErrorType } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import type { BodySource } from '../message/body.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeResponse } from '../message/response.ts';
import type { ExchangeTrace } from '../tracing/exchange-trace.ts';
import type { CollectedBody } from './held-body.ts';

/** A response of Sluice's own. */
export interface LocalReply {
  readonly status: number;
  /** Names and values in turn, as byte strings. `Content-Length` is not among them. */
  readonly fields: readonly string[];
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array;
}

/** Nothing: the exchange goes on. A reply ends the request phase: what lies further in does not run. */
export type Verdict = LocalReply | undefined;

/** An exchange as middlewares see it. */
export interface MiddlewareExchange {
  readonly request: ExchangeRequest;
  /** Filled from the response phase on. */
  readonly response: ExchangeResponse;
  readonly clock: Clock;
  /** Monotonic milliseconds of what is happening to it: all that one read of a socket has brought happens at one time. */
  readonly nowMs: number;
  /** By place in the chain: what a middleware keeps between the phases of one exchange. Emptied with the exchange. */
  readonly state: unknown[];
  /** Monotonic milliseconds at which the head was whole. */
  readonly startedMs: number;
  readonly route: { readonly id: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string } | undefined;
  /** Index, id and name of the configuration that serves it. */
  readonly snapshot: { readonly index: number; readonly id: string; readonly name: string };
  /** Whether that is the one for everybody, or one on trial. */
  readonly role: 'stable' | 'candidate';
  /** Where it went; empty while it has gone nowhere. */
  readonly destinationId: string;
  /** `host:port`, or empty. */
  readonly endpoint: string;
  /** Tries so far; 0 for what needs no upstream. */
  readonly attempts: number;
  /** Type of the proxy error that answered it, or empty. */
  readonly error: ProxyErrorType | '';
  /** From the start of the last try to its response head; -1 while there is none. */
  readonly upstreamMs: number;
  /** Bytes of the two bodies so far. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** The client, or the upstream, was gone before the response was whole. */
  readonly cut: boolean;
  /** Type of the proxy error that ended a response whose head was sent, or empty. No answer: `error` stays empty. */
  readonly cutBy: ProxyErrorType | '';
  /** The trace it is part of; undefined while traces are off. */
  readonly trace: ExchangeTrace | undefined;

  /** Sets, appends or removes a field of the request; later expressions see it. False for what cannot be changed. */
  setRequestField(name: string, value: string): boolean;
  appendRequestField(name: string, value: string): boolean;
  removeRequestField(name: string): boolean;
  /** Removes the lines that the client sent; what a middleware before this one set or appended stays. */
  disownRequestField(name: string): boolean;
  /** The upstream gets another query; everybody else goes on seeing the client's. Without its `?`. */
  setUpstreamQuery(query: string): void;
  /**
   * Reads the request's body until more than `bytesMax` bytes have come, or its end. It is forwarded all the same,
   * whole. Asks a client that waits for 100. Undefined when the client is gone or the body cannot be read.
   */
  collectRequestBody(bytesMax: number): CollectedBody | undefined | Promise<CollectedBody | undefined>;
  replaceRequestBody(bytes: Uint8Array): void;
  /**
   * Puts something between the client and the upstream. Unless what it delivers has the `sameLength`, the length is not
   * known any more.
   */
  wrapRequestBody(wrap: (source: BodySource) => BodySource, sameLength?: boolean): void;
  /** In the response phase: the same of the response. */
  collectResponseBody(bytesMax: number): CollectedBody | undefined | Promise<CollectedBody | undefined>;
  replaceResponseBody(bytes: Uint8Array): void;
  wrapResponseBody(wrap: (source: BodySource) => BodySource, sameLength?: boolean): void;
  /**
   * Too late for a verdict: the bodies are under way. The reply takes the place of the response if nothing of that has
   * been sent; else the client sees that it is cut.
   */
  interrupt(reply: LocalReply): void;
}

/**
 * One middleware of one chain, built when the table is compiled and used by every exchange of its entries. `slot` is
 * its place in the chain.
 */
export interface MiddlewarePhases {
  /** Its own expressions read the body: it is attached to the view before `onRequest`. */
  readonly needsBody?: boolean;
  /** On the way in, outermost first. */
  onRequest?(exchange: MiddlewareExchange, slot: number): Verdict | Promise<Verdict>;
  /** In place of `onRequest` where its conditions say that it does not run. None of its other phases follow. */
  onSkip?(exchange: MiddlewareExchange): void;
  /**
   * On the way out, innermost first, for those whose request phase ran and did not reply. Nothing has been sent yet. A
   * reply takes the response's place.
   */
  onResponse?(exchange: MiddlewareExchange, slot: number): Verdict | Promise<Verdict>;
  /** The exchange is over, however it ended; for those whose request phase began. */
  onFinish?(exchange: MiddlewareExchange, slot: number): void;
}
