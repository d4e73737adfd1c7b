// Unknown fields of a body: dropped, and named in the answer (architecture.md §6.10).
import { SluiceError } from '../errors.ts';
import type { FieldValidation } from './query.ts';
import { firstOf, printable, type Warnings, warnings } from './warnings.ts';

/** Returns headers that name the unknown fields by JSON pointer. Throws INVALID when they are forbidden, with `body` beside it. */
export function unknownFieldWarnings(
  pointers: readonly string[],
  validation: FieldValidation,
  body: Readonly<Record<string, unknown>> = {},
): Warnings {
  if (pointers.length === 0 || validation === 'ignore') return {};
  // Enough to find a misspelt field; a body of a million unknown keys must not become a header of a megabyte.
  const named = firstOf(pointers, fieldText, (count) => `${count} more unknown fields`);
  if (validation === 'strict') throw new SluiceError('INVALID', named.join('; '), { body });
  return warnings(named);
}

const fieldText = (pointer: string): string => `unknown field ${printable(pointer, ' ')}`;
