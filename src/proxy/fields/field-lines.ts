// Field lines of a message as parsed, in any version of HTTP. They are read in place: a connection's parser is one
// such list, an array of texts another.
import { type FieldId, identifyName } from './field-name.ts';

/** Values are byte strings: one character per byte, as sent (RFC 9110 §5.5). Lines keep their order. */
export interface FieldLines {
  readonly count: number;
  /** True when one of them is a Date. */
  readonly hasDate: boolean;
  /** Returns the name as sent. */
  name(line: number): string;
  value(line: number): string;
  /** Returns the `fieldId` of a line. */
  id(line: number): FieldId;
  /** Returns the value of the first line of that name, given in lower case; undefined when there is none. */
  first(lowerName: string): string | undefined;
  /**
   * Returns the index of the next line of that name, given in lower case, at or behind `from`; −1 when there is none.
   */
  lineOf(lowerName: string, from: number): number;
}

/** Lines that Sluice made. */
export class FieldList implements FieldLines {
  readonly #flat: readonly string[];

  /** Takes names and values in turn. */
  constructor(flat: readonly string[]) {
    this.#flat = flat;
  }

  static readonly empty = new FieldList([]);

  get count(): number {
    return this.#flat.length >> 1;
  }

  get hasDate(): boolean {
    return this.lineOf('date', 0) >= 0;
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

/** Returns the values of all lines of that name, given in lower case. */
export function allValues(lines: FieldLines, lowerName: string): string[] {
  const values: string[] = [];
  for (let i = lines.lineOf(lowerName, 0); i >= 0; i = lines.lineOf(lowerName, i + 1)) values.push(lines.value(i));
  return values;
}

/**
 * Returns the text between the values of several lines of one name (RFC 9110 §5.3), and between cookies (RFC 9113
 * §8.2.3). Lines of Set-Cookie are never joined: a comma may be part of a date.
 */
export const separatorOf = (lowerName: string): string => (lowerName === 'cookie' ? '; ' : ', ');

/**
 * Returns the values of all lines of that name, given in lower case, as one, in the form in which a recipient may
 * combine them. Undefined when there is none.
 */
export function combinedValue(lines: FieldLines, lowerName: string): string | undefined {
  let line = lines.lineOf(lowerName, 0);
  if (line < 0) return undefined;
  let value = lines.value(line);
  for (line = lines.lineOf(lowerName, line + 1); line >= 0; line = lines.lineOf(lowerName, line + 1)) {
    value += separatorOf(lowerName) + lines.value(line);
  }
  return value;
}

/** Returns the elements of a list value, without blanks around them; empty ones are left out (RFC 9110 §5.6.1). */
export const listElements = (value: string): string[] =>
  value
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '');

/** Returns the non-empty values of all lines with this id, in order. */
export function valuesOf(lines: FieldLines, id: FieldId): string[] {
  const values: string[] = [];
  for (let i = 0; i < lines.count; i++) if (lines.id(i) === id && lines.value(i) !== '') values.push(lines.value(i));
  return values;
}

const tokenText = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a field value may not hold (RFC 9110 §5.5)
const unsendable = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Returns whether a text is valid as a field name. */
export const isFieldName = (text: string): boolean => tokenText.test(text);

/** Returns whether a byte string is valid as a field value. */
export const isFieldValue = (text: string): boolean => !unsendable.test(text);

/** Returns a text of the configuration, or of a service, as it is sent: its UTF-8 bytes, one character each. */
export function fieldText(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text;
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/**
 * Returns a field value without the blanks around it: they are no part of it (RFC 9110 §5.5), and peers of HTTP/2 refuse
 * them (RFC 9113 §8.2.1).
 */
export function trimmedValue(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value.charCodeAt(from))) from++;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--;
  return to - from === value.length ? value : value.slice(from, to);
}

/** Returns a text of the configuration as a whole field value. */
export const valueText = (text: string): string => trimmedValue(fieldText(text));

/** Returns a text as a field value can carry it: a blank in place of each control character. */
export const sendableText = (text: string): string => fieldText(text.replace(new RegExp(unsendable, 'g'), ' ')).trim();

/**
 * Returns a received byte string as text for people and services: decoded as UTF-8 where valid, otherwise byte by
 * byte.
 */
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
