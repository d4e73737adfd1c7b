// References to secrets inside string values, `{{secret:env:TOKEN}}`: found when a snapshot is captured, replaced when
// it is sent to proxies. The pattern is contract.md §2.9's `\{\{secret:(value|env|file):([^}]+)\}\}`, read by hand
// because a regular expression takes quadratic time on a text of many openings without an end.
import { pointerOf } from './problem.ts';

type SecretSource = 'value' | 'env' | 'file';

export interface SecretReference {
  readonly source: SecretSource;
  /** Secret id, variable name or file path. */
  readonly argument: string;
  /** As written, braces included; the key of its value. */
  readonly text: string;
}

export interface PlacedReference extends SecretReference {
  /** JSON pointer of the string that holds it. */
  readonly pointer: string;
}

const secretMarker = '{{secret:';

/** Returns whether a text may hold a reference, so that its format cannot be judged before resolution (J12). */
export const holdsSecret = (text: string): boolean => text.includes(secretMarker);

const nearMarker = /\{\{\s*secret\s*:/gi;

/**
 * Text that begins like a reference and is none for its blanks or capitals, so that it would pass as text: `{{ secret:`.
 * Undefined where the text has nothing of that kind.
 */
export const misspeltReference = (text: string): string | undefined =>
  text.includes('{{') ? text.match(nearMarker)?.find((found) => found !== secretMarker) : undefined;

/** All references in one text, left to right. */
export const referencesIn = (text: string): SecretReference[] => [...matches(text)].map(({ reference }) => reference);

/** All references in the string values of a JSON value, in document order. Map keys are not read. */
export const findReferences = (value: unknown): PlacedReference[] =>
  stringsOf(value, '').flatMap(([text, pointer]) => referencesIn(text).map((reference) => ({ ...reference, pointer })));

/** The text with every reference replaced for which `resolve` has a value. What was put in is not read again. */
const replaceIn = (text: string, resolve: (reference: SecretReference) => string | undefined): string => {
  let result = '';
  let done = 0;
  for (const { start, reference } of matches(text)) {
    result += text.slice(done, start) + (resolve(reference) ?? reference.text);
    done = start + reference.text.length;
  }
  return done === 0 ? text : result + text.slice(done);
};

/** A copy of a JSON value with every reference replaced; parts without references are shared. */
export const replaceReferences = (
  value: unknown,
  resolve: (reference: SecretReference) => string | undefined,
): unknown => {
  if (typeof value === 'string') return holdsSecret(value) ? replaceIn(value, resolve) : value;
  if (Array.isArray(value)) {
    const copy = value.map((element) => replaceReferences(element, resolve));
    return copy.some((element, index) => element !== value[index]) ? copy : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const before = Object.entries(value);
  const after = before.map(([key, part]): [string, unknown] => [key, replaceReferences(part, resolve)]);
  return after.some(([, part], index) => part !== before[index]?.[1]) ? Object.fromEntries(after) : value;
};

/** Pointers of strings that still hold `{{secret:`: unresolved, or of a source that does not exist. */
export const leftovers = (value: unknown): string[] =>
  stringsOf(value, '')
    .filter(([text]) => holdsSecret(text))
    .map(([, pointer]) => pointer);

/** Lists the strings with references. Others cost no memory: a list may have a million of them. */
const stringsOf = (value: unknown, pointer: string): PlacedText[] => {
  if (typeof value === 'string') return holdsSecret(value) ? [[value, pointer]] : [];
  const found: PlacedText[] = [];
  collect(value, pointer, found);
  return found;
};

type PlacedText = readonly [text: string, pointer: string];

const collect = (value: unknown, pointer: string, found: PlacedText[]): void => {
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  const keys = isList ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const part: unknown = (value as Readonly<Record<string | number, unknown>>)[key];
    if (typeof part === 'object') collect(part, pointer + pointerOf(key), found);
    else if (typeof part === 'string' && holdsSecret(part)) found.push([part, pointer + pointerOf(key)]);
  }
};

interface Match {
  readonly start: number;
  readonly reference: SecretReference;
}

function* matches(text: string): Generator<Match> {
  let end = -1;
  for (let start = text.indexOf(secretMarker); start >= 0; ) {
    const from = start + secretMarker.length;
    // The argument runs to the first brace, so one search serves every opening before it: linear in all.
    if (end < from) end = text.indexOf('}', from);
    if (end < 0) return;
    const reference = read(text, start, from, end);
    if (reference !== undefined) yield { start, reference };
    start = text.indexOf(secretMarker, reference === undefined ? start + 1 : end + 2);
  }
}

/** The reference from `start` to the two braces at `end`, if it is one. */
const read = (text: string, start: number, from: number, end: number): SecretReference | undefined => {
  if (text[end + 1] !== '}') return undefined;
  const colon = text.indexOf(':', from);
  const source = text.slice(from, Math.min(colon, from + 6));
  if (colon < 0 || colon + 1 >= end || !isSource(source)) return undefined;
  return { source, argument: text.slice(colon + 1, end), text: text.slice(start, end + 2) };
};

const isSource = (text: string): text is SecretSource => text === 'value' || text === 'env' || text === 'file';
