// Texts of spans as the semantic conventions want them: of few different values where a client chooses, and without a
// query.
import type { Attributes } from '@opentelemetry/api';

const known: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'],
]);

/** Longest method that is told as it came. */
const originalMax = 32;

/** For the name of a span: clients may invent any number of methods. */
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

/** 0 where none is named. */
export const portOf = (authority: string): number => Number(/:(\d+)$/.exec(authority)?.[1] ?? 0);
