// Trace of an exchange (observability.md §3). There is none while traces are off. One that is not recorded still has an
// id, and fields for upstreams and services.
import type { ProxyErrorType } from '../../errors.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { TraceFields } from '../message/upstream-stream.ts';

/** One request to an upstream: a try, or a copy. */
export interface UpstreamCall {
  readonly destinationId: string;
  /** `host:port` */
  readonly endpoint: string;
  readonly secure: boolean;
  /** Version of HTTP: `1.1`, `2`. */
  readonly version: string;
  /** Path and query. */
  readonly target: string;
  /** From 1; 0 for a copy. */
  readonly attempt: number;
}

/** One request to a service that a middleware asks. */
export interface ServiceCall {
  readonly destinationId: string;
  /** Operation: with gRPC `package.Service/Method`, with HTTP the method. */
  readonly operation: string;
  readonly kind: 'http' | 'grpc';
}

/** A middleware in its place. */
export interface NamedLink {
  readonly name: string;
  readonly type: string;
}

/** An exchange at its end. */
export interface TracedExchange {
  readonly request: ExchangeRequest;
  readonly response: { readonly status: number };
  readonly snapshot: { readonly index: number; readonly id: string };
  readonly role: 'stable' | 'candidate';
  readonly route: { readonly name: string };
  readonly group: { readonly name: string } | undefined;
  readonly destinationId: string;
  readonly endpoint: string;
  readonly attempts: number;
  readonly error: ProxyErrorType | '';
  readonly aborted: boolean;
}

/** Call that is recorded in the trace. Ends once; a later end has no effect. */
export interface TracedCall {
  /** Value of `traceparent`. */
  readonly traceparent: string;
  /** Trace fields for the upstream; undefined: the client's own lines pass as they are. */
  readonly fields: TraceFields | undefined;
  /** `status`: of HTTP, 0 when there was none. `failure`: of few different values; empty when nothing went wrong. */
  end(status: number, failure: string): void;
}

export interface ExchangeTrace {
  readonly traceId: string;
  /** Undefined: the exchange is recorded. Else its trace fields for upstreams; without any, the client's own lines pass. */
  readonly unrecorded: { readonly fields: TraceFields | undefined } | undefined;
  /** An entry has won the request. */
  matched(entry: { readonly links: readonly NamedLink[] }): void;
  /** Ends the try before it, if it is still open, without a result. Returns the trace fields for the upstream, as `fields`. */
  beginAttempt(call: UpstreamCall): TraceFields | undefined;
  /** The response's head is here, and goes to the client: the try ends with the exchange. */
  responded(status: number): void;
  /** As `TracedCall.end`; nothing happens when no try is open. */
  endAttempt(status: number, failure: string): void;
  copy(call: UpstreamCall): TracedCall;
  /** `slot`: place of the middleware that asks. */
  ask(slot: number, call: ServiceCall): TracedCall;
  /** A middleware has answered in the upstream's place. */
  answered(link: NamedLink, status: number): void;
  /** The exchange is over, and everything about it is still there to be read. */
  finish(exchange: TracedExchange): void;
}

/**
 * Brings the fields into a request. Where middlewares have changed it they are one more change, and nothing is left to be
 * written; else they are given back.
 */
export function placed(fields: TraceFields | undefined, { edits }: ExchangeRequest): TraceFields | undefined {
  if (fields === undefined || edits.empty) return fields;
  for (const name of fields.replaced) edits.remove(name);
  edits.set('traceparent', fields.traceparent);
  return undefined;
}
