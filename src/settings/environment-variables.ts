// Puts environment variables into the text of the settings file before it is parsed (contract.md §1.1), so that they
// may stand anywhere, unquoted numbers included.

const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * `${NAME}` becomes the variable's value, empty when unset; `${NAME:-text}` falls back to `text` when unset or empty;
 * `$${` becomes `${`. A bare `$NAME`, `$$` and a lone `$` stay: passwords contain them.
 */
export function expand(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  return text.replace(reference, (whole, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return whole.slice(1);
    const value = environment[name] ?? '';
    return value === '' ? (fallback ?? '') : value;
  });
}

/** Variables without a text to fall back to that are not set, by name; those of lines that are comments are left out. */
export function unsetIn(text: string, environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = new Set<string>();
  for (const [, name, fallback] of text.replace(/^\s*#.*$/gm, '').matchAll(reference)) {
    if (name !== undefined && fallback === undefined && environment[name] === undefined) names.add(name);
  }
  return [...names];
}
