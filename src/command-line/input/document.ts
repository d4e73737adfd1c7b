// Documents of an input file: values, and the place of a JSON pointer in them, which is looked for only where a fault is.
import { LineCounter } from 'yaml';
import type { Place } from './fault.ts';
import type { InputFile } from './input-files.ts';
import { offsetOf as jsonOffset, repeatedKey } from './json-scan.ts';
import type { Variables } from './variables.ts';
import { yamlValues } from './yaml-value.ts';

export interface InputDocument {
  readonly value: unknown;
  placeOf(segments: readonly string[]): Place;
}

type OnFault = (place: Place, message: string) => void;

/** Reads a file; faults of its text are told one by one. */
export function documentsOf(file: InputFile, variables: Variables, onFault: OnFault): InputDocument[] {
  const first = file.text.charCodeAt(file.text.search(/\S/));
  const mayBeJson = first === 0x7b || first === 0x5b;
  return (mayBeJson ? jsonDocument(file, variables, onFault) : undefined) ?? yamlDocuments(file, variables, onFault);
}

/** Returns undefined for a text that is no JSON: it may be YAML in flow style. */
function jsonDocument({ name, text }: InputFile, variables: Variables, onFault: OnFault): InputDocument[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const repeated = repeatedKey(text);
  if (repeated !== undefined)
    onFault(placeAt(name, text, repeated.at), `the key ${JSON.stringify(repeated.key)} is given twice`);
  const placeOf = (segments: readonly string[]) => placeAt(name, text, jsonOffset(text, segments));
  const filled = text.includes('$(')
    ? filledIn(value, variables, [], (segments, message) => onFault(placeOf(segments), message))
    : value;
  return repeated === undefined ? [{ value: filled, placeOf }] : [];
}

function filledIn(
  value: unknown,
  variables: Variables,
  path: readonly string[],
  onUnset: (segments: readonly string[], message: string) => void,
): unknown {
  if (typeof value === 'string') return variables.fill(value, false, (message) => onUnset(path, message));
  if (Array.isArray(value)) return value.map((each, at) => filledIn(each, variables, [...path, String(at)], onUnset));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, filledIn(each, variables, [...path, key], onUnset)]);
  return Object.fromEntries(entries);
}

function yamlDocuments({ name, text }: InputFile, variables: Variables, onFault: OnFault): InputDocument[] {
  let lines: LineCounter | undefined;
  const place = (at: number): Place => {
    lines ??= linesOf(text);
    const { line, col } = lines.linePos(at);
    return { file: name, line, column: col };
  };
  const found = yamlValues(text, variables, ({ at, message }) => onFault(place(at), message));
  return found.flatMap(({ value, offsetOf }) =>
    value === undefined || value === null ? [] : [{ value, placeOf: (segments) => place(offsetOf(segments)) }],
  );
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function placeAt(file: string, text: string, offset: number): Place {
  const before = text.lastIndexOf('\n', offset - 1);
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return { file, line, column: offset - before };
}
