// The signature algorithms that count (contract.md §8.4), and what each asks of a key. `none` and the HMAC family are
// not in the table, so no token can choose them.
import { constants, type KeyObject } from 'node:crypto';

export interface Algorithm {
  /** Hash of the signed text; null where the algorithm brings its own. */
  readonly digest: 'sha256' | 'sha384' | 'sha512' | null;
  /** Returns whether a key is of the kind this algorithm needs: a token cannot turn one kind into another. */
  fits(key: KeyObject): boolean;
  /** For node:crypto, beside the key. */
  readonly options: {
    readonly padding?: number;
    readonly saltLength?: number;
    readonly dsaEncoding?: 'ieee-p1363';
  };
}

/** RFC 7518 §3.3: a key of 2048 bits or larger. */
export const rsaBitsMin = 2048;

const isRsa = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin;

const rsa = (digest: 'sha256' | 'sha384' | 'sha512'): Algorithm => ({
  digest,
  fits: isRsa,
  options: { padding: constants.RSA_PKCS1_PADDING },
});

/** The salt is as long as the hash (RFC 7518 §3.5). */
const pss = (digest: 'sha256' | 'sha384' | 'sha512'): Algorithm => ({
  digest,
  fits: isRsa,
  options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
});

/** `curve` by the name that OpenSSL gives it. Signatures are R and S, one behind the other. */
const ecdsa = (digest: 'sha256' | 'sha384' | 'sha512', curve: string): Algorithm => ({
  digest,
  fits: (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve,
  options: { dsaEncoding: 'ieee-p1363' },
});

export const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', pss('sha256')],
  ['PS384', pss('sha384')],
  ['PS512', pss('sha512')],
  ['ES256', ecdsa('sha256', 'prime256v1')],
  ['ES384', ecdsa('sha384', 'secp384r1')],
  ['ES512', ecdsa('sha512', 'secp521r1')],
  ['EdDSA', { digest: null, fits: (key) => key.asymmetricKeyType === 'ed25519', options: {} }],
]);
