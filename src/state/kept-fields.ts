// Owner and labels of an entity over its updates: an update that leaves them out keeps those that are there. Decided in
// apply, in the final order of all writes.
import type { KeptFields, Spec } from './command.ts';

interface Before {
  readonly owner: string | undefined;
  readonly json: string;
  readonly spec: Spec;
}

/** Returns the fields of `before` that `spec` leaves out. */
export function keptFields(before: Before, spec: Spec): KeptFields {
  const owner = spec.owner === undefined ? before.owner : undefined;
  // Parsed only where the text says so: most entities have no labels.
  const labels = spec.labels === undefined && before.json.includes('"labels":') ? before.spec.labels : undefined;
  return { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels: labels as Spec }) };
}

/** Returns the entity with the kept fields, in the order of the schema. */
export function withKept(spec: Spec, kept: KeptFields): Spec {
  if (kept.owner === undefined && kept.labels === undefined) return spec;
  const { id, name, owner = kept.owner, labels = kept.labels, ...rest } = spec;
  return {
    ...(id !== undefined && { id }),
    name,
    ...(owner !== undefined && { owner }),
    ...(labels !== undefined && { labels }),
    ...rest,
  };
}
