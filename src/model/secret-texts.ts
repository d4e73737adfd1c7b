// Strings that came from secrets, and what is written for people without them (contract.md §1.6).
import type { ProxyConfig } from './proxy-config.ts';

/** Texts shorter than this are parts of ordinary words, and no secrets. */
const shortestSecret = 4;

/** Those that can be masked, in the order in which they have to be: one may be part of another. */
export const maskable = (texts: Iterable<string>): string[] =>
  [...new Set(texts)].filter(({ length }) => length >= shortestSecret).sort((a, b) => b.length - a.length);

/** The text with each of `secrets` in it shown as `***`. @param secrets as `maskable` gives them. */
export const withoutTexts = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);

/** Whole strings of the configuration in which a secret stands, as `maskable` gives them; none where nobody knows them. */
export const secretTextsOf = ({ secrets = [], snapshot }: Pick<ProxyConfig, 'secrets' | 'snapshot'>): string[] =>
  maskable(secrets.map((pointer) => at({ snapshot }, pointer)).filter((text) => typeof text === 'string'));

function at(value: unknown, pointer: string): unknown {
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
