// What the routing table says of a request, as far as its exchange needs it: a chain to go through and an action at its
// end, both compiled (proxy.md, match). And what the exchange offers to such an action.
import type { ProxyErrorType } from '../../errors.ts';
import type { CelProgram } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { BodySource } from '../message/body.ts';
import type { ProxyError } from '../message/proxy-error.ts';
import type { BodyKind, ExchangeRequest } from '../message/request.ts';
import type { ResponseHead } from '../message/response.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import type { Downstream } from './downstream.ts';
import type { HeldBody } from './held-body.ts';
import type { LocalReply, MiddlewareExchange, MiddlewarePhases } from './phase.ts';

/**
 * One middleware in its place: it runs when no `skipWhen` is true and, if there are any, one `onlyWhen` is, or cannot be
 * decided (expressions.md §6).
 */
export interface Link {
  /** Name and type of the middleware, as in labels. */
  readonly name: string;
  readonly type: string;
  readonly phases: MiddlewarePhases;
  readonly skipWhen: readonly CelProgram<RequestView>[];
  readonly onlyWhen: readonly CelProgram<RequestView>[];
  /** One of its conditions, or of its own expressions, reads the body. */
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

export interface ExchangeEntry {
  readonly route: { readonly id: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string } | undefined;
  /** Outermost first; disabled ones are not among them. */
  readonly links: readonly Link[];
  /** Undefined only for a closed entry. */
  readonly action: Action | undefined;
  /** The entry wins its requests and answers this error: it could not be built whole (architecture.md §6.19). */
  readonly closed: ProxyErrorType | undefined;
}

export interface Action {
  /** Exactly one of the exchange's `reply`, `relay`, `fail` and `switch` follows, at once or later. */
  begin(exchange: ActionExchange): void;
}

/** An action that takes time: an exchange has at most one at a time, and may use it again. */
export interface ActionRun {
  /** Nobody waits for it any more. */
  cancel(): void;
  /** The response has been sent to its end, or never will be. */
  over(): void;
}

export interface ActionExchange extends MiddlewareExchange {
  readonly downstream: Downstream;
  readonly wheel: Wheel;
  /** Bytes of a body that may be kept for another try. */
  readonly retryBytesMax: number;
  /** Kept from one exchange to the next of the same slot. */
  run: ActionRun | undefined;
  destinationId: string;
  endpoint: string;
  attempts: number;
  upstreamMs: number;
  /** The destinations of the table that the exchange began with. */
  readonly upstreams: Upstreams;
  /** In place of the request's own; undefined: that. */
  readonly upstreamQuery: string | undefined;
  /** How the upstream is to get the body: as the client sent it, or as middlewares left it. */
  readonly bodyKind: BodyKind;
  /** Nobody has read any of the body yet. */
  readonly bodyUntouched: boolean;
  /** The upstream is to get it as it comes from the client: it does not end with the exchange. */
  readonly bodyUnchanged: boolean;
  /** The body that the upstream is to get. To be started once. */
  requestBody(): BodySource;
  /** The same, in a form that can be held and started over. */
  heldRequestBody(): HeldBody;
  /** The endpoint of the next try is chosen. */
  onEndpoint(destinationId: string, endpoint: string): void;
  /** The endpoint that was chosen was not asked, nor any before it: the exchange is none of the upstream's (contract.md §7.9). */
  onNothingSent(): void;
  /** Retry `n` begins, from 1. */
  onRetry(n: number): void;
  /** What counts a copy to that mirror, when it has been sent, be the exchange over by then; undefined: nobody counts. */
  copyCounter(destinationId: string): (() => void) | undefined;
  reply(reply: LocalReply): void;
  /** A head has come; its body follows from `source`, which has not been started. */
  relay(head: ResponseHead, source: BodySource): void;
  /** 101: the client's connection and the upstream's become one. */
  switch(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void;
  fail(error: ProxyError): void;
}
