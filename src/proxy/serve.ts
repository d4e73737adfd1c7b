// One request from its head to its answer: read, match, act. What runs is the table and the upstreams of the moment
// its head arrived; an activation in between does not touch it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Forward } from '../model/route.ts';
import type { TrustedProxies } from './client-address.ts';
import { durationMs } from './duration.ts';
import { type FieldLines, upstreamFields } from './field-lines.ts';
import { type ForwardOrder, forward } from './forward.ts';
import { type AnswerSubject, directAnswer, joinPath, type LocalAnswer, redirectAnswer } from './local-answer.ts';
import { type ErrorDetail, type ProxyError, proxyError, renderProxyError, statusOf } from './proxy-error.ts';
import { type ReadRequest, type RequestLimits, readRequest } from './request.ts';
import type { Entry, Table } from './table.ts';
import type { Upstreams } from './upstream.ts';

/** What all listeners share; replaced whole by an install. */
export interface Installed {
  readonly table: Table;
  readonly upstreams: Upstreams;
}

/** What one listener adds; replaced whole by an install. */
export interface ServeSettings {
  readonly limits: RequestLimits;
  readonly trusted: TrustedProxies;
  readonly serverName: string | undefined;
  readonly detail: ErrorDetail;
  readonly responseMs: number;
}

export interface Serving {
  readonly installed: () => Installed;
  readonly settings: () => ServeSettings;
  readonly clock: Clock;
}

export function serve(
  { installed, settings, clock }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const current = settings();
  response.sendDate = false;
  const fail = (error: ProxyError): void => answerError(error, current, clock, request, response);
  const read = readRequest(request, current.limits, current.trusted);
  if ('type' in read) {
    response.shouldKeepAlive = false;
    fail(read);
    return;
  }
  const decision = decide(read, installed(), current, request.rawHeaders);
  if ('type' in decision) fail(decision);
  else if ('status' in decision) answerLocally(decision, current, request, response);
  else forward(decision, request, response, clock, fail);
}

function decide(
  read: ReadRequest,
  { table, upstreams }: Installed,
  settings: ServeSettings,
  fields: FieldLines,
): ForwardOrder | LocalAnswer | ProxyError {
  const entry = table.match(read.question);
  if (entry === undefined) return proxyError('no_route');
  if (entry.middlewareIds.length > 0) return proxyError('middleware_unavailable');
  const { redirect, directResponse, forward: action } = entry.route;
  if (redirect !== undefined) return redirectAnswer(redirect, subjectOf(read, entry));
  if (directResponse !== undefined) return directAnswer(directResponse);
  if (action === undefined || action.rewrite?.pathRegex !== undefined) return proxyError('middleware_unavailable');
  const upstream = upstreams.get(chooseDestination(action, upstreams));
  if (upstream === undefined) return proxyError('no_destination');
  if (upstream.closed !== undefined)
    return proxyError(upstream.closed, { destination: upstream.id }, 'not available in this version');
  return {
    method: read.question.method,
    target: targetOf(action, entry, read),
    fields: upstreamFields(fields, read.sender, hostFor(action, read, upstream.host)),
    upstream,
    budgetMs: durationMs(action.timeouts?.request, upstream.requestMs),
    responseMs: settings.responseMs,
    serverName: settings.serverName,
  };
}

/** By weight among the destinations that exist; uniformly when all weights are 0. */
function chooseDestination({ destinations }: Forward, upstreams: Upstreams): string {
  const present = destinations.filter(({ destinationId }) => upstreams.get(destinationId) !== undefined);
  if (destinations.length === 1 || present.length <= 1) return (present[0] ?? destinations[0])?.destinationId ?? '';
  const total = present.reduce((sum, { weight = 0 }) => sum + weight, 0);
  if (total === 0) return present[Math.floor(Math.random() * present.length)]?.destinationId ?? '';
  let left = Math.random() * total;
  for (const { destinationId, weight = 0 } of present) {
    left -= weight;
    if (left < 0) return destinationId;
  }
  return '';
}

function targetOf({ rewrite }: Forward, entry: Entry, { question, query }: ReadRequest): string {
  const { path } = question;
  if (rewrite?.path === undefined || rewrite.path === '') return path + query;
  const matched = entry.matchPath(path);
  return joinPath(rewrite.path, path.slice(0, matched), path.slice(matched)) + query;
}

function hostFor({ rewrite }: Forward, { question, sender }: ReadRequest, destinationHost: string): string {
  if (rewrite?.host) return rewrite.host;
  if (rewrite?.hostFromHeader) return question.header(rewrite.hostFromHeader.toLowerCase()) || sender.authority;
  return rewrite?.autoHost === true ? destinationHost : sender.authority;
}

function subjectOf({ question, sender, query }: ReadRequest, entry: Entry): AnswerSubject {
  const { path } = question;
  const matchedLength = entry.routePathIsWhole ? path.length : entry.matchPath(path);
  return { scheme: sender.scheme, authority: sender.authority, path, query, matchedLength };
}

function answerLocally(
  { status, fields, body }: LocalAnswer,
  { serverName }: ServeSettings,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const server = serverName === undefined ? [] : ['Server', serverName];
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  response.writeHead(status, [...server, ...fields, ...length]);
  response.end(request.method === 'HEAD' || bodiless ? undefined : body);
  request.resume();
}

function answerError(
  error: ProxyError,
  settings: ServeSettings,
  clock: Clock,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const body = renderProxyError(error, settings.detail, clock.nowMs());
  const fields = ['Content-Type', 'application/json'];
  answerLocally({ status: statusOf(error), fields, body }, settings, request, response);
}
