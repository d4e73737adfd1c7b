// Certificates and keys in the settings file: PEM text in place, or the path of a file (contract.md §1.3).
import { readFileSync } from 'node:fs';
import type { Section } from './section.ts';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

/** PEM text of an optional key. A file that cannot be read is an error of the key. */
export function pem(section: Section, key: string): string | undefined {
  const text = section.text(key);
  if (text === undefined || text.trimStart().startsWith('-----BEGIN')) return text;
  try {
    return readFileSync(text, 'utf8');
  } catch (error) {
    return section.error(key, `names a file that cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** PEM text of a key that must be there; empty once an error is noted. */
export function requiredPem(section: Section, key: string): string {
  if (!section.has(key)) section.error(key, 'is required');
  return pem(section, key) ?? '';
}
