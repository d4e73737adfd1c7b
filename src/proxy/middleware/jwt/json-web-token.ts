// A token in its compact form, taken apart (RFC 7515 §7.1). Nothing in it is believed yet.
import { parseJsonObject } from './token-json.ts';

/** Steps of contract.md §8.4 at which a token may turn out to be none. */
export type TokenProblem =
  | 'invalid token format'
  | 'invalid token header'
  | 'invalid token claims'
  | 'invalid token signature';

export interface Token {
  /** Undefined when the token names none; then it is not accepted. */
  readonly alg: string | undefined;
  readonly kid: string | undefined;
  /**
   * The token asks for extensions; none is understood here, so it is not accepted (RFC 7515 §4.1.11). A payload that is
   * not encoded is one, which no token may have, named or not (RFC 7797 §7).
   */
  readonly hasCritical: boolean;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Bytes that were signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Maximum length of a token, in characters. Tokens are a few KB; a longer one is an attack on its reader. */
const tokenMax = 32_768;

export function parseToken(text: string): Token | TokenProblem {
  if (text.length > tokenMax) return 'invalid token format';
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  if (first < 0 || second < 0 || text.includes('.', second + 1)) return 'invalid token format';
  const header = objectIn(text.slice(0, first));
  // A list of keys, for example: the next recipient of the token might read another one (RFC 7515 §4.1.4).
  if (header === undefined || !isTextOrAbsent(header, 'kid')) return 'invalid token header';
  const claims = objectIn(text.slice(first + 1, second));
  if (claims === undefined) return 'invalid token claims';
  const signature = bytesOf(text.slice(second + 1));
  if (signature === undefined) return 'invalid token signature';
  return {
    alg: textMember(header, 'alg'),
    kid: textMember(header, 'kid'),
    hasCritical: Object.hasOwn(header, 'crit') || (Object.hasOwn(header, 'b64') && header.b64 !== true),
    claims,
    signed: Buffer.from(text.slice(0, second), 'latin1'),
    signature,
  };
}

function textMember(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

const isTextOrAbsent = (object: Readonly<Record<string, unknown>>, name: string): boolean =>
  !Object.hasOwn(object, name) || object[name] === null || typeof object[name] === 'string';

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = bytesOf(part);
  return bytes === undefined ? undefined : parseJsonObject(bytes);
}

const base64url = /^[A-Za-z0-9_-]*$/;

/** Base64url without padding (RFC 7515 §2); Node's own decoder skips over what it does not know. */
const bytesOf = (part: string): Buffer | undefined =>
  base64url.test(part) && part.length % 4 !== 1 ? Buffer.from(part, 'base64url') : undefined;
