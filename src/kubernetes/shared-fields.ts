// One copy of what versions of an object have in common: a change of status leaves the specification as it was.

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns `after`, its parts that are the same in `before` taken from there. Both are JSON values. */
export function withSharedParts<T>(before: unknown, after: T): T {
  return shared(before, after) as T;
}

function shared(before: unknown, after: unknown): unknown {
  if (before === after) return before;
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = after.map((item, at) => shared(before[at], item));
    return items.length === before.length && items.every((item, at) => item === before[at]) ? before : items;
  }
  if (!isFields(before) || !isFields(after)) return after;
  const former = (name: string): unknown => (Object.hasOwn(before, name) ? before[name] : undefined);
  const entries = Object.entries(after).map(([name, value]) => [name, shared(former(name), value)] as const);
  const isSame =
    entries.length === Object.keys(before).length && entries.every(([name, value]) => value === former(name));
  return isSame ? before : Object.fromEntries(entries);
}
