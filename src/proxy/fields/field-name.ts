// Field names that have a meaning for a proxy. Each line of a head gets its id while it is parsed, so that names are
// compared once; all other names are `other`.

export const fieldId = {
  other: 0,
  host: 1,
  contentLength: 2,
  transferEncoding: 3,
  connection: 4,
  upgrade: 5,
  expect: 6,
  te: 7,
  /** Hop-by-hop without a further meaning: Keep-Alive, Trailer, Proxy-* (contract.md §7.1). */
  hopByHop: 8,
  forwardedFor: 9,
  forwardedProto: 10,
  forwardedHost: 11,
  /** Never accepted from a peer: X-Forwarded-Client-Cert. */
  clientCertificate: 12,
  /** Other X-Forwarded-*, Forwarded, X-Real-IP. */
  forwarded: 13,
  server: 14,
  /** Names with `_` that equal one of the above with `-`: some servers cannot tell them apart. */
  alias: 15,
  /** Trace context of the client: traceparent, tracestate. */
  trace: 16,
  date: 17,
} as const;

/** Number of ids. */
export const fieldIds = Object.keys(fieldId).length;

export type FieldId = (typeof fieldId)[keyof typeof fieldId];

const known: readonly (readonly [string, FieldId])[] = [
  ['host', fieldId.host],
  ['content-length', fieldId.contentLength],
  ['transfer-encoding', fieldId.transferEncoding],
  ['connection', fieldId.connection],
  ['upgrade', fieldId.upgrade],
  ['expect', fieldId.expect],
  ['te', fieldId.te],
  ['keep-alive', fieldId.hopByHop],
  ['trailer', fieldId.hopByHop],
  ['proxy-connection', fieldId.hopByHop],
  ['proxy-authenticate', fieldId.hopByHop],
  ['proxy-authorization', fieldId.hopByHop],
  ['http2-settings', fieldId.hopByHop],
  ['x-forwarded-for', fieldId.forwardedFor],
  ['x-forwarded-proto', fieldId.forwardedProto],
  ['x-forwarded-host', fieldId.forwardedHost],
  ['x-forwarded-client-cert', fieldId.clientCertificate],
  ['forwarded', fieldId.forwarded],
  ['x-real-ip', fieldId.forwarded],
  ['server', fieldId.server],
  ['date', fieldId.date],
  ['traceparent', fieldId.trace],
  ['tracestate', fieldId.trace],
];

interface Candidate {
  readonly bytes: Uint8Array;
  readonly id: FieldId;
}

/** Candidates by length, then by first byte in lower case: these two exclude nearly every name. */
const candidates: (readonly Candidate[] | undefined)[][] = [];
for (const [name, id] of known) {
  const bytes = new TextEncoder().encode(name);
  candidates[bytes.length] ??= [];
  const first = bytes[0] ?? 0;
  const row = candidates[bytes.length] ?? [];
  row[first] = [...(row[first] ?? []), { bytes, id }];
}

const forwardedPrefix = new TextEncoder().encode('x-forwarded-');
const UNDERSCORE = 95;
const HYPHEN = 45;

/** Returns the `fieldId` of the name at `bytes[start..end)`, which holds token bytes only. */
export function identify(bytes: Uint8Array, start: number, end: number): FieldId {
  const first = (bytes[start] ?? 0) | 0x20;
  const row = candidates[end - start]?.[first];
  if (row !== undefined) {
    for (const candidate of row) {
      const found = compare(bytes, start, candidate.bytes);
      if (found === same) return candidate.id;
      if (found === aliased) return fieldId.alias;
    }
  }
  if (first !== 120 || end - start <= forwardedPrefix.length) return fieldId.other;
  const prefix = compare(bytes, start, forwardedPrefix);
  return prefix === same ? fieldId.forwarded : prefix === aliased ? fieldId.alias : fieldId.other;
}

/** The same for a name that is text; any case. */
export function identifyName(name: string): FieldId {
  const bytes = Buffer.from(name, 'latin1');
  return identify(bytes, 0, bytes.length);
}

const { contentLength, transferEncoding, connection, upgrade, te, expect, hopByHop } = fieldId;
const ofConnection: ReadonlySet<FieldId> = new Set([
  contentLength,
  transferEncoding,
  connection,
  upgrade,
  te,
  expect,
  hopByHop,
]);

/** Returns whether the field is of one connection: framing, expectation, hop-by-hop fields (RFC 9110 §7.6.1). */
export const isOfConnection = (id: FieldId): boolean => ofConnection.has(id);

const different = 0;
const same = 1;
const aliased = 2;

/** Compares without case; distinguishes an underscore where `name` has a hyphen. */
function compare(bytes: Uint8Array, start: number, name: Uint8Array): number {
  let outcome = same;
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[start + i] ?? 0;
    const wanted = name[i];
    if (byte === wanted) continue;
    if (byte >= 65 && byte <= 90 && (byte | 0x20) === wanted) continue;
    if (byte !== UNDERSCORE || wanted !== HYPHEN) return different;
    outcome = aliased;
  }
  return outcome;
}

/** Returns the name as CGI and its successors see it: they cannot tell `_` from `-`. */
export const plainSpelling = (lowerName: string): string =>
  lowerName.includes('_') ? lowerName.replaceAll('_', '-') : lowerName;
