// Edits between two versions of a list of entities. Lists of a hundred thousand share nearly all of their objects, so
// that finding one change is a comparison of pointers.

export interface ListEdit<T> {
  /** Place in the former list. */
  readonly at: number;
  /** Items from there on that are removed, in their order. */
  readonly removed: readonly T[];
  /** Items of the new list in their place. */
  readonly inserted: readonly T[];
}

interface Identified {
  readonly id: string;
}

/** Items between two pauses. */
const stride = 4096;
/** Pointers are compared so fast that more of them may be. */
const runMax = 65_536;

/**
 * Ascending, no two of them beside each other. Lists that ascend by id give the fewest; any others give some that are true
 * as well. `isSame` is asked of two objects with one id. Default: they never are.
 */
export function* editsBetween<T extends Identified>(
  former: readonly T[],
  next: readonly T[],
  isSame: (one: T, other: T) => boolean = () => false,
): Generator<void, ListEdit<T>[]> {
  const edits: ListEdit<T>[] = [];
  let removed: T[] = [];
  let inserted: T[] = [];
  let from = 0;
  let to = 0;
  const note = (): void => {
    if (removed.length === 0 && inserted.length === 0) return;
    edits.push({ at: from - removed.length, removed, inserted });
    removed = [];
    inserted = [];
  };
  for (let steps = 1; from < former.length || to < next.length; steps++) {
    const same = sameRun(former, from, next, to);
    if (same > 0) {
      note();
      from += same;
      to += same;
      yield;
      continue;
    }
    if (steps % stride === 0) yield;
    const one = former[from];
    const other = next[to];
    if (one !== undefined && other !== undefined && one.id === other.id && isSame(one, other)) {
      note();
      from++;
      to++;
      continue;
    }
    if (one !== undefined && (other === undefined || one.id <= other.id)) {
      removed.push(one);
      from++;
    }
    if (other !== undefined && (one === undefined || other.id <= one.id)) {
      inserted.push(other);
      to++;
    }
  }
  note();
  return edits;
}

/** Counts the items from there on that are the same objects in both lists, up to `runMax`. */
function sameRun<T>(former: readonly T[], from: number, next: readonly T[], to: number): number {
  const most = Math.min(runMax, former.length - from, next.length - to);
  let length = 0;
  while (length < most && former[from + length] === next[to + length]) length++;
  return length;
}

/** The list after edits that take out so many and put in what they name. */
export function* edited<T>(
  former: readonly T[],
  edits: readonly { readonly at: number; readonly removed: number; readonly inserted: readonly T[] }[],
): Generator<void, T[]> {
  const list: T[] = [];
  let from = 0;
  const keep = function* (end: number): Generator<void> {
    while (from < end) {
      const stop = Math.min(end, from + stride);
      for (; from < stop; from++) list.push(former[from] as T);
      yield;
    }
  };
  for (const { at, removed, inserted } of edits) {
    yield* keep(at);
    for (const each of inserted) {
      list.push(each);
      if (list.length % stride === 0) yield;
    }
    from += removed;
  }
  yield* keep(former.length);
  return list;
}
