// References to secrets inside string values, `{{secret:env:TOKEN}}`: found when a snapshot is captured, replaced when
// it is sent to proxies. The pattern is contract.md §2.9's `\{\{secret:(value|env|file):([^}]+)\}\}`, read by hand
// because a regular expression takes quadratic time on a text of many openings without an end.
import { pointerOf } from './problem.ts';

type SecretSource = 'value' | 'env' | 'file';

export interface SecretReference {
  /** `body`: a file of `bodyFrom`, which is no secret. */
  readonly source: SecretSource | 'body';
  /** Secret id, variable name or file path. */
  readonly argument: string;
  /** As written, braces included; the key of its value. */
  readonly text: string;
}

export interface PlacedReference extends SecretReference {
  /** JSON pointer of the string that holds it. */
  readonly pointer: string;
  /** JSON pointer of the string that has its value: the same, but for a stored body its `text`. */
  readonly valuePointer: string;
}

const secretMarker = '{{secret:';

/** Returns whether a text may hold a reference, so that its format cannot be judged before resolution (J12). */
export const holdsSecret = (text: string): boolean => text.includes(secretMarker);

/** Returns whether the JSON text of an entity may hold references: in strings, or as the source of a stored body. */
export const mayHoldReferences = (json: string): boolean => holdsSecret(json) || json.includes('"bodyFrom":{');

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
export const findReferences = (value: unknown): PlacedReference[] => {
  const found: PlacedReference[] = [];
  const onText: OnText = (text, pointer) => {
    for (const reference of referencesIn(text)) found.push({ ...reference, pointer, valuePointer: pointer });
  };
  walk(value, '', onText, (reference, field, pointer) => {
    found.push({ ...reference, pointer: `${pointer}/${field}`, valuePointer: `${pointer}/text` });
  });
  return found;
};

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
  const after = before.map(([key, part]): [string, unknown] => {
    const stored = key === 'bodyFrom' ? storedBodyOf(part) : undefined;
    const text = stored && resolve(stored.reference);
    return [key, text === undefined ? replaceReferences(part, resolve) : { text }];
  });
  return after.some(([, part], index) => part !== before[index]?.[1]) ? Object.fromEntries(after) : value;
};

/** Pointers of strings that still hold `{{secret:`: unresolved, or of a source that does not exist. */
export const leftovers = (value: unknown): string[] => {
  const found: string[] = [];
  walk(value, '', (_, pointer) => found.push(pointer));
  return found;
};

type OnText = (text: string, pointer: string) => void;
type OnStored = (reference: SecretReference, field: 'secret' | 'file', pointer: string) => void;

/** Visits strings with references, and sources of stored bodies. Others cost no memory: a list may have a million of them. */
const walk = (value: unknown, pointer: string, onText: OnText, onStored?: OnStored): void => {
  if (typeof value === 'string') {
    if (holdsSecret(value)) onText(value, pointer);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const part: unknown = (value as Readonly<Record<string | number, unknown>>)[key];
    if (typeof part === 'string') {
      if (holdsSecret(part)) onText(part, pointer + pointerOf(key));
    } else if (typeof part === 'object' && part !== null) {
      const at = pointer + pointerOf(key);
      const stored = key === 'bodyFrom' && onStored ? storedBodyOf(part) : undefined;
      if (stored !== undefined) onStored?.(stored.reference, stored.field, at);
      walk(part, at, onText, onStored);
    }
  }
};

interface StoredBody {
  readonly reference: SecretReference;
  readonly field: 'secret' | 'file';
}

/** Source of a stored body that a capture reads; undefined for text. One of a secret has the key of a reference to it. */
const storedBodyOf = (value: unknown): StoredBody | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const { secret, file } = value as Readonly<Record<string, unknown>>;
  if (typeof secret === 'string' && !holdsSecret(secret))
    return { field: 'secret', reference: { source: 'value', argument: secret, text: `{{secret:value:${secret}}}` } };
  if (typeof file === 'string' && !holdsSecret(file))
    return { field: 'file', reference: { source: 'body', argument: file, text: `{{secret:body:${file}}}` } };
  return undefined;
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
