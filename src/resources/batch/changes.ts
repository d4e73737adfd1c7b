// Changes between two versions of an entity, as JSON pointers, for the dry run of an update. Values are not shown,
// for they may be secrets.
import { isObject } from '../../model/json-object.ts';
import { pointerOf } from '../../model/problem.ts';

/** Returns the pointers of the changes. A list is compared as a whole: a moved element would give many pointers. */
export function changesBetween(before: unknown, after: unknown, pointer = ''): string[] {
  if (!isObject(before) || !isObject(after)) return isSame(before, after) ? [] : [pointer];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => changesBetween(before[name], after[name], pointer + pointerOf(name)));
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
