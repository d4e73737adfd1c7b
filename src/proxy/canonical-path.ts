// One path per request (architecture.md §6.8): match, rewrite and forward all see the path that comes out of here,
// so that no two of them can be made to disagree.

const unreserved = /^[A-Za-z0-9\-._~]$/;
const needsWork = /%|\/\/|\/\.|\\|[^\x21-\x7e]/;

/**
 * Decodes unreserved escapes, upper-cases the rest, resolves dot segments and merges slashes; `%2F` and `%5C` stay,
 * and a bare backslash becomes `%5C`, for some would take it for a slash.
 * Undefined for what has no canonical form: no leading slash, an invalid escape, `%00`, a control or non-ASCII byte.
 */
export function canonicalPath(raw: string): string | undefined {
  if (!raw.startsWith('/')) return undefined;
  if (!needsWork.test(raw)) return raw;
  if (/[^\x21-\x7e]|%(?![0-9a-fA-F]{2})|%00/.test(raw)) return undefined;
  const decoded = raw.replaceAll('\\', '%5C').replace(/%[0-9a-fA-F]{2}/g, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return unreserved.test(character) ? character : triplet.toUpperCase();
  });
  return resolveDots(decoded);
}

function resolveDots(path: string): string {
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
