// One path per request (architecture.md §6.8): match, expressions, authorization, logs and the upstream all see the
// path that comes out of here, so that no two of them can be made to disagree. Literals of the configuration are
// brought to the same form, and so is every path and URL that the configuration has asked for or sent (contract.md §6.1).
import { domainToASCII } from 'node:url';

const unreserved = /^[A-Za-z0-9\-._~]$/;
const needsWork = /%|\/\/|\/\.|\\|[^\x21-\x7e]/;
const literalNeedsWork = /[%?#]|\/\/|\/\.|\\|[^\x21-\x7e]/;
const unusable = /[^\x21-\x7e]|%(?![0-9a-fA-F]{2})|%00/;

/**
 * Decodes unreserved escapes, upper-cases the others, resolves dot segments and merges slashes. `%2F` and `%5C` stay
 * escapes and never separate; a bare backslash becomes `%5C`, for some take it for a slash.
 * Undefined for what has no canonical form and is answered 400: no leading slash, an invalid escape, `%00`, a control
 * or non-ASCII byte.
 */
export function canonicalPath(raw: string): string | undefined {
  if (raw.charCodeAt(0) !== slash) return undefined;
  if (!needsWork.test(raw)) return raw;
  if (unusable.test(raw)) return undefined;
  return resolve(raw.replaceAll('\\', '%5C').replace(/%[0-9a-fA-F]{2}/g, canonicalEscape));
}

/**
 * A literal `path`, `pathPrefix` or rewrite path in the form in which requests will show it: what cannot stand in a
 * path is escaped first. Undefined for a text with NUL. A text without a leading slash is kept: it matches no request.
 */
export function canonicalLiteral(text: string): string | undefined {
  if (!literalNeedsWork.test(text)) return text;
  const escaped = text
    .replace(strayPercent, '%25')
    .replace(/[^\x21-\x7e]+|[?#]/gu, (found) => (found === '?' ? '%3F' : found === '#' ? '%23' : escapeBytes(found)));
  if (escaped.includes('%00')) return undefined;
  return escaped.startsWith('/') ? canonicalPath(escaped) : escaped;
}

/** A literal that may end in a query: its path as above, and what follows the first `?`, as it is sent. */
export interface LiteralTarget {
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
}

/** Reads a literal path with its query. A path without a slash before it gets one; one with NUL, which no body may hold, is the root. */
export function literalTarget(text: string): LiteralTarget {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    path: canonicalLiteral(path.startsWith('/') ? path : `/${path}`) ?? '/',
    query: mark < 0 ? '' : escapedQuery(text.slice(mark + 1)),
  };
}

/** Target of a request that Sluice itself makes: ASCII, alike over each version of HTTP. */
export function requestTarget(text: string): string {
  const { path, query } = literalTarget(text);
  return query === '' ? path : `${path}?${query}`;
}

/** A query as it may stand in a request line: what is no visible ASCII is escaped, and so is what would begin a fragment. */
export const escapedQuery = (query: string): string =>
  query.replace(/[^\x21-\x7e]+|#/gu, (found) => (found === '#' ? '%23' : escapeBytes(found)));

/**
 * A URL or reference as it stands in Location: as it was written, with everything escaped that is no visible ASCII, and
 * the host as DNS knows it (RFC 3987 §3.1). Undefined when it holds a control character or a host that DNS cannot know.
 */
export function canonicalLocation(url: string): string | undefined {
  if (!url.isWellFormed() || control.test(url)) return undefined;
  const [, scheme = '', authority = '', rest = url] =
    /^((?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const host = asciiAuthority(authority);
  if (host === undefined) return undefined;
  return scheme + host + rest.replace(/[^\x21-\x7e]+/gu, escapeBytes);
}

/** Undefined when DNS cannot know the host. */
function asciiAuthority(authority: string): string | undefined {
  if (/^[\x21-\x7e]*$/.test(authority)) return authority;
  const [, user = '', host = '', port = ''] = /^(.*@)?(.*?)(:\d*)?$/s.exec(authority) ?? [];
  const ascii = domainToASCII(host);
  return ascii === '' || !/^[\x21-\x7e]*$/.test(user) ? undefined : user + ascii + port;
}

const slash = 0x2f;
const strayPercent = /%(?![0-9a-fA-F]{2})/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not stand in a header (RFC 9110 §5.5)
const control = /[\x00-\x1f\x7f]/;

function canonicalEscape(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return unreserved.test(character) ? character : triplet.toUpperCase();
}

const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

function resolve(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const last = segments.at(-1);
  const directory = last === '' || last === '.' || last === '..';
  return kept.length === 0 ? '/' : `/${kept.join('/')}${directory ? '/' : ''}`;
}
