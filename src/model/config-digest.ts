// Digest of a configuration, by which two are the same: the SHA-256 of their canonical JSON (RFC 8785). A control plane
// and a proxy that compute it from the same five lists agree, however either of them orders keys.
import { createHash } from 'node:crypto';
import { configKinds } from './kinds.ts';

/** Hex, 64 characters. Of the five lists and nothing beside them; a list that is not there counts as null. */
export function configDigest(lists: Readonly<Partial<Record<(typeof configKinds)[number], unknown>>>): string {
  const hash = createHash('sha256');
  let before = '{';
  for (const kind of [...configKinds].sort()) {
    hash.update(`${before}"${kind}":`);
    updateList(hash, lists[kind]);
    before = ',';
  }
  return hash.update('}').digest('hex');
}

/** RFC 8785 text of a JSON value. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** Entity by entity: the text of a whole configuration need not be in memory at once. */
function updateList(hash: ReturnType<typeof createHash>, list: unknown): void {
  if (!Array.isArray(list)) {
    hash.update(canonicalJson(list));
    return;
  }
  list.forEach((each, at) => {
    hash.update(`${at === 0 ? '[' : ','}${canonicalJson(each)}`);
  });
  hash.update(list.length === 0 ? '[]' : ']');
}
