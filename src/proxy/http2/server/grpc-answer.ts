// gRPC form of responses that Sluice makes: trailers only, as gRPC's own libraries make them (architecture.md §6.23).
// The response's body gives the reason.

import { proxyErrors } from '../../../errors.ts';
import { FieldList } from '../../fields/field-lines.ts';
import type { ErrorDetail, ProxyError } from '../../message/proxy-error.ts';
import type { ExchangeResponse } from '../../message/response.ts';

const webType = 'application/grpc-web';
/** Characters of the message at most. */
const messageMax = 1_024;

/** Turns a response without success into its gRPC form. `sentType`: content type of the request, as the client sent it. */
export function answerGrpc(response: ExchangeResponse, sentType: string): void {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  const why = reasonIn(response);
  const lines = response.lines;
  const kept: string[] = [];
  for (let i = 0; i < lines.count; i++) {
    const lower = lines.name(i).toLowerCase();
    if (lower !== 'content-type' && lower !== 'content-length') kept.push(lower, lines.value(i));
  }
  response.status = 200;
  response.lines = new FieldList([
    ...['grpc-status', String(grpcStatus(status, why.type))],
    ...(why.message === '' ? [] : ['grpc-message', percentEncoded(why.message)]),
    ...kept,
  ]);
  // A client of gRPC-Web reads no other type; without a body its two forms are one.
  response.edits.set('content-type', sentType.startsWith(webType) ? webType : 'application/grpc');
  response.own = undefined;
}

/** Returns trailers, as text, that end a gRPC response which has begun and cannot be completed. */
export function grpcTrailers(error: ProxyError, detail: ErrorDetail): string {
  const { status, message } = proxyErrors[error.type];
  const why = detail === 'minimal' ? error.type : `${error.type}: ${error.message ?? message}`;
  return `grpc-status: ${grpcStatus(status, error.type)}\r\ngrpc-message: ${percentEncoded(why)}\r\n`;
}

const statuses: Readonly<Record<number, number>> = { 401: 16, 403: 7, 429: 8, 502: 14, 503: 14, 504: 4 };

function grpcStatus(status: number, type: string): number {
  if (status === 404 && type === 'no_route') return 12;
  return statuses[status] ?? (status >= 400 && status < 500 ? 3 : 13);
}

interface Reason {
  /** Type of a proxy error; empty for a middleware's response. */
  readonly type: string;
  readonly message: string;
}

function reasonIn({ own }: ExchangeResponse): Reason {
  const text = own === undefined ? '' : Buffer.from(own).toString('utf8').slice(0, messageMax);
  const { error, message } = parsed(text);
  if (typeof error !== 'string') return { type: '', message: text.trim() };
  return { type: error, message: typeof message === 'string' ? `${error}: ${message}` : error };
}

function parsed(text: string): { error?: unknown; message?: unknown } {
  if (!text.startsWith('{')) return {};
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Encodes UTF-8 bytes outside of visible ASCII, and `%`, as `%XX` (gRPC over HTTP/2, Status-Message). */
function percentEncoded(text: string): string {
  let out = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    out += byte >= 0x20 && byte < 0x7f && byte !== 0x25 ? String.fromCharCode(byte) : hex(byte);
  }
  return out;
}

const hex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
