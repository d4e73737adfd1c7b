// Paths of the API and the methods of each, so that a known path with another method is 405 and not 404.

export class OperationPaths {
  readonly #paths = new Map<string, { readonly matches: (path: string) => boolean; readonly methods: Set<string> }>();

  /** @param pattern a path with `:name` segments, and `*` for any rest. */
  add(pattern: string, methods: readonly string[]): void {
    const known = this.#paths.get(pattern) ?? { matches: matcher(pattern), methods: new Set<string>() };
    for (const method of methods) known.methods.add(method);
    this.#paths.set(pattern, known);
  }

  /** Methods of the path, ascending; empty when there is no such path. */
  methodsOf(path: string): readonly string[] {
    const methods = [...this.#paths.values()].filter(({ matches }) => matches(path)).flatMap((one) => [...one.methods]);
    return [...new Set(methods)].sort();
  }
}

function matcher(pattern: string): (path: string) => boolean {
  const expected = pattern.split('/');
  const open = expected.at(-1) === '*';
  const fixed = open ? expected.slice(0, -1) : expected;
  return (path) => {
    const segments = path.split('/');
    const fits = open ? segments.length > fixed.length : segments.length === fixed.length;
    return (
      fits && fixed.every((segment, at) => (segment.startsWith(':') ? segments[at] !== '' : segment === segments[at]))
    );
  };
}
