// Sliced sort: a table of 100,000 entries, or 20,000 changes of one commit, takes longer to sort than a request may
// wait.

const runLength = 1024;

/** Sorts a copy; yields about every thousand comparisons. Equal items keep their order. */
export function* slicedSort<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let sorted: T[] = [];
  for (let start = 0; start < items.length; start += runLength) {
    sorted.push(...items.slice(start, start + runLength).sort(compare));
    yield;
  }
  for (let width = runLength; width < items.length; width *= 2) {
    const merged: T[] = [];
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = start + width;
      yield* merge(sorted.slice(start, middle), sorted.slice(middle, middle + width), merged, compare);
    }
    sorted = merged;
  }
  return sorted;
}

/** Merges two sorted lists; of equal items those of the first come first. */
export function* mergeSorted<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, T[]> {
  const merged: T[] = [];
  yield* merge(first, second, merged, compare);
  return merged;
}

/** Appends the merged items of two sorted lists to `into`. */
function* merge<T>(
  first: readonly T[],
  second: readonly T[],
  into: T[],
  compare: (a: T, b: T) => number,
): Generator<void> {
  const [last, head] = [first.at(-1), second[0]];
  const isInOrder = last !== undefined && head !== undefined && compare(head, last) >= 0;
  let next = 0;
  for (const item of first) {
    let other = isInOrder ? undefined : second[next];
    for (; other !== undefined && compare(other, item) < 0; other = second[++next]) {
      into.push(other);
      if (into.length % runLength === 0) yield;
    }
    into.push(item);
    if (into.length % runLength === 0) yield;
  }
  for (; next < second.length; next++) {
    const other = second[next];
    if (other !== undefined) into.push(other);
    if (into.length % runLength === 0) yield;
  }
}
