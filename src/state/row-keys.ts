// Keys of the rows of the store. They are text; `/` separates parts, and only the last part of an entity's key is
// chosen by an operator. Rows under `local` belong to one node and are left out of the state hash.
import { type EditableKind, editableKinds } from '../model/kinds.ts';

export const keys = {
  entity: (kind: EditableKind, id: string): string => `e/${kind}/${id}`,
  snapshot: (id: string): string => `s/${id}`,
  /** Active snapshot and its activation. */
  active: 'a',
  /** One activation, by its index; in this form the order of keys is that of time. */
  activation: (index: number): string => `v/${String(index).padStart(16, '0')}`,
  /** Pending confirmation. */
  pending: 'c',
  rollout: (id: string): string => `o/${id}`,
  /** Drained endpoints. */
  drains: 'd',
  /** Keys of signed session cookies. */
  cookieKeys: 'k',
  /** API keys of the cluster: digests, of which nothing follows. */
  managedKeys: 'm',
  /** Applied index, log time, index of the last configuration change. */
  position: 'p',
  /** State hash over all other rows that are not local. */
  hash: 'h',
  /** One start of one node: what of it is answered. */
  boot: (origin: string, incarnation: number, boot: number): string =>
    `b/${encodeURIComponent(origin)}/${incarnation}/${boot}`,
  /** Result of one request; its seq follows. */
  results: (origin: string, incarnation: number, boot: number): string =>
    `r/${encodeURIComponent(origin)}/${incarnation}/${boot}/`,
  /** Boots of an incarnation below this one are forgotten, and refused. */
  floor: (origin: string, incarnation: number): string => `f/${encodeURIComponent(origin)}/${incarnation}`,
  /** By SHA-256 of the scope. */
  idempotency: (scopeHash: string): string => `i/${scopeHash}`,
  local: { format: 'l/format', identity: 'l/identity', encryption: 'l/encryption' },
} as const;

export type ParsedKey =
  | { readonly row: 'entity'; readonly kind: EditableKind; readonly id: string }
  | { readonly row: 'snapshot'; readonly id: string }
  | {
      readonly row:
        | 'active'
        | 'activation'
        | 'pending'
        | 'drains'
        | 'cookieKeys'
        | 'managedKeys'
        | 'rollout'
        | 'position'
        | 'hash';
    }
  | { readonly row: 'boot'; readonly origin: string; readonly incarnation: number; readonly boot: number }
  | {
      readonly row: 'result';
      readonly origin: string;
      readonly incarnation: number;
      readonly boot: number;
      readonly seq: number;
    }
  | { readonly row: 'floor'; readonly origin: string; readonly incarnation: number }
  | { readonly row: 'idempotency' }
  | { readonly row: 'local' };

/** Returns the kind of row that a key names, or undefined when no key of this layout looks like that. */
export function parseKey(key: string): ParsedKey | undefined {
  return parseEntityKey(key) ?? parseOtherKey(key);
}

/** Reads the key of an entity; most keys in a large state are such. */
function parseEntityKey(key: string): ParsedKey | undefined {
  const slash = key.startsWith('e/') ? key.indexOf('/', 2) : -1;
  if (slash < 0 || slash + 1 === key.length || key.includes('/', slash + 1)) return undefined;
  const kind = editableKinds.find((known) => key.startsWith(known, 2) && known.length === slash - 2);
  return kind === undefined ? undefined : { row: 'entity', kind, id: key.slice(slash + 1) };
}

function parseOtherKey(key: string): ParsedKey | undefined {
  const [head, first = '', second = '', third = '', fourth = ''] = key.split('/');
  if (head === 'e') {
    const kind = editableKinds.find((known) => known === first);
    return kind === undefined || second === '' ? undefined : { row: 'entity', kind, id: second };
  }
  if (head === 's' && first !== '') return { row: 'snapshot', id: first };
  if (key === keys.active) return { row: 'active' };
  if (head === 'v' && first !== '') return { row: 'activation' };
  if (head === 'o' && first !== '') return { row: 'rollout' };
  if (key === keys.pending) return { row: 'pending' };
  if (key === keys.drains) return { row: 'drains' };
  if (key === keys.cookieKeys) return { row: 'cookieKeys' };
  if (key === keys.managedKeys) return { row: 'managedKeys' };
  if (key === keys.position) return { row: 'position' };
  if (key === keys.hash) return { row: 'hash' };
  if (head === 'i' && first !== '') return { row: 'idempotency' };
  if (head === 'l' && first !== '') return { row: 'local' };
  const numbers = [second, third, fourth].map(Number);
  const [incarnation = Number.NaN, boot = Number.NaN, seq = Number.NaN] = numbers;
  const origin = decodeURIComponent(first);
  if (head === 'f' && Number.isSafeInteger(incarnation)) return { row: 'floor', origin, incarnation };
  if (!Number.isSafeInteger(incarnation) || !Number.isSafeInteger(boot)) return undefined;
  if (head === 'b') return { row: 'boot', origin, incarnation, boot };
  if (head === 'r' && Number.isSafeInteger(seq)) return { row: 'result', origin, incarnation, boot, seq };
  return undefined;
}

/** True for a row that belongs to one node alone and is not part of the state that nodes compare. */
export const isLocal = (key: string): boolean => key.startsWith('l/');

/**
 * True for a row that may hold secret text and is sealed when encryption is on (contract.md §1.3). No other row does:
 * results and idempotency rows never keep the entity of a secret.
 */
export const isSecret = (key: string): boolean =>
  key.startsWith('e/secrets/') || key.startsWith('s/') || key === keys.cookieKeys;
