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
    for (let i = 0; i < this.#flat.length; i += 2) {
      if (this.#flat[i]?.toLowerCase() === lowerName) return this.#flat[i + 1];
    }
    return undefined;
  }
}

/** Every line of that name, given in lower case. */
export function allValues(lines: FieldLines, lowerName: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < lines.count; i++) if (lines.name(i).toLowerCase() === lowerName) values.push(lines.value(i));
  return values;
}

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
