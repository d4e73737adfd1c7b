// Date of final responses (RFC 9110 §6.6.1): those that Sluice makes have one, and those of an upstream without one get
// it when they are forwarded. Its text is made once a second in each thread.
import type { Clock } from '../../util/clock.ts';
import type { FieldEdits } from './field-edits.ts';
import type { FieldLines } from './field-lines.ts';

let second = Number.NaN;
let value = '';
let line = '';

function follow(clock: Clock): void {
  const now = Math.floor(clock.nowMs() / 1000);
  if (now === second) return;
  second = now;
  value = new Date(now * 1000).toUTCString();
  line = `Date: ${value}\r\n`;
}

/** Returns the time as the value of Date: `Thu, 26 Nov 2026 11:25:37 GMT`. */
export function dateValue(clock: Clock): string {
  follow(clock);
  return value;
}

/** Returns the field line of HTTP/1.1 with that value, its CR LF included. */
export function dateLine(clock: Clock): string {
  follow(clock);
  return line;
}

/** Fields of a head, as far as they decide about its Date. */
interface DatedHead {
  readonly lines: FieldLines;
  readonly edits?: FieldEdits;
  readonly named: readonly string[];
}

/** Returns whether a head has no Date that is passed on, and no edit has set or removed one. */
export function lacksDate({ lines, edits, named }: DatedHead): boolean {
  if (edits?.empty === false && (edits.removes('date') || edits.added('date') !== undefined)) return false;
  return !lines.hasDate || (named.length > 0 && named.includes('date'));
}
