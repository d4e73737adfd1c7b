// Strings that came from secrets, and what is written for people without them (contract.md §1.6): in the spelling of the secret,
// or as JSON, percent-encoding, a quoted pattern, a lower-case host or the bytes of a field spell it.
import type { ProxyConfig } from './proxy-config.ts';
import { needleOf, type Reading, readingsOf } from './spelling.ts';

/** Texts shorter than this are parts of ordinary words, and no secrets. */
const shortestSecret = 4;

/** Texts that can be masked, longest first. */
export const maskable = (texts: Iterable<string>): string[] =>
  [...new Set(texts)].filter(({ length }) => length >= shortestSecret).sort((a, b) => b.length - a.length);

/** Replacement for a secret in output. */
export const mask = '***';

/**
 * The text with each of `secrets` in it shown as `***`, however it is spelled. To be asked before the text is rendered: an
 * escape of an escape is not read. @param secrets as `maskable` gives them
 */
export function withoutTexts(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0 || text.length < shortestSecret) return text;
  const needles = needlesOf(secrets);
  const found = readingsOf(text).flatMap((reading) => [...rangesIn(reading, needles)]);
  return found.length === 0 ? text : masked(text, found);
}

/** The same for every string in a JSON value; keys are left as they are. */
export function valueWithoutTexts(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return withoutTexts(value, secrets);
  if (Array.isArray(value)) return value.map((each) => valueWithoutTexts(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, valueWithoutTexts(part, secrets)]));
}

/**
 * Strings of the configuration that contain a secret, whole, as `maskable` gives them; empty where they are unknown.
 */
export const secretTextsOf = ({ secrets = [], snapshot }: Pick<ProxyConfig, 'secrets' | 'snapshot'>): string[] =>
  maskable(secrets.map((pointer) => valueAt({ snapshot }, pointer)).filter((text) => typeof text === 'string'));

const known = new WeakMap<readonly string[], readonly Buffer[]>();

function needlesOf(secrets: readonly string[]): readonly Buffer[] {
  const found = known.get(secrets) ?? secrets.flatMap(needleOf);
  known.set(secrets, found);
  return found;
}

/** Characters from one up to another. */
type TextRange = readonly [from: number, to: number];

function* rangesIn({ bytes, places }: Reading, needles: readonly Buffer[]): Generator<TextRange> {
  for (const needle of needles) {
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) {
      yield [places[at] ?? 0, places[at + needle.length] ?? 0];
    }
  }
}

/** Places that overlap are one. */
function masked(text: string, places: TextRange[]): string {
  let result = '';
  let done = 0;
  for (const [from, to] of places.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (from >= done) result += text.slice(done, from) + mask;
    done = Math.max(done, to);
  }
  return result + text.slice(done);
}

/** Value at a JSON pointer; undefined where it leads nowhere. */
export function valueAt(value: unknown, pointer: string): unknown {
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
