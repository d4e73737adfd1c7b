// JSON Web Tokens and their keys, made in tests.
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign, type webcrypto } from 'node:crypto';

export interface Signer {
  readonly alg: string;
  readonly publicKey: KeyObject;
  readonly jwk: webcrypto.JsonWebKey & { readonly kid?: string; readonly alg?: string };
  sign(text: string): Buffer;
}

const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;

/** A new key for each call, but for RSA, where making one takes long. */
export function signerOf(alg: string): Signer {
  const digest = `sha${alg.slice(2)}`;
  if (alg === 'EdDSA') return signer(alg, generateKeyPairSync('ed25519'), null, {});
  if (alg.startsWith('ES')) {
    const namedCurve = curves[alg as keyof typeof curves];
    return signer(alg, generateKeyPairSync('ec', { namedCurve }), digest, { dsaEncoding: 'ieee-p1363' });
  }
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return signer(alg, rsaPair, digest, alg.startsWith('PS') ? pss : {});
}

export function signer(
  alg: string,
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  digest: string | null,
  options: object,
): Signer {
  const jwk = publicKey.export({ format: 'jwk' });
  return { alg, publicKey, jwk, sign: (text) => sign(digest, Buffer.from(text), { key: privateKey, ...options }) };
}

export const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const inAnHour = (nowMs = Date.now()): number => Math.floor(nowMs / 1000) + 3600;

/** A token signed by `by`; the header names its algorithm. */
export function tokenOf(by: Signer, claims: unknown, header: object = {}): string {
  const text = `${part({ alg: by.alg, ...header })}.${part(claims)}`;
  return `${text}.${by.sign(text).toString('base64url')}`;
}

/** Token of an attacker who takes a public key for the secret of an HMAC. */
export function hmacToken(secret: string, claims: unknown, alg = 'HS256'): string {
  const text = `${part({ alg })}.${part(claims)}`;
  const mac = createHmac(`sha${alg.slice(2)}`, secret)
    .update(text)
    .digest('base64url');
  return `${text}.${mac}`;
}

export const jwksOf = (...keys: readonly object[]): string => JSON.stringify({ keys });
