// Hosts of requests and the patterns that match them (contract.md §6.3).
import { isIPv6 } from 'node:net';
import { shortest } from '../../util/ip-address.ts';

/** Name or IPv4 address, or an IPv6 address in brackets; then a port. No user information (RFC 9110 §7.2). */
export const authorityForm =
  /^(\[[0-9a-fA-F:.]+\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9a-fA-F]{2})+)(?::([0-9]{0,5}))?$/;

/** Returns the authority without port, as hosts are compared: `[::1]:8080` is `::1`. */
export function hostOf(authority: string): string {
  if (authority.startsWith('[')) return canonicalHost(authority.slice(0, authority.indexOf(']') + 1));
  const colon = authority.indexOf(':');
  return canonicalHost(colon < 0 || colon !== authority.lastIndexOf(':') ? authority : authority.slice(0, colon));
}

/**
 * Returns the one spelling of a host, for matching and for expressions: lower case, an IPv6 address without its
 * brackets in the form of RFC 5952, no trailing dot. `shop.test.` is `shop.test` to DNS and to many upstreams, so it must not bypass the
 * rules for the latter.
 */
export function canonicalHost(host: string): string {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare.includes(':') && isIPv6(bare)) return shortest(bare);
  return (bare.length > 1 && bare.endsWith('.') ? bare.slice(0, -1) : bare).toLowerCase();
}

/** `exact`: one host. `suffix`: `*.a.b`, one or more labels before `.a.b`, which is the text. `any`: `*`. */
export interface HostPattern {
  readonly kind: 'exact' | 'suffix' | 'any';
  readonly text: string;
}

export function parseHostPattern(pattern: string): HostPattern {
  if (pattern === '*') return { kind: 'any', text: pattern };
  const text = canonicalHost(pattern);
  if (text.startsWith('*.')) return { kind: 'suffix', text: text.slice(1) };
  return { kind: 'exact', text };
}

export function hostMatches({ kind, text }: HostPattern, host: string): boolean {
  if (kind === 'any') return true;
  if (kind === 'exact') return host === text;
  return host.length > text.length && host.endsWith(text) && host[0] !== '.';
}
