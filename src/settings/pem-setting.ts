// Certificates and keys in the settings file: PEM text in place, or the path of a file (contract.md §1.3).
import { readFileSync } from 'node:fs';
import type { Key } from './key.ts';
import type { Section } from './section.ts';

/** PEM text of an optional key. A file that cannot be read is an error of the key. */
function readPem(section: Section, name: string): string | undefined {
  const text = section.text(name);
  if (text === undefined || text.trimStart().startsWith('-----BEGIN')) return text;
  try {
    return readFileSync(text, 'utf8');
  } catch (error) {
    return section.error(name, `names a file that cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

export const pemKey = (meaning: string, options: { readonly usual?: string } = {}): Key<string | undefined, ''> => ({
  type: 'PEM text or path of a file',
  ...options,
  meaning,
  unit: '',
  read: readPem,
});

/** PEM text; empty once an error is recorded. */
export const requiredPemKey = (meaning: string): Key<string, ''> => ({
  ...pemKey(meaning, { usual: 'required' }),
  read(section, name) {
    if (!section.has(name)) section.error(name, 'is required');
    return readPem(section, name) ?? '';
  },
});
