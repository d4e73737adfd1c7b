// Test for one path below another, as texts: links have been resolved before.
import { isAbsolute, relative, sep } from 'node:path';

/** Returns whether `path` is below `base`, and not `base` itself. Both absolute. */
export function isBelow(base: string, path: string): boolean {
  const way = relative(base, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
