// Join of a new path and the rest behind the matched part (contract.md §7.2), for rewrites and redirects alike.

import { canonicalLiteral, canonicalPath } from '../../model/canonical-path.ts';
import { type EntryPath, matchedLength } from '../target/path.ts';

/** `replacement` in the place of the part of `path` that `matched` matched, what followed it appended. */
export function replaceMatched(matched: EntryPath, path: string, replacement: string): string {
  const length = Math.max(0, matchedLength(matched, path));
  // The root prefix matches by its slash, which is all there is of the path "/".
  const part = path === '/' ? path : path.slice(0, length);
  return canonicalLike(path, join(replacement, part, path.slice(part.length)));
}

/**
 * `made` in the form that `path` has: a path made of canonical parts need not be canonical itself (`/x/` before `..`).
 * On a listener that only reports, paths are as they were sent, and stay so.
 */
export function canonicalLike(path: string, made: string): string {
  const rooted = made.startsWith('/') ? made : `/${made}`;
  return canonicalPath(path) === path ? (canonicalLiteral(rooted) ?? '/') : rooted;
}

function join(replacement: string, matched: string, rest: string): string {
  if (rest === '') return replacement;
  if (replacement.endsWith('/') && rest.startsWith('/')) return replacement + rest.slice(1);
  const joint = replacement.endsWith('/') || rest.startsWith('/');
  return matched.endsWith('/') && !joint ? `${replacement}/${rest}` : replacement + rest;
}
