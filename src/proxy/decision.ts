// What is to happen with a request, decided at once from its head and the table that is installed when it arrives:
// an answer of Sluice's own, or an order to forward. Pure but for the cursors of balancing.
import type { Forward } from '../model/forward.ts';
import { redirectAnswer } from './action/redirect.ts';
import { upstreamHost, upstreamTarget } from './action/rewrite.ts';
import type { Action, Entry } from './compile/entry.ts';
import { durationMs } from './duration.ts';
import type { HeadLimits } from './http1/head-parser.ts';
import type { TrustedProxies } from './match/client-address.ts';
import type { RoutingTable } from './match/routing-table.ts';
import { type ErrorDetail, type ProxyError, proxyError } from './proxy-error.ts';
import type { RoutedRequest } from './request-head.ts';
import type { Upstream, Upstreams } from './upstream/upstreams.ts';

/** What all listeners share; replaced whole by an install. */
export interface Installed {
  readonly table: RoutingTable;
  readonly upstreams: Upstreams;
}

/** What one listener adds; replaced whole by an install. Times in milliseconds, 0 = off. */
export interface ServeSettings {
  readonly headLimits: HeadLimits;
  readonly pathNormalization: 'enforce' | 'report';
  readonly trusted: TrustedProxies;
  readonly serverName: string | undefined;
  readonly detail: ErrorDetail;
  /** Responses name the route that made them, `x-sluice-route`. */
  readonly debugHeaders: boolean;
  readonly clientHeaderMs: number;
  readonly clientRequestMs: number;
  /** From the first to the last byte of a response; 0 when the listener does not say. */
  readonly clientResponseMs: number;
  /** How long a client may take none of the response that waits for it, when `clientResponseMs` is 0. */
  readonly clientStallMs: number;
  readonly idleMs: number;
}

/** An answer that needs no upstream. Fields are names and values in turn. */
export interface LocalAnswer {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
}

export interface ForwardOrder {
  /** Path and query as the upstream is to see them. */
  readonly target: string;
  /** Value of `Host`. */
  readonly host: string;
  readonly upstream: Upstream;
  /** Whole exchange, body included; 0 = no limit. */
  readonly budgetMs: number;
  /** The upstream is told which try it sees. */
  readonly attemptCount: boolean;
}

export type Decision = ForwardOrder | LocalAnswer | ProxyError;

/** `entry` is what the table says of the request; undefined when nothing matches. */
export function decide(entry: Entry | undefined, request: RoutedRequest, upstreams: Upstreams): Decision {
  if (entry === undefined) return proxyError('no_route');
  if (entry.closed !== undefined || entry.action === undefined) {
    return proxyError(entry.closed ?? 'middleware_unavailable');
  }
  const { action } = entry;
  if (action.kind === 'forward') return forwardOrder(action, entry, request, upstreams);
  if (action.kind === 'redirect') {
    const { status, location } = redirectAnswer(action.redirect, entry.path, request);
    return { status, fields: ['Location', location], body: '' };
  }
  const { status, contentType, body } = action.answer;
  return { status, fields: contentType === undefined ? [] : ['Content-Type', contentType], body };
}

function forwardOrder(
  { forward, rewrite }: Extract<Action, { kind: 'forward' }>,
  { path, attemptCount }: Entry,
  request: RoutedRequest,
  upstreams: Upstreams,
): ForwardOrder | ProxyError {
  const upstream = upstreams.get(chooseDestination(forward, upstreams));
  if (upstream === undefined) return proxyError('no_destination');
  if (upstream.closed !== undefined) {
    return proxyError(upstream.closed, { destination: upstream.id }, 'not available in this version');
  }
  return {
    target: upstreamTarget(rewrite, path, request),
    // A request of HTTP/1.0 may name no host.
    host: upstreamHost(rewrite, request, upstream.host) || upstream.host,
    upstream,
    budgetMs: durationMs(forward.timeouts?.request, upstream.requestMs),
    attemptCount,
  };
}

/** By weight among the destinations that exist; uniformly when all weights are 0. */
function chooseDestination({ destinations }: Forward, upstreams: Upstreams): string {
  if (destinations.length === 1) return destinations[0]?.destinationId ?? '';
  const present = destinations.filter(({ destinationId }) => upstreams.get(destinationId) !== undefined);
  const total = present.reduce((sum, { weight = 0 }) => sum + weight, 0);
  if (total === 0) return present[Math.floor(Math.random() * present.length)]?.destinationId ?? '';
  let left = Math.random() * total;
  for (const { destinationId, weight = 0 } of present) {
    left -= weight;
    if (left < 0) return destinationId;
  }
  return '';
}
