// The field lines of a message as it was parsed, whatever version of HTTP brought them. Nothing is copied to look at
// them; a connection's parser is one such list, an array of texts another.
import { type FieldId, identifyName } from './field-name.ts';

/** Values are byte strings: one character per byte, as they travel (RFC 9110 §5.5). Lines keep the order in which they came. */
export interface FieldLines {
  readonly count: number;
  /** Name as sent. */
  name(line: number): string;
  value(line: number): string;
  /** One of `fieldId`. */
  id(line: number): FieldId;
  /** Value of the first line of that name, given in lower case; undefined when there is none. */
  first(lowerName: string): string | undefined;
  /** Place of the next line of that name, given in lower case, at or behind `from`; −1 when there is none. */
  lineOf(lowerName: string, from: number): number;
}

/** Lines that Sluice made itself. */
export class FieldList implements FieldLines {
  readonly #flat: readonly string[];

  /** Names and values in turn. */
  constructor(flat: readonly string[]) {
    this.#flat = flat;
  }

  static readonly empty = new FieldList([]);

  get count(): number {
    return this.#flat.length >> 1;
  }

  name(line: number): string {
    return this.#flat[2 * line] ?? '';
  }

  value(line: number): string {
    return this.#flat[2 * line + 1] ?? '';
  }

  id(line: number): FieldId {
    return identifyName(this.name(line));
  }

  first(lowerName: string): string | undefined {
    const line = this.lineOf(lowerName, 0);
    return line < 0 ? undefined : this.value(line);
  }

  lineOf(lowerName: string, from: number): number {
    for (let i = 2 * from; i < this.#flat.length; i += 2) {
      const name = this.#flat[i];
      if (name?.length === lowerName.length && name.toLowerCase() === lowerName) return i >> 1;
    }
    return -1;
  }
}

/** Every line of that name, given in lower case. */
export function allValues(lines: FieldLines, lowerName: string): string[] {
  const values: string[] = [];
  for (let i = lines.lineOf(lowerName, 0); i >= 0; i = lines.lineOf(lowerName, i + 1)) values.push(lines.value(i));
  return values;
}

/**
 * Text between the values of several lines of one name (RFC 9110 §5.3), and between cookies (RFC 9113 §8.2.3). Lines of
 * Set-Cookie are never joined: a comma may be part of a date.
 */
export const separatorOf = (lowerName: string): string => (lowerName === 'cookie' ? '; ' : ', ');

/** Values of all lines of that name, given in lower case, as one: what a recipient may read them as. Undefined when there is none. */
export function combinedValue(lines: FieldLines, lowerName: string): string | undefined {
  let line = lines.lineOf(lowerName, 0);
  if (line < 0) return undefined;
  let value = lines.value(line);
  for (line = lines.lineOf(lowerName, line + 1); line >= 0; line = lines.lineOf(lowerName, line + 1)) {
    value += separatorOf(lowerName) + lines.value(line);
  }
  return value;
}

/** Elements of a value that is a list, without blanks around them; empty ones are none (RFC 9110 §5.6.1). */
export const listElements = (value: string): string[] =>
  value
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '');

/** Non-empty values of all lines with this id, in order. */
export function valuesOf(lines: FieldLines, id: FieldId): string[] {
  const values: string[] = [];
  for (let i = 0; i < lines.count; i++) if (lines.id(i) === id && lines.value(i) !== '') values.push(lines.value(i));
  return values;
}

const tokenText = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a field value may not hold (RFC 9110 §5.5)
const unsendable = /[\x00-\x08\x0a-\x1f\x7f]/;

/** A name that may stand in a message. */
export const isFieldName = (text: string): boolean => tokenText.test(text);

/** A byte string that may stand as a value. */
export const isFieldValue = (text: string): boolean => !unsendable.test(text);

/** Text of the configuration, or of a service, as it travels: its UTF-8 bytes, one character each. */
export function fieldText(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text;
}

/** What travelled, as text for people and services: UTF-8 where it is that, else byte by byte. */
export function readableText(value: string): string {
  for (let i = 0; i < value.length; i++) {
    if (value.charCodeAt(i) > 0x7f) return decodeUtf8(value);
  }
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
