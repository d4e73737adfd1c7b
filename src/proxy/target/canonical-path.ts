// One path per request (architecture.md §6.8): match, expressions, authorization, logs and the upstream all see the
// path that comes out of here, so that no two of them can be made to disagree. Literals of the configuration are
// brought to the same form.

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
    .replace(/%(?![0-9a-fA-F]{2})/g, '%25')
    .replace(/[^\x21-\x7e]+|[?#]/gu, (found) => (found === '?' ? '%3F' : found === '#' ? '%23' : escapeBytes(found)));
  if (escaped.includes('%00')) return undefined;
  return escaped.startsWith('/') ? canonicalPath(escaped) : escaped;
}

const slash = 0x2f;

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
