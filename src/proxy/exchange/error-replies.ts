// Error replies: responses of Sluice's own to what fails, as JSON or as an error page of the route or the listener, and
// error pages in the place of an upstream's body (contract.md §2.2).
import type { ProxyErrorType } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import { isGrpc } from '../message/grpc.ts';
import { allowedMethods, type ProxyError, renderProxyError, statusOf } from '../message/proxy-error.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeResponse } from '../message/response.ts';
import type { ErrorPages, ExchangeEntry } from './entry.ts';
import type { ExchangeObserver, ServeSettings } from './exchange-context.ts';
import type { LocalReply } from './phase.ts';

/** Exchange that answers with an error. */
export interface FailedExchange {
  readonly request: ExchangeRequest;
  readonly response: ExchangeResponse;
  /** True when a request was read and `request` holds its head. */
  readonly wasRead: boolean;
  readonly entry: ExchangeEntry | undefined;
  readonly observer: ExchangeObserver | undefined;
  readonly clock: Clock;
  readonly context: { settings(): ServeSettings };
  /** Configuration that serves it; undefined when none was chosen. */
  readonly installed: { readonly snapshot: { readonly id: string } } | undefined;
  replaceResponseBody(bytes: Uint8Array): void;
}

/** Returns the response to an error. */
export function errorReply(exchange: FailedExchange, error: ProxyError): LocalReply {
  const { request, context, clock, installed } = exchange;
  const status = statusOf(error);
  const page = pageOf(exchange, status, error.type);
  // A response to HEAD carries no body, so there is no type of one. Response phases see that of the response to GET.
  const hidesType = request.method === 'HEAD';
  const ofBody = page?.fields ?? jsonType;
  const fields = error.type === 'method_not_allowed' ? [...ofBody, 'Allow', allowedMethods] : ofBody;
  if (page !== undefined) return { ...page, fields, hidesType };
  const body = renderProxyError(error, context.settings().detail, clock.nowMs(), installed?.snapshot.id);
  return { status, fields, body, hidesType };
}

/** Puts an error page in the place of an upstream's body, where one is to. Fields about the body go with it. */
export function coverBody(exchange: FailedExchange, status: number): void {
  const page = pageOf(exchange, status);
  if (page === undefined) return;
  const { response } = exchange;
  response.keepLines();
  for (const name of fieldsOfBody) response.edits.remove(name);
  const [name, value] = page.fields;
  if (name !== undefined && value !== undefined) response.edits.set(name, value);
  exchange.replaceResponseBody(typeof page.body === 'string' ? Buffer.from(page.body, 'utf8') : page.body);
}

/**
 * Finds an error page: of the route, else of the listener. A call of gRPC has its status instead. Without `error`: the
 * page in the place of an upstream's body.
 */
function pageOf(
  { request, wasRead, entry, observer, context }: FailedExchange,
  status: number,
  error?: ProxyErrorType,
): LocalReply | undefined {
  const { errorPages: ofListener } = context.settings();
  const ofRoute = entry?.errorPages;
  if ((ofRoute === undefined && ofListener === undefined) || (wasRead && isGrpc(request))) return undefined;
  const find = (pages: ErrorPages): LocalReply | undefined =>
    error === undefined ? pages.pageOver(status, request) : pages.pageOf(status, error, request);
  const page = (ofRoute && find(ofRoute)) ?? (ofListener && find(ofListener));
  if (page !== undefined) observer?.onErrorPage(page.status);
  return page;
}

/** Fields that describe the body of the upstream. */
const fieldsOfBody = [
  'Content-Encoding',
  'Content-Language',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Content-Digest',
  'Repr-Digest',
  'ETag',
  'Last-Modified',
];

const jsonType = ['Content-Type', 'application/json'];
