// Entry of the routing table, as its exchange uses it: a chain of middlewares and an action at its end, both compiled
// (proxy.md, match). Also the interface that the exchange offers to the action.
import type { ProxyErrorType } from '../../errors.ts';
import type { CelProgram } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { BodySource } from '../message/body.ts';
import type { ProxyError } from '../message/proxy-error.ts';
import type { BodyKind, ExchangeRequest } from '../message/request.ts';
import type { ResponseHead } from '../message/response.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import type { Downstream } from './downstream.ts';
import type { HeldBody } from './held-body.ts';
import type { LocalReply, MiddlewareExchange, MiddlewarePhases } from './phase.ts';
import type { Verdict } from './verdict.ts';

/**
 * One middleware in its place: it runs when no `skipWhen` is true and, if there are any, one `onlyWhen` is true or
 * cannot be evaluated (expressions.md §6).
 */
export interface Link {
  /** Id of the middleware. */
  readonly id: string;
  /** Its name and type, as in labels. */
  readonly name: string;
  readonly type: string;
  readonly phases: MiddlewarePhases;
  readonly skipWhen: readonly CelProgram<RequestView>[];
  readonly onlyWhen: readonly CelProgram<RequestView>[];
  /** True when one of its conditions, or of its own expressions, reads the body. */
  readonly needsBody: boolean;
}

export function takesPart({ skipWhen, onlyWhen }: Link, request: ExchangeRequest): boolean {
  if (skipWhen.length > 0) {
    const { view } = request;
    for (const program of skipWhen) if (program.decide(view) === true) return false;
  }
  if (onlyWhen.length === 0) return true;
  const { view } = request;
  for (const program of onlyWhen) if (program.decide(view) !== false) return true;
  return false;
}

/** Matcher that refuses requests which its entry wins. */
export interface Refusing {
  /** Returns whether the request repeats what may come once. */
  refuses(request: RoutedRequest): boolean;
}

export function refusesOneOf(refusing: readonly Refusing[], request: RoutedRequest): boolean {
  for (const each of refusing) if (each.refuses(request)) return true;
  return false;
}

/** Bodies of errors by status. */
export interface ErrorPages {
  /** Returns the page of a proxy error; undefined: there is none for that status. */
  pageOf(status: number, error: string, request: RoutedRequest): LocalReply | undefined;
  /** Returns the page in place of an upstream's body. */
  pageOver(status: number, request: RoutedRequest): LocalReply | undefined;
}

export interface ExchangeEntry {
  readonly route: { readonly id: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string } | undefined;
  /** Outermost first; without disabled ones. */
  readonly links: readonly Link[];
  /** Undefined where no matcher refuses requests. */
  readonly refusing: readonly Refusing[] | undefined;
  /** Undefined only for a closed entry. */
  readonly action: Action | undefined;
  /**
   * Error of an entry that could not be built whole: it matches its requests and answers this error (architecture.md
   * §6.19).
   */
  readonly closed: ProxyErrorType | undefined;
  /** Most bytes of a request body, 0 for any; undefined: the limit of the listener counts. */
  readonly bodyBytesMax?: number | undefined;
  /** Undefined: those of the listener alone count. */
  readonly errorPages?: ErrorPages | undefined;
}

export interface Action {
  /**
   * Begins the action. Exactly one of the exchange's `reply`, `relay`, `fail` and `switch` follows, at once or later.
   */
  begin(exchange: ActionExchange): void;
}

/** Run of an action that takes time: an exchange has at most one at a time, and may reuse it. */
export interface ActionRun {
  /** Aborts the run; its result is not used. */
  cancel(): void;
  /** Called when the response has been sent to its end, or never will be. */
  over(): void;
}

export interface ActionExchange extends MiddlewareExchange {
  readonly downstream: Downstream;
  readonly wheel: Wheel;
  /** Bytes of a body that may be kept for a retry. */
  readonly retryBytesMax: number;
  /** Kept from one exchange to the next of the same slot. */
  run: ActionRun | undefined;
  destinationId: string;
  endpoint: string;
  attempts: number;
  attemptMs: number;
  connectMs: number;
  upstreamMs: number;
  /** Destinations of the table that the exchange began with. */
  readonly upstreams: Upstreams;
  /** Kind of the body for the upstream: the client's, or that of a middleware's replacement. */
  readonly bodyKind: BodyKind;
  /** True while no part of the body has been read. */
  readonly bodyUntouched: boolean;
  /** True when the upstream gets the body as the client sends it; reading it may outlast the exchange. */
  readonly bodyUnchanged: boolean;
  /** Returns the body for the upstream. It is started once. */
  requestBody(): BodySource;
  /** Returns the same body in a form that can be held and started again. */
  heldRequestBody(): HeldBody;
  /** Called when the endpoint of the next attempt is chosen. */
  onEndpoint(destinationId: string, endpoint: string): void;
  /**
   * Called when no request was sent to any endpoint: the exchange does not count for the upstream (contract.md §7.9).
   */
  onNothingSent(): void;
  /** Called when retry `n` begins, from 1. */
  onRetry(n: number): void;
  /**
   * Returns the function that counts a copy to that mirror after it has been sent, possibly after the exchange;
   * undefined without metrics.
   */
  copyCounter(destinationId: string): (() => void) | undefined;
  /** Returns the function that takes the verdict on the responses of that mirror, possibly after the exchange. */
  verdictReporter(destinationId: string): (verdict: Verdict) => void;
  reply(reply: LocalReply): void;
  /** Relays a response: its head has arrived, its body follows from `source`, which has not been started. */
  relay(head: ResponseHead, source: BodySource): void;
  /** Joins the client's connection and the upstream's after 101. */
  switch(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void;
  fail(error: ProxyError): void;
}
