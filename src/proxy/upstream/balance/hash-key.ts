// Key of a hashing algorithm (contract.md §7.6): from the first policy that has a value for the request; else, and
// without policies, the address of the client.
import { crc32 } from './crc32.ts';

/** Parts of a request that can be hashed. */
export interface HashSource {
  /** Values of all lines of that lower-case name as one. */
  header(lowerName: string): string | undefined;
  readonly clientIp: string;
  /** Value of the cookie, or the session id that is going to be set under that name; never empty. */
  session(name: string, ttlSeconds: number): string;
}

export type HashPolicyPlan =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string; readonly ttlSeconds: number }
  | { readonly kind: 'sourceIP' }
  /** Switched off; with it the list is not empty. */
  | { readonly kind: 'off' };

/** Text whose sum is the key. */
export function hashText(policies: readonly HashPolicyPlan[], salt: string, source: HashSource): string {
  if (policies.length === 0) return source.clientIp;
  for (const policy of policies) {
    const value = policyValue(policy, source);
    if (value !== undefined && value !== '') return `${value}:${salt}`;
  }
  return `${source.clientIp}:${salt}`;
}

export const hashKey = (policies: readonly HashPolicyPlan[], salt: string, source: HashSource): number =>
  crc32(hashText(policies, salt, source));

function policyValue(policy: HashPolicyPlan, source: HashSource): string | undefined {
  if (policy.kind === 'header') return source.header(policy.name);
  if (policy.kind === 'sourceIP') return source.clientIp;
  if (policy.kind === 'off') return undefined;
  return source.session(policy.name, policy.ttlSeconds);
}
