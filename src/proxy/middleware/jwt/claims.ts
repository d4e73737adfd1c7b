// Checks of the registered claims of a token (contract.md §8.4, RFC 7519 §4.1).
import type { Lifetime } from './verified-tokens.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Undefined when `exp` is missing or one of the two is no number. */
export function lifetimeOf(claims: Claims): Lifetime | undefined {
  const expires = claim(claims, 'exp');
  const notBefore = claim(claims, 'nbf') ?? 0;
  return isTime(expires) && isTime(notBefore) ? { expires, notBefore } : undefined;
}

/** No leeway; the second in which a token expires still counts. */
export const isCurrent = ({ expires, notBefore }: Lifetime, nowSeconds: number): boolean =>
  notBefore <= nowSeconds && nowSeconds <= expires;

/** Returns whether issuer and audience match; without `audiences` any audience does. */
export function isMeantForUs(claims: Claims, issuer: string, audiences: readonly string[]): boolean {
  if (claim(claims, 'iss') !== issuer) return false;
  if (audiences.length === 0) return true;
  const named = claim(claims, 'aud');
  const list: readonly unknown[] = Array.isArray(named) ? named : [named];
  return list.some((audience) => typeof audience === 'string' && audiences.includes(audience));
}

/** Own members only: `constructor` is no claim. */
const claim = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
