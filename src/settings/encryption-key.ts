// A key for encryption at rest, as `encryption.key` of a section.
import type { Section } from './section.ts';

/** 32 bytes; undefined without the section, empty once an error is noted. */
export function readEncryptionKey(section: Section | undefined): Buffer | undefined {
  if (!section) return undefined;
  const text = section.required('key');
  section.end();
  const bytes = Buffer.from(text, 'base64');
  if (text === '' || (bytes.length === 32 && bytes.toString('base64') === text)) return bytes;
  return section.error('key', 'must be standard base64 of exactly 32 bytes');
}
