// Paths of the API and the methods of each, so that a known path with another method is 405 and not 404.

export class OperationPaths {
  readonly #paths = new Map<string, { readonly matches: (path: string) => boolean; readonly methods: Set<string> }>();

  /**
   * @param pattern a path with `:name` segments, and `*` for any rest.
   * @param rests the existing rests, where not every rest exists.
   */
  add(pattern: string, methods: readonly string[], rests?: ReadonlySet<string>): void {
    const known = this.#paths.get(pattern) ?? { matches: matcher(pattern, rests), methods: new Set<string>() };
    for (const method of methods) known.methods.add(method);
    this.#paths.set(pattern, known);
  }

  /** Returns the methods of the path of a request target, ascending; empty when there is no such path. */
  methodsOf(target: string): readonly string[] {
    const path = routedPath(target);
    const methods = [...this.#paths.values()].filter(({ matches }) => matches(path)).flatMap((one) => [...one.methods]);
    return [...new Set(methods)].sort();
  }
}

/** The path as the router reads it: without what makes a target absolute, and without escapes where none is needed. */
function routedPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*(?=\/)/i, '').split(/[?#]/, 1)[0] ?? '';
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path.replaceAll('%25', '%2525'));
  } catch {
    return path;
  }
}

function matcher(pattern: string, rests: ReadonlySet<string> | undefined): (path: string) => boolean {
  const expected = pattern.split('/');
  const open = expected.at(-1) === '*';
  const fixed = open ? expected.slice(0, -1) : expected;
  return (path) => {
    const segments = path.split('/');
    const fits = open ? segments.length > fixed.length : segments.length === fixed.length;
    if (open && rests !== undefined && !rests.has(segments.slice(fixed.length).join('/'))) return false;
    return (
      fits && fixed.every((segment, at) => (segment.startsWith(':') ? segments[at] !== '' : segment === segments[at]))
    );
  };
}
