// Alternative names of a certificate. Node gives them as one line of text, in which ambiguous values are quoted as in
// JSON.
import type { X509Certificate } from 'node:crypto';

export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** Addresses as Node spells them: `127.0.0.1`, `0:0:0:0:0:0:0:1`. */
  readonly addresses: readonly string[];
}

const entry = /(DNS|URI|IP Address|[^:,"]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g;

export function alternativeNames({ subjectAltName }: X509Certificate): AlternativeNames {
  const names = { dnsNames: [] as string[], uris: [] as string[], addresses: [] as string[] };
  for (const [, kind, text = ''] of (subjectAltName ?? '').matchAll(entry)) {
    const list = kind === 'DNS' ? names.dnsNames : kind === 'URI' ? names.uris : names.addresses;
    if (kind === 'DNS' || kind === 'URI' || kind === 'IP Address') list.push(unquoted(text));
  }
  return names;
}

const unquoted = (text: string): string => (text.startsWith('"') ? String(JSON.parse(text)) : text);
