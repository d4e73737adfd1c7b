// What middlewares changed about the fields of a message, on top of the lines that were parsed. While nothing was
// changed the lines travel as they came, whole runs at a time; a change costs what it changes.

import { combinedValue, type FieldLines, isFieldName, isFieldValue, separatorOf } from './field-lines.ts';
import { type FieldId, fieldId, identifyName, plainSpelling } from './field-name.ts';

export class FieldEdits {
  /** In lower case; every parsed line of these is left out. */
  #removed: string[] = [];
  /** Name in lower case, name to send, value; in turn. */
  #added: string[] = [];
  /** Whether a name, in lower case and with `-` for `_`, is one that only a protection may speak for. */
  #claims: ((plainName: string) => boolean)[] = [];

  get empty(): boolean {
    return this.#removed.length === 0 && this.#added.length === 0;
  }

  clear(): void {
    if (this.#removed.length > 0) this.#removed = [];
    if (this.#added.length > 0) this.#added = [];
    if (this.#claims.length > 0) this.#claims = [];
  }

  copy(): FieldEdits {
    const copy = new FieldEdits();
    copy.#removed = [...this.#removed];
    copy.#added = [...this.#added];
    copy.#claims = [...this.#claims];
    return copy;
  }

  /**
   * The only line of that name from here on. False, and nothing changes, for what no middleware may decide: framing and
   * connection fields, names and values that cannot stand in a message.
   */
  set(name: string, value: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower) || !isFieldValue(value)) return false;
    this.#drop(lower);
    this.#removed.push(lower);
    this.#added.push(lower, name, value);
    return true;
  }

  /** One more line. As `set`. */
  append(name: string, value: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower) || !isFieldValue(value)) return false;
    this.#added.push(lower, name, value);
    return true;
  }

  /** No line of that name from here on, until one is set or appended. */
  remove(name: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower)) return false;
    this.#drop(lower);
    this.#removed.push(lower);
    return true;
  }

  /** As `remove`, but what was set or appended stays. */
  removeParsed(name: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower)) return false;
    if (!this.#removed.includes(lower)) this.#removed.push(lower);
    return true;
  }

  /** No trailer of such a name goes on either, whenever it comes. The name is in lower case and has `-` for `_`. */
  claim(isClaimed: (plainName: string) => boolean): void {
    this.#claims.push(isClaimed);
  }

  /** Trailers, as whole lines, without what was removed from the head: behind the body it would come in again. */
  trailersOf(text: string): string {
    if (this.#removed.length === 0 && this.#claims.length === 0) return text;
    let kept = '';
    for (const line of text.split('\r\n')) if (line !== '' && !this.#closes(line)) kept += `${line}\r\n`;
    return kept;
  }

  #closes(line: string): boolean {
    const name = plainSpelling(line.slice(0, line.indexOf(':')).toLowerCase());
    return (
      this.#removed.some((removed) => plainSpelling(removed) === name) || this.#claims.some((claims) => claims(name))
    );
  }

  /** The body has another length than the message said. */
  setLength(bytes: number): void {
    this.#drop('content-length');
    this.#removed.push('content-length');
    this.#added.push('content-length', 'Content-Length', String(bytes));
  }

  /** Nobody knows how long the body is going to be. */
  dropLength(): void {
    this.#drop('content-length');
    this.#removed.push('content-length');
  }

  /** Parsed lines of that name, in lower case, are left out. */
  removes(lowerName: string): boolean {
    return this.#removed.includes(lowerName);
  }

  /** The value that counts: of what was added if the parsed ones are left out, else of the parsed ones first. */
  first(lines: FieldLines, lowerName: string): string | undefined {
    const parsed = this.#removed.includes(lowerName) ? undefined : lines.first(lowerName);
    return parsed ?? this.added(lowerName);
  }

  /** Values of all lines of that name as one: of the parsed ones, unless they are left out, and then of what was added. */
  combined(lines: FieldLines, lowerName: string): string | undefined {
    let value = this.#removed.includes(lowerName) ? undefined : combinedValue(lines, lowerName);
    for (let i = 0; i < this.#added.length; i += 3) {
      if (this.#added[i] !== lowerName) continue;
      const added = this.#added[i + 2] ?? '';
      value = value === undefined ? added : value + separatorOf(lowerName) + added;
    }
    return value;
  }

  /** Value of the first line of that name that was added; undefined when there is none. */
  added(lowerName: string): string | undefined {
    for (let i = 0; i < this.#added.length; i += 3) if (this.#added[i] === lowerName) return this.#added[i + 2];
    return undefined;
  }

  get addedCount(): number {
    return this.#added.length / 3;
  }

  addedLowerName(at: number): string {
    return this.#added[3 * at] ?? '';
  }

  addedName(at: number): string {
    return this.#added[3 * at + 1] ?? '';
  }

  addedValue(at: number): string {
    return this.#added[3 * at + 2] ?? '';
  }

  #drop(lower: string): void {
    for (let i = this.#added.length - 3; i >= 0; i -= 3) if (this.#added[i] === lower) this.#added.splice(i, 3);
  }
}

/** Every line as it stands after the edits: name in lower case, name to send, value. */
export function* editedLines(
  lines: FieldLines,
  edits: FieldEdits,
): Generator<readonly [lowerName: string, name: string, value: string]> {
  for (let i = 0; i < lines.count; i++) {
    const name = lines.name(i);
    const lower = name.toLowerCase();
    if (!edits.removes(lower)) yield [lower, name, lines.value(i)];
  }
  for (let i = 0; i < edits.addedCount; i++) yield [edits.addedLowerName(i), edits.addedName(i), edits.addedValue(i)];
}

const { contentLength, transferEncoding, connection, upgrade, te, expect, hopByHop } = fieldId;
const untouchable: ReadonlySet<FieldId> = new Set([
  contentLength,
  transferEncoding,
  connection,
  upgrade,
  te,
  expect,
  hopByHop,
]);

/** Names that were asked about: they come from the configuration, the same ones for every request. */
const editable = new Map<string, boolean>();
const editableMax = 4096;

/** Framing and what belongs to one hop are not the middlewares' (contract.md §8.3). */
export function mayEdit(lowerName: string): boolean {
  const known = editable.get(lowerName);
  if (known !== undefined) return known;
  const may = isFieldName(lowerName) && !untouchable.has(identifyName(lowerName));
  if (editable.size < editableMax) editable.set(lowerName, may);
  return may;
}
