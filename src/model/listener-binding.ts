// Bindings of routes and groups to listeners: ids of listeners and of their sections, and what is left of those of a
// group and of a route together (contract.md §6.3).

/** Returns the id of the listener in `<listener>` or `<listener>/<section>`. */
export function listenerIn(binding: string): string {
  const slash = binding.indexOf('/');
  return slash < 0 ? binding : binding.slice(0, slash);
}

/** Returns the binding of a section, as `listenerIds` name it. */
export const sectionBinding = (listenerId: string, section: string): string => `${listenerId}/${section}`;

/**
 * Returns the bindings that both lists admit; an empty list admits all. Undefined: all listeners. An empty result: none
 * is in both.
 */
export function commonBindings(
  one: readonly string[] = [],
  other: readonly string[] = [],
): readonly string[] | undefined {
  if (one.length === 0) return other.length === 0 ? undefined : [...new Set(other)];
  if (other.length === 0) return [...new Set(one)];
  const common = new Set<string>();
  for (const first of one) {
    for (const second of other) {
      if (first === second || first === listenerIn(second)) common.add(second);
      else if (second === listenerIn(first)) common.add(first);
    }
  }
  return [...common];
}
