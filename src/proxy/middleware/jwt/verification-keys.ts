// The keys that a token may be signed with: from a JWKS document, or from one public key in PEM (contract.md §8.4).
// What is no key of ours is left out, for documents hold keys for other purposes; the others go on counting.
import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { jsonOf } from '../../../util/malformed-json.ts';
import { rsaBitsMin } from './algorithms.ts';

export interface VerificationKey {
  readonly key: KeyObject;
  readonly kid: string | undefined;
  /** The only algorithm that the key is for, if it names one. */
  readonly alg: string | undefined;
  /** One verification takes so long that it should not hold up other requests. */
  readonly slow: boolean;
}

/** A token without a `kid` is tried with every key: documents beyond this would make each try expensive. */
const keysMax = 100;

/** Reads the keys of a JWKS document; undefined when it is none. */
export function keysOfJwks(text: string): readonly VerificationKey[] | undefined {
  const document = parsed(text);
  if (typeof document !== 'object' || document === null || !('keys' in document)) return undefined;
  const { keys } = document;
  return Array.isArray(keys) ? keys.slice(0, keysMax).flatMap(keyOfJwk) : undefined;
}

/** Reads the keys of the text of `jwksInline`. Throws when it is neither a JWKS document nor a public key in PEM. */
export function keysOfInline(text: string): readonly VerificationKey[] {
  if (!text.trimStart().startsWith('-----BEGIN')) {
    const keys = keysOfJwks(text);
    if (keys === undefined) throw new Error('must be a JWKS document or a public key in PEM');
    return keys;
  }
  if (text.includes('PRIVATE KEY')) throw new Error('must be a public key, not a private one');
  try {
    return [withTraits(createPublicKey(text), undefined, undefined)];
  } catch {
    throw new Error('holds no public key in PEM that can be read');
  }
}

/** A byte order mark at the beginning is no part of the document (RFC 8259 §8.1); JSON.parse takes it for a fault. */
const parsed = (text: string): unknown => jsonOf(text.startsWith('\uFEFF') ? text.slice(1) : text);

function keyOfJwk(jwk: unknown): VerificationKey[] {
  if (typeof jwk !== 'object' || jwk === null) return [];
  const members = new Map<string, unknown>(Object.entries(jwk));
  const text = (name: string): string | undefined => {
    const value = members.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const plain = publicMembers(text);
  if (plain === undefined) return [];
  try {
    const key = createPublicKey({ key: plain, format: 'jwk' });
    const tooShort = key.asymmetricKeyType === 'rsa' && bitsOf(key) < rsaBitsMin;
    return tooShort ? [] : [withTraits(key, text('kid'), text('alg'))];
  } catch {
    return [];
  }
}

/** Picks the members of the public key; other members of the document are left out. */
function publicMembers(text: (name: string) => string | undefined): webcrypto.JsonWebKey | undefined {
  const kty = text('kty');
  const crv = text('crv');
  if (kty === 'RSA') return { kty, n: text('n'), e: text('e') };
  if (kty === 'OKP' && crv === 'Ed25519') return { kty, crv, x: text('x') };
  const bytes = kty === 'EC' ? coordinateBytes.get(crv ?? '') : undefined;
  return bytes === undefined ? undefined : { kty, crv, x: padded(text('x'), bytes), y: padded(text('y'), bytes) };
}

const coordinateBytes: ReadonlyMap<string, number> = new Map([
  ['P-256', 32],
  ['P-384', 48],
  ['P-521', 66],
]);

/** Some issuers leave out the zeros on the left of a coordinate. */
function padded(text: string | undefined, bytes: number): string | undefined {
  if (text === undefined) return undefined;
  const number = Buffer.from(text, 'base64url');
  if (number.length >= bytes) return text;
  return Buffer.concat([Buffer.alloc(bytes - number.length), number]).toString('base64url');
}

const withTraits = (key: KeyObject, kid: string | undefined, alg: string | undefined): VerificationKey => ({
  key,
  kid,
  alg,
  slow: isSlow(key),
});

const bitsOf = (key: KeyObject): number => key.asymmetricKeyDetails?.modulusLength ?? 0;

/** More than about 70 µs of work: long RSA keys, those with an unusual exponent, and the two large curves. */
function isSlow(key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 65_537n, namedCurve } = key.asymmetricKeyDetails ?? {};
  return modulusLength > 3072 || publicExponent > 65_537n || namedCurve === 'secp384r1' || namedCurve === 'secp521r1';
}
