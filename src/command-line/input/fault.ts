// Faults of input files: where, in which resource, at which field, and what is wrong.
import { padTo, printable, widthOf } from '../output/text-table.ts';

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

export interface Fault {
  readonly place: Place;
  /** `routes/shop`; empty for a fault of the file itself. */
  readonly subject: string;
  /** JSON pointer within the resource. */
  readonly pointer: string;
  readonly message: string;
}

/** Faults that are listed; what reads input stops looking there. */
export const faultsMax = 100;

export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

/** Lines of faults in the order of their places, in columns. */
export function faultLines(faults: readonly Fault[]): string[] {
  const sorted = [...faults].sort(
    (a, b) => compare(a.place.file, b.place.file) || a.place.line - b.place.line || a.place.column - b.place.column,
  );
  const rows = sorted.slice(0, faultsMax).map(({ place, subject, pointer, message }) => ({
    place: placeText(place),
    subject: printable(subject),
    rest: [pointer, message]
      .filter((part) => part !== '')
      .map((part) => printable(part, true))
      .join(' '),
  }));
  const [places, subjects] = [rows.map(({ place }) => place), rows.map(({ subject }) => subject)].map((texts) =>
    Math.max(0, ...texts.map(widthOf)),
  );
  return rows.map(({ place, subject, rest }) =>
    [padTo(place, places ?? 0), ...(subjects === 0 ? [] : [padTo(subject, subjects ?? 0)]), rest].join('  '),
  );
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
