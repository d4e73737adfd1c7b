// Difference of two sets of entities: created, changed field by field, deleted. Pure, and free of the state: the API, the
// command line and dry runs describe a change by the same function.
import { isDeepStrictEqual } from 'node:util';
import type { ChangedName, EntityDifference, FieldChange } from './answers/entity-difference.ts';
import { isObject } from './json-object.ts';
import type { EditableKind } from './kinds.ts';
import { pointerOf } from './problem.ts';

/** One version of an entity. */
export interface Version {
  readonly id: string;
  readonly name: string;
  readonly owner?: string | undefined;
  /** Its fields, asked for only where two versions may differ. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Two versions of one entity; undefined where the set has none. */
export interface Pair<K extends EditableKind = EditableKind> {
  readonly kind: K;
  readonly before: Version | undefined;
  readonly after: Version | undefined;
}

/** Text in the place of a value that must not be shown. */
const masked = '***';

/** Describes the pairs that differ, in their order; yields after each, and where they are undefined. Values of secrets are `***`. */
export function* differenceOf(pairs: Iterable<Pair | undefined>): Generator<void, EntityDifference> {
  const created: ChangedName[] = [];
  const changed: EntityDifference['changed'][number][] = [];
  const deleted: ChangedName[] = [];
  for (const pair of pairs) {
    yield;
    if (pair === undefined) continue;
    const { kind, before, after } = pair;
    if (before === undefined && after !== undefined) created.push(nameOf(kind, after));
    else if (before !== undefined && after === undefined) deleted.push(nameOf(kind, before));
    else if (before !== undefined && after !== undefined && before !== after) {
      const changes = fieldChanges(before.spec, after.spec);
      if (changes.length > 0) changed.push({ ...nameOf(kind, after), changes: shown(kind, changes) });
    }
  }
  return { created, changed, deleted };
}

/** Pairs two lists of one kind, both ascending by id. `isSame` spares versions that it knows to be alike. */
export function* pairsOf<K extends EditableKind, V extends Version>(
  kind: K,
  from: readonly V[],
  to: readonly V[],
  isSame: (a: V, b: V) => boolean = (a, b) => a === b,
): Generator<{ readonly kind: K; readonly before: V | undefined; readonly after: V | undefined }> {
  let at = 0;
  for (const after of to) {
    for (let old = from[at]; old !== undefined && old.id < after.id; old = from[++at])
      yield { kind, before: old, after: undefined };
    const before = from[at]?.id === after.id ? from[at++] : undefined;
    if (before === undefined || !isSame(before, after)) yield { kind, before, after };
  }
  for (const before of from.slice(at)) yield { kind, before, after: undefined };
}

/** Changes between two values, by field. Lists of objects with names or ids are compared element by element. */
export function fieldChanges(from: unknown, to: unknown, pointer = ''): FieldChange[] {
  if (isObject(from) && isObject(to)) {
    const names = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...names].flatMap((name) => fieldChanges(from[name], to[name], pointer + pointerOf(name)));
  }
  if (isDeepStrictEqual(from, to)) return [];
  const inside = Array.isArray(from) && Array.isArray(to) ? elementChanges(from, to, pointer) : undefined;
  return inside ?? [{ pointer, from: from ?? null, to: to ?? null }];
}

/** Undefined: the lists can only be compared as a whole. */
function elementChanges(from: readonly unknown[], to: readonly unknown[], pointer: string): FieldChange[] | undefined {
  const old = keysOf(from);
  const now = keysOf(to);
  if (old === undefined || now === undefined) return undefined;
  const stayed = (keys: readonly string[], others: readonly string[]) => keys.filter((key) => others.includes(key));
  // The order of a list often means something: a moved element is a change of the list.
  if (!isDeepStrictEqual(stayed(old, now), stayed(now, old))) return undefined;
  const removed = old.flatMap((key, at) =>
    now.includes(key) ? [] : [{ pointer: pointer + pointerOf(at), from: from[at], to: null }],
  );
  const kept = now.flatMap((key, at) => {
    const was = old.indexOf(key);
    return fieldChanges(was < 0 ? undefined : from[was], to[at], pointer + pointerOf(at));
  });
  return [...removed, ...kept];
}

/** Elements above which lists are compared as a whole: the search for keys is quadratic. */
const keyedMax = 200;
const keyFields = ['id', 'destinationId', 'name', 'key', 'host'] as const;

/** Keys that tell the elements apart; undefined where they do not. */
function keysOf(list: readonly unknown[]): readonly string[] | undefined {
  if (list.length > keyedMax) return undefined;
  const keys: string[] = [];
  for (const element of list) {
    if (!isObject(element)) return undefined;
    const field = keyFields.find((each) => typeof element[each] === 'string');
    if (field === undefined) return undefined;
    keys.push(JSON.stringify([field, element[field], field === 'host' ? element.port : null]));
  }
  return new Set(keys).size === keys.length ? keys : undefined;
}

const nameOf = (kind: EditableKind, { id, name, owner }: Version): ChangedName => ({
  kind,
  id,
  name,
  ...(owner !== undefined && { owner }),
});

const shown = (kind: EditableKind, changes: readonly FieldChange[]): readonly FieldChange[] =>
  kind === 'secrets'
    ? changes.map((change) => (change.pointer === '/value' ? { ...change, from: masked, to: masked } : change))
    : changes;
