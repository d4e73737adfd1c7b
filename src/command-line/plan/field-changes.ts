// Field changes between two versions of a resource: what was, what is, and where. Lists of objects with ids or names are
// compared element by element, others by place.
import { isDeepStrictEqual } from 'node:util';
import { pointerOf } from '../../model/problem.ts';

export interface FieldChange {
  readonly pointer: string;
  /** Undefined: absent. */
  readonly from?: unknown;
  readonly to?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

export function fieldChanges(from: Fields, to: Fields): FieldChange[] {
  const found: FieldChange[] = [];
  compareFields(from, to, '', found);
  return found;
}

function compareFields(from: Fields, to: Fields, pointer: string, found: FieldChange[]): void {
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    compare(from[key], to[key], pointer + pointerOf(key), found);
}

function compare(from: unknown, to: unknown, pointer: string, found: FieldChange[]): void {
  if (isFields(from) && isFields(to)) compareFields(from, to, pointer, found);
  // An absent object has no fields; an empty one is told as it is.
  else if (from === undefined && isFilled(to)) compareFields({}, to, pointer, found);
  else if (to === undefined && isFilled(from)) compareFields(from, {}, pointer, found);
  else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
    for (const [at, each] of from.entries()) compare(each, to[at], pointer + pointerOf(at), found);
  else if (!isDeepStrictEqual(from, to))
    found.push({ pointer, ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
}

const isFilled = (value: unknown): value is Fields => isFields(value) && Object.keys(value).length > 0;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
