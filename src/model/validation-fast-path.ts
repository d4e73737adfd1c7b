// Soundness: the quick yes of validation. Nearly every body that comes is right, and class-validator takes most of its time
// to find nothing; this walks the same schema and says so first. A no is class-validator's to explain, and to take back.
import { isObject } from './json-object.ts';
import { type Class, type Field, fieldsOf, rulesOf } from './schema.ts';
import { shapeProblemsOf } from './shape.ts';

/** True: class-validator finds nothing. False: it may. Objects inside maps are not looked at, as it does not either. */
export function isValid(object: object): boolean {
  const fields = fieldsOf(object.constructor);
  // A class without fields is none that class-validator knows.
  if (fields.size === 0) return false;
  for (const field of fields.values()) if (!holds(field, (object as Record<string, unknown>)[field.name])) return false;
  return rulesOf(object.constructor).every((rule) => rule(object).length === 0);
}

/** A block that counts only beside some value is held to its schema beside any: no harm in a no. */
function holds({ shape, required }: Field, value: unknown): boolean {
  if (value === undefined || value === null) return !required;
  if (shapeProblemsOf(shape, value).length > 0) return false;
  if (shape.is === 'object') return isSoundOf(shape.of, value);
  if (shape.is !== 'list' || shape.of.is !== 'object') return true;
  const { of } = shape.of;
  return (value as readonly unknown[]).every((element) => isSoundOf(of, element));
}

const isSoundOf = (cls: Class, value: unknown): boolean =>
  isObject(value) && (value as object) instanceof cls && isValid(value);
