// Filters of lists by owner and labels, for entities and snapshots alike.
import type { ListFilter } from './query.ts';

interface Marked {
  readonly owner?: string | undefined;
}

/**
 * Yields the items that pass. `labelsOf` is asked only where labels are filtered for: it may have to parse.
 */
export function* filtered<T extends Marked>(
  items: Iterable<T>,
  { owner, labels }: ListFilter,
  labelsOf: (item: T) => unknown,
): Generator<T> {
  for (const item of items) {
    if (owner !== undefined && item.owner !== owner) continue;
    if (labels.length > 0 && !hasAll(labelsOf(item), labels)) continue;
    yield item;
  }
}

/** A wanted label is a key, or a key and its value around `=`. */
function hasAll(labels: unknown, wanted: readonly string[]): boolean {
  if (typeof labels !== 'object' || labels === null) return false;
  const entries = Object.entries(labels);
  return wanted.every((text) => entries.some(([key, value]) => key === text || `${key}=${value}` === text));
}
