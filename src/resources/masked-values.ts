// Texts for callers who may not see what references resolved to (architecture.md §6.12).

/** Texts shorter than this are parts of ordinary words, and no secrets. */
const shortestSecret = 4;

/** The text with every value in it shown as `***`, longer values first. `values`: by reference. */
export function withoutValues(text: string, values: Readonly<Record<string, string>>): string {
  const secrets = Object.values(values).filter(({ length }) => length >= shortestSecret);
  secrets.sort((a, b) => b.length - a.length);
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}
