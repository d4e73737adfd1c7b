// Warning headers: what a client should know of an answer that is a success all the same.

export interface Warnings {
  readonly Warning?: readonly string[];
}

/** One `299` line per text, each printable. */
export const warnings = (texts: readonly string[]): Warnings =>
  texts.length === 0 ? {} : { Warning: texts.map((text) => `299 sluice "${text}"`) };

export const joined = (first: Warnings, second: Warnings): Warnings => {
  const all = [...(first.Warning ?? []), ...(second.Warning ?? [])];
  return all.length === 0 ? {} : { Warning: all };
};

const longest = 256;

/**
 * For a quoted string of RFC 9110 §5.6.4 that needs no escapes: what could end it, is not ASCII, or is in `more`, is
 * percent-encoded. Cut after 256 characters.
 */
export function printable(text: string, more = ''): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}...` : text;
  const isPlain = (character: string): boolean => /[\x20-\x7e]/.test(character) && !`"\\%${more}`.includes(character);
  return [...cut].map((character) => (isPlain(character) ? character : encoded(character))).join('');
}

const encoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
