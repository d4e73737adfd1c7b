// Texts of spans by the semantic conventions: of low cardinality where a client chooses them, and without a
// query.
import type { Attributes } from '@opentelemetry/api';

const known: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'],
]);

/** Longest method that is recorded as sent. */
const originalMax = 32;

/** Method for the name of a span: unknown methods are `HTTP`, for clients may invent any number. */
export const methodName = (method: string): string => (known.has(method) ? method : 'HTTP');

export const methodAttributes = (method: string): Attributes =>
  known.has(method)
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method.slice(0, originalMax) };

const versions = { 'HTTP/1.0': '1.0', 'HTTP/1.1': '1.1', 'HTTP/2.0': '2' } as const;

export const versionOf = (protocol: keyof typeof versions): string => versions[protocol];

export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** Host of `host:port`, or of a host alone, without the brackets of the notation. */
export const hostOf = (authority: string): string => authority.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

/** Port of `host:port`; 0 without one. */
export const portOf = (authority: string): number => Number(/:(\d+)$/.exec(authority)?.[1] ?? 0);
