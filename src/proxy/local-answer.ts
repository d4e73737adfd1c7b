// Answers that need no upstream: redirects and direct responses (contract.md §7.8), and how a new path takes the
// place of the matched one (contract.md §7.2).
import type { DirectResponse, Redirect } from '../model/route.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
}

/** The request as an answer needs it; `query` with its `?`, or empty. */
export interface AnswerSubject {
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  /** Length of the part of `path` that matched; all of it where the remainder is not carried over. */
  readonly matchedLength: number;
}

export function redirectAnswer(redirect: Redirect, subject: AnswerSubject): LocalAnswer {
  const location = redirect.url || redirectTarget(redirect, subject);
  return { status: redirect.code || 301, fields: ['Location', location], body: '' };
}

export function directAnswer({ status, body = '' }: DirectResponse): LocalAnswer {
  const bodiless = body === '' || status === 204 || status === 304;
  if (bodiless) return { status, fields: [], body: '' };
  return { status, fields: ['Content-Type', contentTypeOf(body)], body };
}

/** `rest` is what followed the matched part; one slash stays at the joint. */
export function joinPath(replacement: string, matched: string, rest: string): string {
  const joined =
    rest === ''
      ? replacement
      : replacement.endsWith('/') && rest.startsWith('/')
        ? replacement + rest.slice(1)
        : matched.endsWith('/') && !replacement.endsWith('/') && !rest.startsWith('/')
          ? `${replacement}/${rest}`
          : replacement + rest;
  return joined.startsWith('/') ? joined : `/${joined}`;
}

function redirectTarget(redirect: Redirect, { scheme, authority, path, query, matchedLength }: AnswerSubject): string {
  const newPath =
    redirect.path === undefined || redirect.path === ''
      ? path
      : redirect.path === '/'
        ? '/'
        : joinPath(redirect.path, path.slice(0, matchedLength), path.slice(matchedLength));
  const tail = newPath + (redirect.stripQuery === true ? '' : query);
  if (!redirect.scheme && !redirect.host) return tail;
  const newScheme = redirect.scheme || scheme;
  const host = redirect.host || (newScheme === scheme ? authority : withoutDefaultPort(authority, scheme));
  return `${newScheme}://${host}${tail}`;
}

const withoutDefaultPort = (authority: string, scheme: 'http' | 'https'): string =>
  authority.replace(scheme === 'http' ? /:80$/ : /:443$/, '');

function contentTypeOf(body: string): string {
  if (isJson(body)) return 'application/json';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

function isJson(body: string): boolean {
  if (!/^\s*[[{]/.test(body)) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}
