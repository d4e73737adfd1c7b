// Functions and methods of CEL over plain values: conversions, size, and the string functions of contract.md §6.6.
// A method's receiver is its first argument. What is not here, the library answers.
import { addressFunctions, addressMethods } from './address-functions.ts';
import { textMax } from './library.ts';
import {
  asInt,
  type Budget,
  canSearch,
  canWalk,
  growsTooLong,
  isPlainMap,
  noSuchOverload,
  notConvertible,
  outOfRange,
  overflow,
  sizeOfMap,
  tooMuchWork,
  type Value,
} from './values.ts';

/** No argument is a Failure. Undefined: not a case for this function, ask the library. */
export type Operation = (a: Value, b: Value, c: Value, budget: Budget, d?: Value) => Value;

/** By name and number of arguments, the receiver not counted: `size/1`. */
const plainFunctions: Readonly<Record<string, Operation>> = {
  'size/1': (value, _b, _c, budget) => sizeOf(value, budget),
  'dyn/1': (value) => value,
  'string/1': toText,
  'int/1': toInt,
  'double/1': (value, _b, _c, budget) => toDouble(value, budget),
  'bool/1': toBool,
};

const plainMethods: Readonly<Record<string, Operation>> = {
  'size/0': (value, _b, _c, budget) => sizeOf(value, budget),
  'startsWith/1': (text, part, _, budget) => onTexts(text, part, budget, (a, b) => a.startsWith(b)),
  'endsWith/1': (text, part, _, budget) => onTexts(text, part, budget, (a, b) => a.endsWith(b)),
  'contains/1': (text, part, _, budget) => search(text, part, budget, (a, b) => a.includes(b)),
  'lowerAscii/0': (text, _b, _c, budget) =>
    onText(text, budget, (a) => a.replace(/[A-Z]+/g, (found) => found.toLowerCase())),
  'upperAscii/0': (text, _b, _c, budget) =>
    onText(text, budget, (a) => a.replace(/[a-z]+/g, (found) => found.toUpperCase())),
  'trim/0': (text, _b, _c, budget) => onText(text, budget, (a) => a.trim()),
  'charAt/1': (text, at, _, budget) => substring(text, at, typeof at === 'bigint' ? at + 1n : at, budget, 'clamp'),
  'substring/1': (text, from, _, budget) => substring(text, from, undefined, budget),
  'substring/2': (text, from, to, budget) => substring(text, from, to, budget),
  'indexOf/1': (text, part, _, budget) => indexOf(text, part, 0n, budget),
  'indexOf/2': (text, part, from, budget) => indexOf(text, part, from, budget),
  'lastIndexOf/1': (text, part, _, budget) =>
    search(text, part, budget, (a, b) => count(codePoints(a, a.lastIndexOf(b)))),
  'replace/2': (text, old, by, budget) => replace(text, old, by, -1n, budget),
  'replace/3': (text, old, by, budget, times) => replace(text, old, by, times, budget),
  'split/1': (text, separator, _, budget) => split(text, separator, -1n, budget),
  'split/2': split,
  'join/0': (list, _b, _c, budget) => join(list, '', budget),
  'join/1': (list, separator, _, budget) => join(list, separator, budget),
};

/** `string` is of both: each leaves alone what is not its own. */
const joinedWith = (
  plain: Readonly<Record<string, Operation>>,
  ofAddresses: typeof addressFunctions,
): Readonly<Record<string, Operation>> => {
  const joined: Record<string, Operation> = { ...plain };
  for (const [key, { run }] of Object.entries(ofAddresses)) {
    const other = plain[key];
    joined[key] = other === undefined ? run : (a, b, c, budget, d) => other(a, b, c, budget, d) ?? run(a, b);
  }
  return joined;
};

export const functions = joinedWith(plainFunctions, addressFunctions);
export const methods = joinedWith(plainMethods, addressMethods);

const small = Array.from({ length: 1024 }, (_, i) => BigInt(i));

/** A count as an int, without allocation when it is small. */
const count = (value: number): bigint => small[value] ?? BigInt(value);

function onText(text: Value, budget: Budget, run: (text: string) => Value): Value {
  if (typeof text !== 'string') return undefined;
  return canWalk(budget, text.length) ? run(text) : tooMuchWork;
}

type OnTexts = (text: string, part: string) => Value;

/** Looks at one end of a text. */
function onTexts(text: Value, part: Value, budget: Budget, run: OnTexts): Value {
  if (typeof text !== 'string' || typeof part !== 'string') return undefined;
  return canWalk(budget, part.length) ? run(text, part) : tooMuchWork;
}

/** Looks through a text. */
function search(text: Value, part: Value, budget: Budget, run: OnTexts): Value {
  if (typeof text !== 'string' || typeof part !== 'string') return undefined;
  return canSearch(budget, text.length, part.length) ? run(text, part) : tooMuchWork;
}

function sizeOf(value: Value, budget: Budget): Value {
  if (typeof value === 'string') return onText(value, budget, (text) => count(codePoints(text, text.length)));
  if (Array.isArray(value)) return count(value.length);
  if (!isPlainMap(value)) return undefined;
  const size = sizeOfMap(value);
  budget.steps -= size >> 3;
  return budget.steps < 0 ? tooMuchWork : count(size);
}

/** Counts the code points before a UTF-16 position; -1 stays -1. */
function codePoints(text: string, end: number): number {
  let points = end;
  for (let i = 1; i < end; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) points--;
  }
  return points;
}

/** The UTF-16 position of a code point, or undefined when the text has fewer. */
function unitOf(text: string, point: bigint): number | undefined {
  if (point < 0n || point > BigInt(text.length)) return undefined;
  let unit = 0;
  for (let left = Number(point); left > 0; left--) {
    if (unit >= text.length) return undefined;
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

function substring(text: Value, from: Value, to: Value, budget: Budget, end: 'strict' | 'clamp' = 'strict'): Value {
  if (typeof text !== 'string' || typeof from !== 'bigint') return undefined;
  if (to !== undefined && typeof to !== 'bigint') return undefined;
  if (!canWalk(budget, text.length)) return tooMuchWork;
  const start = unitOf(text, from);
  const stop = to === undefined ? text.length : (unitOf(text, to) ?? (end === 'clamp' ? text.length : undefined));
  return start === undefined || stop === undefined || stop < start ? outOfRange : text.slice(start, stop);
}

function indexOf(text: Value, part: Value, from: Value, budget: Budget): Value {
  if (typeof text !== 'string' || typeof part !== 'string' || typeof from !== 'bigint') return undefined;
  if (!canWalk(budget, text.length) || !canSearch(budget, text.length, part.length)) return tooMuchWork;
  const start = unitOf(text, from);
  if (start === undefined) return outOfRange;
  const found = text.indexOf(part, start);
  return found < 0 ? -1n : count(codePoints(text, found));
}

function replace(text: Value, old: Value, by: Value, times: Value, budget: Budget): Value {
  if (typeof text !== 'string' || typeof old !== 'string' || typeof by !== 'string') return undefined;
  if (typeof times !== 'bigint') return undefined;
  if (!canSearch(budget, text.length, old.length)) return tooMuchWork;
  const found = old === '' ? text.length + 1 : text.split(old).length - 1;
  budget.steps -= found;
  if (budget.steps < 0) return tooMuchWork;
  let left = times < 0n ? found : Math.min(Number(times), found);
  const length = text.length + left * (by.length - old.length);
  if (length > textMax) return growsTooLong(budget);
  if (!canWalk(budget, length)) return tooMuchWork;
  return text.replaceAll(old, (same) => (left-- > 0 ? by : same));
}

function split(text: Value, separator: Value, limit: Value, budget: Budget): Value {
  if (typeof text !== 'string' || typeof separator !== 'string' || typeof limit !== 'bigint') return undefined;
  if (limit === 0n) return [];
  if (!canSearch(budget, text.length, separator.length)) return tooMuchWork;
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  budget.steps -= parts.length;
  if (budget.steps < 0) return tooMuchWork;
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const kept = parts.slice(0, Number(limit) - 1);
  return [...kept, parts.slice(kept.length).join(separator)];
}

function join(list: Value, separator: Value, budget: Budget): Value {
  if (!Array.isArray(list) || typeof separator !== 'string') return undefined;
  budget.steps -= list.length;
  let length = separator.length * list.length;
  for (const item of list) {
    if (typeof item !== 'string') return noSuchOverload;
    length += item.length;
  }
  if (length > textMax) return growsTooLong(budget);
  return canWalk(budget, length) && budget.steps >= 0 ? list.join(separator) : tooMuchWork;
}

function toText(value: Value): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  if (typeof value !== 'number') return undefined;
  return Number.isFinite(value) || Number.isNaN(value) ? `${value}` : value > 0 ? '+Inf' : '-Inf';
}

function toInt(value: Value): Value {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? asInt(BigInt(Math.trunc(value))) : overflow;
  if (typeof value !== 'string') return undefined;
  return /^[+-]?[0-9]{1,19}$/.test(value) ? asInt(BigInt(value.replace('+', ''))) : notConvertible;
}

function toDouble(value: Value, budget: Budget): Value {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return undefined;
  if (!canWalk(budget, value.length)) return tooMuchWork;
  if (/^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(value)) return Number(value);
  const named = /^([+-]?)inf(inity)?$/i.exec(value);
  if (named) return named[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^nan$/i.test(value) ? Number.NaN : notConvertible;
}

function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (['1', 't', 'true', 'TRUE', 'True'].includes(value)) return true;
  return ['0', 'f', 'false', 'FALSE', 'False'].includes(value) ? false : notConvertible;
}
