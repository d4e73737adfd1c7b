// Path of an entry: the group's part and the route's part composed (contract.md §6.2 with architecture.md §6.7–8).
// Literals compose by concatenation and are matched by whole segments; a path with a regex is anchored at its start.
import { compileRegex, quoteRegex, type Regex } from '../../expression/regex.ts';
import { canonicalLiteral } from '../../model/canonical-path.ts';

type PathPart = 'exact' | 'prefix' | 'regex' | 'none';

export interface EntryPath {
  /** Type for ordering: a composed regex ranks as regex even when the route's part was exact. */
  readonly type: 'exact' | 'prefix' | 'regex';
  /** Canonical path, canonical prefix without trailing slash, or the composed pattern without its leading `^`. */
  readonly text: string;
  /** Path part of the route alone; decides how a redirect joins paths (contract.md §7.8). */
  readonly routePart: PathPart;
  /** True when the pattern ends with the slash after a whole segment, which belongs to the rest of the path. */
  readonly endsAtSegment: boolean;
}

export interface PathSource {
  readonly pathPrefix?: string | undefined;
  readonly pathRegex?: string | undefined;
  readonly path?: string | undefined;
}

/** Invalid path, with the field that holds the problem. */
export interface PathProblem {
  readonly type: 'problem';
  readonly of: 'group' | 'route';
  readonly field: 'path' | 'pathPrefix' | 'pathRegex';
  readonly message: string;
}

export function composePath(group: PathSource, route: PathSource): EntryPath | PathProblem {
  const problem = problemIn('group', group) ?? problemIn('route', route);
  if (problem) return problem;
  const path = compose(group, route, partOf(route));
  const message = path.type === 'regex' ? messageOf(() => regexOf(path.text)) : undefined;
  if (message === undefined) return path;
  return route.pathRegex === undefined
    ? { type: 'problem', of: 'group', field: 'pathRegex', message }
    : { type: 'problem', of: 'route', field: 'pathRegex', message };
}

function compose(group: PathSource, route: PathSource, routePart: PathPart): EntryPath {
  if (group.pathRegex !== undefined) return underRegex(bare(group.pathRegex), route, routePart);
  const prefix = group.pathPrefix ?? '';
  if (route.pathRegex !== undefined) {
    return regexPath(`${quoteRegex(literal(prefix))}(?:${bare(route.pathRegex)})`, routePart);
  }
  if (route.path !== undefined) return literalPath('exact', literal(prefix + route.path), routePart);
  return literalPath('prefix', withoutTrailingSlash(literal(`${prefix}${route.pathPrefix ?? ''}` || '/')), routePart);
}

/** Returns the length of the part of `path` that matched, or -1 when it does not match. */
export function matchedLength({ type, text, endsAtSegment }: EntryPath, path: string): number {
  if (type === 'exact') return path === text ? text.length : -1;
  if (type === 'prefix') return isPrefix(text, path) ? text.length : -1;
  const length = regexOf(text).matchedAtStart(path);
  return endsAtSegment && length > 0 && path[length - 1] === '/' ? length - 1 : length;
}

/**
 * Returns whether a path begins with a prefix of whole segments: `/api` is a prefix of `/api`, `/api/` and `/api/x`.
 */
const isPrefix = (prefix: string, path: string): boolean =>
  path.startsWith(prefix) && path.startsWith('/') && (path.length === prefix.length || path[prefix.length] === '/');

/** Compiles a composed pattern; it may be longer than the limit for one pattern. */
const regexOf = (text: string): Regex => compileRegex(text, 1 << 16);

const partOf = ({ path, pathPrefix, pathRegex }: PathSource): PathPart => {
  if (path !== undefined) return 'exact';
  if (pathPrefix !== undefined) return 'prefix';
  return pathRegex === undefined ? 'none' : 'regex';
};

function underRegex(start: string, route: PathSource, routePart: PathPart): EntryPath {
  if (route.pathRegex !== undefined) return regexPath(`(?:${start})(?:${bare(route.pathRegex)})`, routePart);
  if (route.path !== undefined) return regexPath(`(?:${start})(?:${quoteRegex(literal(route.path))})$`, routePart);
  if (route.pathPrefix === undefined) return regexPath(`(?:${start})`, routePart);
  const prefix = withoutTrailingSlash(literal(route.pathPrefix));
  return { ...regexPath(`(?:${start})(?:${quoteRegex(prefix)})(?:/|$)`, routePart), endsAtSegment: true };
}

const literalPath = (type: 'exact' | 'prefix', text: string, routePart: PathPart): EntryPath => ({
  type,
  text,
  routePart,
  endsAtSegment: false,
});

const regexPath = (text: string, routePart: PathPart): EntryPath => ({
  type: 'regex',
  text,
  routePart,
  endsAtSegment: false,
});

/** Returns the pattern without one leading `^`, unless it is repeated, `^*a`: the rest would repeat nothing. */
const bare = (pattern: string): string => pattern.replace(/^\^(?![*+?]|\{[0-9]+(,[0-9]*)?\})/, '');
const withoutTrailingSlash = (prefix: string): string => (prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
const literal = (text: string): string => canonicalLiteral(text) ?? text;

/** Checks each pattern by itself: `a)(b` would be valid only inside the groups that composing puts around it. */
function problemIn(of: 'group' | 'route', source: PathSource): PathProblem | undefined {
  for (const field of ['path', 'pathPrefix'] as const) {
    const text = source[field];
    if (text !== undefined && canonicalLiteral(text) === undefined)
      return { type: 'problem', of, field, message: 'holds a NUL' };
  }
  const { pathRegex } = source;
  const message = pathRegex === undefined ? undefined : messageOf(() => compileRegex(pathRegex));
  return message === undefined ? undefined : { type: 'problem', of, field: 'pathRegex', message };
}

function messageOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
