// Regular expressions that other programs look for anywhere in a path, as those of Sluice, which begin at its beginning.

/** Returns the expression for `pathRegex`. A caret at its beginning binds its first alternative alone. */
export const fromBeginning = (pattern: string): string =>
  pattern.startsWith('^') && !hasAlternatives(pattern) ? pattern.slice(1) : `.*(?:${pattern})`;

/** Escaped characters, and classes of characters, in which a bar stands for itself. */
const literals = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gs;

/** Returns whether the expression has alternatives that no group holds. */
function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  for (const letter of pattern.replace(literals, '')) {
    if (letter === '|' && depth === 0) return true;
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
  }
  return false;
}
