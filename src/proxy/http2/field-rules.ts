// Rules for names and values of HTTP/2 fields, and the role of each name for a proxy (RFC 9113 §8.2, §8.3): computed
// once per name and value, and kept with the entries of HPACK's tables. As strict as the rules of HTTP/1.1 where
// those exceed RFC 9113: a field that HTTP/1.1 refuses cannot get there through HTTP/2.

import { type FieldId, identify } from '../fields/field-name.ts';
import { HT, SP, tokenByte, valueByte } from '../http1/characters.ts';

/** Role of a field in its head. `hop`: allowed in HTTP/1.1 alone. `bad`: not a valid name. */
export const fieldRole = {
  regular: 0,
  method: 1,
  scheme: 2,
  authority: 3,
  path: 4,
  status: 5,
  protocol: 6,
  unknownPseudo: 7,
  cookie: 8,
  host: 9,
  contentLength: 10,
  te: 11,
  hop: 12,
  bad: 13,
} as const;

/** `fieldId` of HTTP/1.1 in the low byte, a role in the next byte, then a bit for a malformed value. */
export type FieldInfo = number;

export const idOf = (info: FieldInfo): FieldId => (info & 0xff) as FieldId;
export const roleOf = (info: FieldInfo): number => (info >>> 8) & 0xff;
export const hasBadValue = (info: FieldInfo): boolean => info >= badValue;

const badValue = 1 << 16;

const roles: Readonly<Record<string, number>> = {
  ':method': fieldRole.method,
  ':scheme': fieldRole.scheme,
  ':authority': fieldRole.authority,
  ':path': fieldRole.path,
  ':status': fieldRole.status,
  ':protocol': fieldRole.protocol,
  cookie: fieldRole.cookie,
  host: fieldRole.host,
  'content-length': fieldRole.contentLength,
  te: fieldRole.te,
  connection: fieldRole.hop,
  'keep-alive': fieldRole.hop,
  'proxy-connection': fieldRole.hop,
  'transfer-encoding': fieldRole.hop,
  upgrade: fieldRole.hop,
};

const COLON = 58;

/** Returns the info of the name at `bytes[from..to)`, which is `name`. */
export function infoOfName(name: string, bytes: Uint8Array, from: number, to: number): FieldInfo {
  if (from === to) return fieldRole.bad << 8;
  if (bytes[from] === COLON) return (roles[name] ?? fieldRole.unknownPseudo) << 8;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (tokenByte[byte] === 0 || (byte >= 65 && byte <= 90)) return fieldRole.bad << 8;
  }
  const id = identify(bytes, from, to);
  const mayHaveRole = to - from <= 'transfer-encoding'.length;
  const role = mayHaveRole ? (roles[name] ?? fieldRole.regular) : fieldRole.regular;
  return (role << 8) | id;
}

/** Adds to the name's info whether the value at `bytes[from..to)` may stand in a head. */
export function withValue(name: FieldInfo, bytes: Uint8Array, from: number, to: number): FieldInfo {
  for (let at = from; at < to; at++) if (valueByte[bytes[at] ?? 0] === 0) return name | badValue;
  if (from < to && (isBlank(bytes[from]) || isBlank(bytes[to - 1]))) return name | badValue;
  return name;
}

const isBlank = (byte: number | undefined): boolean => byte === SP || byte === HT;
