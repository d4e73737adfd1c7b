// Field edits: changes by middlewares to the fields of a message, on top of the parsed lines. Without edits the lines
// are copied as they arrived, whole runs at a time; the cost of an edit is proportional to the change.

import {
  allValues,
  combinedValue,
  type FieldLines,
  isFieldName,
  isFieldValue,
  separatorOf,
  trimmedValue,
} from './field-lines.ts';
import { identifyName, isOfConnection, plainSpelling } from './field-name.ts';

export class FieldEdits {
  /** Names in lower case; their parsed lines are left out. */
  #removed: string[] = [];
  /** Name in lower case, name to send, value; in turn. */
  #added: string[] = [];
  /** Predicates for protected names, in lower case and with `-` for `_`, which only their protection may set. */
  #protected: ((plainName: string) => boolean)[] = [];

  get empty(): boolean {
    return this.#removed.length === 0 && this.#added.length === 0;
  }

  clear(): void {
    if (this.#removed.length > 0) this.#removed = [];
    if (this.#added.length > 0) this.#added = [];
    if (this.#protected.length > 0) this.#protected = [];
  }

  copy(): FieldEdits {
    const copy = new FieldEdits();
    copy.#removed = [...this.#removed];
    copy.#added = [...this.#added];
    copy.#protected = [...this.#protected];
    return copy;
  }

  /**
   * Sets the only line of that name. Returns false, and changes nothing, for fields that no middleware may decide:
   * framing and connection fields, and names and values that are not valid in a message.
   */
  set(name: string, value: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower) || !isFieldValue(value)) return false;
    this.#drop(lower);
    this.#removed.push(lower);
    this.#added.push(lower, name, trimmedValue(value));
    return true;
  }

  /** Adds one more line. Returns false where `set` does. */
  append(name: string, value: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower) || !isFieldValue(value)) return false;
    this.#added.push(lower, name, trimmedValue(value));
    return true;
  }

  /** Removes all lines of that name, until one is set or appended. */
  remove(name: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower)) return false;
    this.#drop(lower);
    this.#removed.push(lower);
    return true;
  }

  /** Removes parsed lines of that name; set or appended ones stay. */
  removeParsed(name: string): boolean {
    const lower = name.toLowerCase();
    if (!mayEdit(lower)) return false;
    if (!this.#removed.includes(lower)) this.#removed.push(lower);
    return true;
  }

  /**
   * Removes trailers of such names too, before and after they arrive. The name is in lower case and has `-` for `_`.
   */
  protect(isProtected: (plainName: string) => boolean): void {
    this.#protected.push(isProtected);
  }

  /**
   * Returns the trailers, as whole lines, without those whose names were removed from the head: behind the body they
   * would come in again.
   */
  trailersOf(text: string): string {
    if (this.#removed.length === 0 && this.#protected.length === 0) return text;
    let kept = '';
    for (const line of text.split('\r\n')) if (line !== '' && !this.#closes(line)) kept += `${line}\r\n`;
    return kept;
  }

  #closes(line: string): boolean {
    const name = plainSpelling(line.slice(0, line.indexOf(':')).toLowerCase());
    return (
      this.#removed.some((removed) => plainSpelling(removed) === name) || this.#protected.some((claims) => claims(name))
    );
  }

  /** Sets the length of a body that was replaced. */
  setLength(bytes: number): void {
    this.#drop('content-length');
    this.#removed.push('content-length');
    this.#added.push('content-length', 'Content-Length', String(bytes));
  }

  /** Removes the length: it is not known in advance. */
  dropLength(): void {
    this.#drop('content-length');
    this.#removed.push('content-length');
  }

  /** Returns whether parsed lines of that name, in lower case, are left out. */
  removes(lowerName: string): boolean {
    return this.#removed.includes(lowerName);
  }

  /** Returns the effective value: an added one if the parsed ones are left out, otherwise the first parsed one. */
  first(lines: FieldLines, lowerName: string): string | undefined {
    const parsed = this.#removed.includes(lowerName) ? undefined : lines.first(lowerName);
    return parsed ?? this.added(lowerName);
  }

  /**
   * Returns the values of all lines of that name as one: the parsed ones, unless they are left out, then the added
   * ones.
   */
  combined(lines: FieldLines, lowerName: string): string | undefined {
    let value = this.#removed.includes(lowerName) ? undefined : combinedValue(lines, lowerName);
    for (let i = 0; i < this.#added.length; i += 3) {
      if (this.#added[i] !== lowerName) continue;
      const added = this.#added[i + 2] ?? '';
      value = value === undefined ? added : value + separatorOf(lowerName) + added;
    }
    return value;
  }

  /** Returns the value of the first added line of that name; undefined when there is none. */
  added(lowerName: string): string | undefined {
    const at = this.#nextAdded(lowerName, 0);
    return at < 0 ? undefined : this.#added[at + 2];
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

  /**
   * Returns whether other edits leave the same fields: lines of one name in one order, those of different names in any
   * (RFC 9110 §5.3). Without `lines`: whichever lines there are.
   */
  leavesSame(other: FieldEdits, lines?: FieldLines): boolean {
    if (this.#isEqual(other)) return true;
    return this.#agrees(other, lines) && other.#agrees(this, lines);
  }

  #isEqual(other: FieldEdits): boolean {
    return isSameList(this.#removed, other.#removed) && isSameList(this.#added, other.#added);
  }

  /** Returns whether each name that is edited here has the same values there. */
  #agrees(other: FieldEdits, lines: FieldLines | undefined): boolean {
    for (const name of this.#removed) if (!this.#agreesOn(name, other, lines)) return false;
    for (let i = 0; i < this.#added.length; i += 3)
      if (!this.#agreesOn(this.#added[i] ?? '', other, lines)) return false;
    return true;
  }

  #agreesOn(name: string, other: FieldEdits, lines: FieldLines | undefined): boolean {
    if (this.removes(name) === other.removes(name)) return this.#addsSame(name, other);
    return lines !== undefined && isSameList(this.#valuesOf(name, lines), other.#valuesOf(name, lines));
  }

  #addsSame(name: string, other: FieldEdits): boolean {
    let at = 0;
    for (let i = this.#nextAdded(name, 0); i >= 0; i = this.#nextAdded(name, i + 3)) {
      at = other.#nextAdded(name, at);
      if (at < 0 || other.#added[at + 2] !== this.#added[i + 2]) return false;
      at += 3;
    }
    return other.#nextAdded(name, at) < 0;
  }

  /** Place of the next added line of that name; −1 where there is none. */
  #nextAdded(name: string, from: number): number {
    for (let i = from; i < this.#added.length; i += 3) if (this.#added[i] === name) return i;
    return -1;
  }

  /** Values of the lines of that name, parsed ones first. */
  #valuesOf(name: string, lines: FieldLines): readonly string[] {
    const values = this.removes(name) ? [] : allValues(lines, name);
    for (let i = this.#nextAdded(name, 0); i >= 0; i = this.#nextAdded(name, i + 3))
      values.push(this.#added[i + 2] ?? '');
    return values;
  }

  #drop(lower: string): void {
    for (let i = this.#added.length - 3; i >= 0; i -= 3) if (this.#added[i] === lower) this.#added.splice(i, 3);
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** Yields each line after the edits: name in lower case, name to send, value. */
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

/** Cache by name: the names come from the configuration and are the same for each request. */
const editable = new Map<string, boolean>();
const editableMax = 4096;

/** Returns whether middlewares may edit the field: framing and hop-by-hop fields are excluded (contract.md §8.3). */
export function mayEdit(lowerName: string): boolean {
  const known = editable.get(lowerName);
  if (known !== undefined) return known;
  const may = isFieldName(lowerName) && !isOfConnection(identifyName(lowerName));
  if (editable.size < editableMax) editable.set(lowerName, may);
  return may;
}
