// Hosts of requests and the patterns that match them (contract.md §6.3).

/** Authority without port, in lower case; an IPv6 address keeps its brackets off: `[::1]:8080` is `::1`. */
export function hostOf(authority: string): string {
  const lower = authority.toLowerCase();
  if (lower.startsWith('[')) return lower.slice(1, lower.indexOf(']'));
  const colon = lower.indexOf(':');
  return colon < 0 || colon !== lower.lastIndexOf(':') ? lower : lower.slice(0, colon);
}

/** `exact`: one host. `suffix`: `*.a.b`, one or more labels before `.a.b`, which is the text. `any`: `*`. */
export interface HostPattern {
  readonly kind: 'exact' | 'suffix' | 'any';
  readonly text: string;
}

export function parseHostPattern(pattern: string): HostPattern {
  const text = pattern.toLowerCase();
  if (text === '*') return { kind: 'any', text };
  if (text.startsWith('*.')) return { kind: 'suffix', text: text.slice(1) };
  return { kind: 'exact', text: text.replace(/^\[(.*)\]$/, '$1') };
}

export function hostMatches({ kind, text }: HostPattern, host: string): boolean {
  if (kind === 'any') return true;
  if (kind === 'exact') return host === text;
  return host.length > text.length && host.endsWith(text) && host[0] !== '.';
}
