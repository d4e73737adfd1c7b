// Values of a resource as the editor changes and compares them, and faults of its fields.
import type { Json, JsonObject } from '../lib/types.ts';

/** Fault of a field. */
export interface Fault {
  /** JSON pointer; empty for the whole. */
  readonly pointer: string;
  readonly message: string;
}

/** Reads the faults of an error text, which names fields by JSON pointer: `/match/pathRegex must …; /port must …`. */
export function faultsOf(text: string): Fault[] {
  const parts = text.split(/(?:; |, |\n)(?=\/[\w~])/);
  return parts.map((part) => {
    const [, pointer = '', message = part] = /^(\/[^\s:]+):? (.*)$/s.exec(part.trim()) ?? [];
    return { pointer, message: pointer === '' ? part : message };
  });
}

/** Returns a copy in which the value at a path is another; undefined removes it. */
export function withValue(target: Json | undefined, path: readonly (string | number)[], value: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value ?? null;
  if (typeof step === 'number') {
    const list: Json[] = Array.isArray(target) ? [...(target as readonly Json[])] : [];
    const next = rest.length === 0 ? value : withValue(list[step], rest, value);
    if (next === undefined) list.splice(step, 1);
    else list[step] = next;
    return list;
  }
  const object: Record<string, Json> = { ...(isObject(target) ? target : {}) };
  const next = rest.length === 0 ? value : withValue(object[step], rest, value);
  if (next === undefined) delete object[step];
  else object[step] = next;
  return object;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON pointers of the fields in which two values differ, objects walked, lists as a whole. */
export function differingPointers(mine: Json | undefined, theirs: Json | undefined, at = ''): string[] {
  if (isObject(mine) && isObject(theirs)) {
    const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    return keys.flatMap((key) =>
      differingPointers(mine[key], theirs[key], `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    );
  }
  return JSON.stringify(mine) === JSON.stringify(theirs) ? [] : [at];
}

export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  let found: Json | undefined = value;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) ? found[name] : Array.isArray(found) ? (found as readonly Json[])[Number(name)] : undefined;
  }
  return found;
}
