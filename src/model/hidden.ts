// Marks in the entities of a configuration whose strings came from secrets, by which the parts that show them know. Strings
// that are there to be shown and for nothing else are `***` from here on: names, and fields of access logs.
import { type ConfigKind, perKind } from './kinds.ts';
import { pointerOf } from './problem.ts';
import type { Configuration, ProxyConfig } from './proxy-config.ts';
import { mask } from './secret-texts.ts';

/** No schema has a field of that name. */
const mark = '#hidden';

/** Returns whether the string at a JSON pointer from the entity, or a string below it, came from a secret. */
export function hides(entity: object, pointer: string): boolean {
  const hidden: unknown = Reflect.get(entity, mark);
  if (!Array.isArray(hidden)) return false;
  return hidden.some((each) => each === pointer || String(each).startsWith(`${pointer}/`));
}

const marked = new WeakMap<Configuration, Configuration>();

/** The same configuration for the same one. Entities without secrets are the objects that they were. */
export function markHidden(config: ProxyConfig): ProxyConfig {
  const { snapshot, secrets = [], textOf } = config;
  if (secrets.length === 0) return config;
  const pointers = byPlace(secrets);
  return {
    ...config,
    snapshot: hiddenIn(snapshot, secrets, pointers),
    ...(textOf && { textOf: (kind, place) => (pointers[kind].has(place) ? undefined : textOf(kind, place)) }),
  };
}

/** The same of a configuration that is not for a proxy. `secrets`: as in ProxyConfig. */
export function hiddenIn(
  snapshot: Configuration,
  secrets: readonly string[],
  pointers = byPlace(secrets),
): Configuration {
  const found = marked.get(snapshot) ?? withMarks(snapshot, pointers);
  marked.set(snapshot, found);
  return found;
}

type Pointers = Readonly<Record<ConfigKind, Map<number, string[]>>>;

/** By kind and place in its list. */
function byPlace(secrets: readonly string[]): Pointers {
  const pointers = perKind(() => new Map<number, string[]>());
  for (const secret of secrets) {
    const [, kind = '', place = '', rest = ''] = /^\/snapshot\/([a-zA-Z]+)\/(\d+)(\/.*)$/.exec(secret) ?? [];
    if (!Object.hasOwn(pointers, kind)) continue;
    const known = pointers[kind as ConfigKind];
    known.set(Number(place), [...(known.get(Number(place)) ?? []), rest]);
  }
  return pointers;
}

const withMarks = (snapshot: Configuration, pointers: Pointers): Configuration => ({
  ...snapshot,
  listeners: markedIn(snapshot.listeners, pointers.listeners),
  destinations: markedIn(snapshot.destinations, pointers.destinations),
  routes: markedIn(snapshot.routes, pointers.routes),
  groups: markedIn(snapshot.groups, pointers.groups),
  middlewares: markedIn(snapshot.middlewares, pointers.middlewares),
});

function markedIn<T extends { readonly name: string }>(
  list: readonly T[],
  pointers: ReadonlyMap<number, readonly string[]>,
): readonly T[] {
  if (pointers.size === 0) return list;
  const copy = list.slice();
  for (const [place, hidden] of pointers) {
    const entity = list[place];
    if (entity === undefined) continue;
    copy[place] = { ...(withMasks(entity, hidden.filter(isOnlyShown), '') as T), [mark]: hidden };
  }
  return copy;
}

const isOnlyShown = (pointer: string): boolean =>
  pointer === '/name' || /^\/accessLog\/(onRequest|onResponse)\/fields\//.test(pointer);

/** A copy with the strings at these pointers masked. */
function withMasks(value: unknown, pointers: readonly string[], at: string): unknown {
  if (pointers.length === 0) return value;
  if (typeof value !== 'object' || value === null) return pointers.includes(at) ? mask : value;
  const entries = Object.entries(value).map(([key, part]): [string, unknown] => {
    const below = at + pointerOf(key);
    const inside = pointers.filter((pointer) => pointer === below || pointer.startsWith(`${below}/`));
    return [key, withMasks(part, inside, below)];
  });
  return Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
}
