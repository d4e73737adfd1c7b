// Sorting in steps: a table of 100,000 entries takes longer to sort than a request may wait.

const runLength = 1024;

/** Sorts a copy; yields about every thousand comparisons. Equal items keep their order. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let sorted: T[] = [];
  for (let start = 0; start < items.length; start += runLength) {
    sorted.push(...items.slice(start, start + runLength).sort(compare));
    yield;
  }
  for (let width = runLength; width < items.length; width *= 2) {
    const merged: T[] = [];
    for (let start = 0; start < sorted.length; start += 2 * width) {
      yield* merge(sorted, start, Math.min(start + width, sorted.length), start + 2 * width, merged, compare);
    }
    sorted = merged;
  }
  return sorted;
}

/** Two sorted lists as one; of equal items those of the first come first. */
export function* mergeSorted<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, T[]> {
  const merged: T[] = [];
  yield* merge([...first, ...second], 0, first.length, first.length + second.length, merged, compare);
  return merged;
}

/** Two sorted neighbours, [left, middle) and [middle, end), appended to `into`. */
function* merge<T>(
  from: readonly T[],
  left: number,
  middle: number,
  end: number,
  into: T[],
  compare: (a: T, b: T) => number,
): Generator<void> {
  const right = from.slice(middle, end);
  let next = 0;
  for (let i = left; i < middle; i++) {
    const item = from[i];
    if (item === undefined) continue;
    for (let other = right[next]; other !== undefined && compare(other, item) < 0; other = right[++next]) {
      into.push(other);
    }
    into.push(item);
    if (into.length % runLength === 0) yield;
  }
  for (; next < right.length; next++) {
    const other = right[next];
    if (other !== undefined) into.push(other);
  }
}
