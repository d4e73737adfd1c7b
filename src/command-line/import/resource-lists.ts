// Lists of imported resources by kind, as files for `apply` have them.
import { escapeVariables } from '../input/variables.ts';
import type { ImportResult } from './importers.ts';

/** Returns the lists in the order in which they refer to each other. */
export function listsOf({ resources }: ImportResult): Readonly<Record<string, readonly object[]>> {
  const order = ['secrets', 'listeners', 'consumers', 'destinations', 'middlewares', 'routes', 'streamRoutes'];
  const sorted = resources.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const lists: Record<string, object[]> = {};
  for (const { kind, fields } of sorted) {
    lists[kind] ??= [];
    lists[kind].push(escaped(fields) as object);
  }
  return lists;
}

/** Texts such as `$(x)`, which `apply` would take for variables, written so that they are read as they stand. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
