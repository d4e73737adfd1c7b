// Fields that no schema knows are dropped, and the client is told (architecture.md §6.10).
import { SluiceError } from '../errors.ts';
import type { FieldValidation } from './query.ts';

/** Enough to find a misspelt field; a body of a million unknown keys must not become a header of a megabyte. */
const mostNamed = 20;
const longestPointer = 256;

/** Headers that name the unknown fields by JSON pointer. Throws INVALID when they are forbidden. */
export function unknownFieldWarnings(
  pointers: readonly string[],
  validation: FieldValidation,
): { Warning?: readonly string[] } {
  if (pointers.length === 0 || validation === 'ignore') return {};
  const named = pointers.slice(0, mostNamed).map((pointer) => `unknown field ${printable(pointer)}`);
  if (pointers.length > mostNamed) named.push(`${pointers.length - mostNamed} more unknown fields`);
  if (validation === 'strict') throw new SluiceError('INVALID', named.join('; '));
  return { Warning: named.map((text) => `299 sluice "${text}"`) };
}

// A quoted string of RFC 9110 §5.6.4 that needs no escapes: what could end it, or is not ASCII, is percent-encoded.
function printable(pointer: string): string {
  const cut = pointer.length > longestPointer ? `${pointer.slice(0, longestPointer)}...` : pointer;
  return [...cut].map((character) => (/[^\x21-\x7e]|["\\%]/.test(character) ? encoded(character) : character)).join('');
}

const encoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
