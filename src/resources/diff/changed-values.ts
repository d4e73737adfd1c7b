// Values of references that two captured configurations do not have alike, and the entities that hold them.
import type { ConfigKind } from '../../model/kinds.ts';
import { findReferences, referencesIn, type SecretReference } from '../../model/secret-reference.ts';
import { holdersIn } from '../../snapshot/listing.ts';
import type { Captured } from '../../snapshot/staged.ts';

export interface ChangedValue {
  readonly reference: SecretReference;
  readonly before: string;
  readonly now: string;
}

/** References that both hold, with another value; by their texts. */
export function changedValues(from: Captured | undefined, to: Captured): readonly ChangedValue[] {
  return Object.entries(from?.values ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([text, before]) => {
      const [reference] = referencesIn(text);
      const now = Object.hasOwn(to.values, text) ? to.values[text] : undefined;
      return reference === undefined || now === undefined || now === before ? [] : { reference, before, now };
    });
}

export interface ReachedHolder {
  readonly kind: ConfigKind;
  readonly id: string;
  /** `secret token: /value`, `env TOKEN: value`. */
  readonly reasons: readonly string[];
}

/** Entities between two pauses. */
const stride = 64;

/** Entities that hold references with another value; in steps. */
export function* holdersOf(
  changed: readonly ChangedValue[],
  { entities }: Captured,
): Generator<void, readonly ReachedHolder[]> {
  const found: ReachedHolder[] = [];
  if (changed.length === 0) return found;
  const reasonOf = new Map(changed.map(({ reference }) => [reference.text, reasonFor(reference)]));
  for (const [at, { kind, entity }] of holdersIn(entities).entries()) {
    if (at % stride === 0) yield;
    const reasons = findReferences(entity.spec).flatMap(({ text }) => reasonOf.get(text) ?? []);
    if (reasons.length > 0) found.push({ kind, id: entity.id, reasons: [...new Set(reasons)] });
  }
  return found;
}

const reasonFor = ({ source, argument }: SecretReference): string =>
  source === 'value' ? `secret ${argument}: /value` : `${source} ${argument}: value`;
