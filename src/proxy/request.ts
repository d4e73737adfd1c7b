// A request as it arrived, read once (architecture.md §6.8, §6.9): what match, action and forwarded fields look at.
import type { IncomingMessage } from 'node:http';
import { canonicalPath } from './canonical-path.ts';
import type { TrustedProxies } from './client-address.ts';
import type { Sender } from './field-lines.ts';
import { type ProxyError, proxyError } from './proxy-error.ts';
import type { Question } from './table.ts';

export interface RequestLimits {
  /** Sum of name and value lengths in bytes; 0 = none below the parser's own 1 MiB. */
  readonly headerBytesMax: number;
  readonly headerLinesMax: number;
  readonly pathNormalization: 'enforce' | 'report';
}

export interface ReadRequest {
  readonly question: Question;
  readonly sender: Sender;
  /** With its `?`, or empty. */
  readonly query: string;
}

/** The request, or why it is refused. A refused one is answered and its connection closed. */
export function readRequest(
  message: IncomingMessage,
  limits: RequestLimits,
  trusted: TrustedProxies,
): ReadRequest | ProxyError {
  const { rawHeaders } = message;
  if (rawHeaders.length / 2 > limits.headerLinesMax) return proxyError('request_headers_too_large');
  if (limits.headerBytesMax > 0 && rawHeaders.reduce((sum, text) => sum + text.length, 0) > limits.headerBytesMax)
    return proxyError('request_headers_too_large');
  const target = splitTarget(message.url ?? '');
  const authority = target?.authority ?? message.headers.host ?? '';
  const host = hostOf(authority);
  const hosts = message.headersDistinct.host?.length ?? 0;
  if (target === undefined || hosts > 1 || (host === undefined && authority !== '')) return proxyError('bad_request');
  const path = target.path === '*' ? '*' : canonicalPath(target.path);
  if (path === undefined) return proxyError('bad_request');
  const header = (name: string): string | undefined => message.headersDistinct[name]?.[0];
  const peer = message.socket.remoteAddress ?? '';
  const address = trusted.locate(peer, message.headersDistinct['x-forwarded-for']?.join(','));
  return {
    question: {
      method: message.method ?? '',
      host: host ?? '',
      path: limits.pathNormalization === 'report' ? target.path : path,
      query: target.query.slice(1),
      header,
    },
    sender: { ...address, scheme: 'http', authority },
    query: target.query,
  };
}

interface Target {
  readonly path: string;
  readonly query: string;
  /** Of an absolute-form target; it outranks `Host` (RFC 9112 §3.2.2). */
  readonly authority?: string;
}

function splitTarget(url: string): Target | undefined {
  if (/[^\x21-\x7e]/.test(url)) return undefined;
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
  const rest = absolute === null ? url : absolute[2] || '/';
  if (rest.includes('#')) return undefined;
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark);
  if (absolute === null) return { path, query };
  return { path: path === '' ? '/' : path, query, authority: absolute[1] ?? '' };
}

const authorityForm = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9\-._~!$&'()*+,;=%]+)(?::(\d{0,5}))?$/;

/** Lower-case host without port; undefined for user information, a port over 65535 and other malformed text. */
function hostOf(authority: string): string | undefined {
  const parts = authorityForm.exec(authority);
  if (parts === null || Number(parts[2] ?? 0) > 65_535) return undefined;
  return parts[1]?.toLowerCase();
}
