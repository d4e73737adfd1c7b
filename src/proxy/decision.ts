// What is to happen with a request, decided at once from its head and the table that is installed when it arrives:
// an answer of Sluice's own, or an order to forward. Pure but for the cursors of balancing.
import type { Forward } from '../model/route.ts';
import type { TrustedProxies } from './client-address.ts';
import { durationMs } from './duration.ts';
import type { HeadLimits } from './http1/head-parser.ts';
import type { RequestView } from './http1/request-view.ts';
import { type AnswerSubject, directAnswer, joinPath, type LocalAnswer, redirectAnswer } from './local-answer.ts';
import { type ErrorDetail, type ProxyError, proxyError } from './proxy-error.ts';
import type { Entry, Table } from './table.ts';
import type { Upstream, Upstreams } from './upstream/upstreams.ts';

/** What all listeners share; replaced whole by an install. */
export interface Installed {
  readonly table: Table;
  readonly upstreams: Upstreams;
}

/** What one listener adds; replaced whole by an install. Times in milliseconds, 0 = off. */
export interface ServeSettings {
  readonly headLimits: HeadLimits;
  readonly pathNormalization: 'enforce' | 'report';
  readonly trusted: TrustedProxies;
  readonly serverName: string | undefined;
  readonly detail: ErrorDetail;
  readonly clientHeaderMs: number;
  readonly clientRequestMs: number;
  /** From the first to the last byte of a response; 0 when the listener does not say. */
  readonly clientResponseMs: number;
  /** How long a client may take none of the response that waits for it, when `clientResponseMs` is 0. */
  readonly clientStallMs: number;
  readonly idleMs: number;
}

export interface ForwardOrder {
  /** Path and query as the upstream is to see them. */
  readonly target: string;
  /** Value of `Host`. */
  readonly host: string;
  readonly upstream: Upstream;
  /** Whole exchange, body included; 0 = no limit. */
  readonly budgetMs: number;
}

export type Decision = ForwardOrder | LocalAnswer | ProxyError;

export function decide(request: RequestView, { table, upstreams }: Installed): Decision {
  const entry = table.match(request);
  if (entry === undefined) return proxyError('no_route');
  if (entry.middlewareIds.length > 0) return proxyError('middleware_unavailable');
  const { redirect, directResponse, forward: action } = entry.route;
  if (redirect !== undefined) return redirectAnswer(redirect, subjectOf(request, entry));
  if (directResponse !== undefined) return directAnswer(directResponse);
  if (action === undefined || action.rewrite?.pathRegex !== undefined) return proxyError('middleware_unavailable');
  const upstream = upstreams.get(chooseDestination(action, upstreams));
  if (upstream === undefined) return proxyError('no_destination');
  if (upstream.closed !== undefined)
    return proxyError(upstream.closed, { destination: upstream.id }, 'not available in this version');
  return {
    target: targetOf(action, entry, request),
    host: hostFor(action, request, upstream.host),
    upstream,
    budgetMs: durationMs(action.timeouts?.request, upstream.requestMs),
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

function targetOf({ rewrite }: Forward, entry: Entry, { path, queryPart }: RequestView): string {
  if (rewrite?.path === undefined || rewrite.path === '') return path + queryPart;
  const matched = entry.matchPath(path);
  return joinPath(rewrite.path, path.slice(0, matched), path.slice(matched)) + queryPart;
}

function hostFor({ rewrite }: Forward, request: RequestView, destinationHost: string): string {
  const sent = request.authority === '' ? destinationHost : request.authority;
  if (rewrite === undefined) return sent;
  if (rewrite.host) return rewrite.host;
  if (rewrite.hostFromHeader) return request.header(rewrite.hostFromHeader.toLowerCase()) || sent;
  return rewrite.autoHost === true ? destinationHost : sent;
}

function subjectOf(request: RequestView, entry: Entry): AnswerSubject {
  const { path, authority, queryPart } = request;
  const matchedLength = entry.routePathIsWhole ? path.length : entry.matchPath(path);
  return { scheme: 'http', authority, path, query: queryPart, matchedLength };
}
