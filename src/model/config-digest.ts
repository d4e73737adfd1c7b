// Digest of a configuration, by which two are the same: the SHA-256 of their canonical JSON (RFC 8785). A control plane
// and a proxy that compute it from the same lists agree, however either of them orders keys.
import { createHash } from 'node:crypto';
import { configKinds, isWritten } from './kinds.ts';

/**
 * Hex, 64 characters. Of the lists and nothing beside them; a list that is not there counts as null, and one of an
 * optional kind that is not there or empty does not count.
 */
export function configDigest(lists: Readonly<Partial<Record<(typeof configKinds)[number], unknown>>>): string {
  const hash = createHash('sha256');
  let before = '{';
  for (const kind of [...configKinds].sort()) {
    const list = lists[kind];
    if (!isWritten(kind, Array.isArray(list) ? list : undefined)) continue;
    hash.update(`${before}"${kind}":`);
    updateList(hash, list);
    before = ',';
  }
  return hash.update('}').digest('hex');
}

/** RFC 8785 text of a JSON value. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  const copy = ordered(value);
  if (copy !== unordered) return JSON.stringify(copy ?? null);
  const pieces: string[] = [];
  addCanonical(value, pieces);
  // Joined once: a text that is put together by and by keeps every piece of it in memory, seven times its length.
  return pieces.join('');
}

/** No object can have the members of this one in canonical order. */
const unordered = Symbol('unordered');

/** A copy with the members of each object in canonical order: its text takes half as long as one put together by hand. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copies = value.map(ordered);
    return copies.includes(unordered) ? unordered : copies;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const key of sortedKeys(members)) {
    // Objects have members with such names in an order of their own.
    if (isIndex.test(key) || key === '__proto__') return unordered;
    const member = ordered(members[key]);
    if (member === unordered) return unordered;
    copy[key] = member;
  }
  return copy;
}

const isIndex = /^[0-9]+$/;

function sortedKeys(members: object): string[] {
  const keys = Object.keys(members);
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return keys.sort();
  return keys;
}

function addCanonical(value: unknown, pieces: string[]): void {
  if (Array.isArray(value)) {
    pieces.push('[');
    for (let at = 0; at < value.length; at++) {
      if (at > 0) pieces.push(',');
      addCanonical(value[at], pieces);
    }
    pieces.push(']');
    return;
  }
  if (typeof value !== 'object' || value === null) {
    pieces.push(JSON.stringify(value ?? null));
    return;
  }
  let before = '{';
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    pieces.push(before, JSON.stringify(key), ':');
    before = ',';
    addCanonical(member, pieces);
  }
  pieces.push(before === '{' ? '{}' : '}');
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
