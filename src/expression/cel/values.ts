// Values of expressions while they run, and the equality and ordering of CEL between them. A failure is a value too:
// throwing would cost microseconds on the ordinary miss of a header rule (expressions.md §4).

/** string, bigint (int), number (double), boolean, null, array (list), Map or plain object (map), Failure, or a value of the library. */
export type Value = unknown;

/** Evaluation error. Its reason is never shown to clients: it may contain input of theirs. */
export class Failure {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

export const noSuchKey = new Failure('no such key');
export const noSuchOverload = new Failure('no such overload');
export const notABool = new Failure('bool expected');
export const overflow = new Failure('integer overflow');
export const divisionByZero = new Failure('division by zero');
export const outOfRange = new Failure('index out of range');
export const notConvertible = new Failure('cannot be converted');
export const tooMuchWork = new Failure('takes too many steps');
const tooLong = new Failure('text grows too long');

export type PlainMap = Map<Value, Value> | Readonly<Record<string, Value>>;

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

export const asInt = (value: bigint): bigint | Failure => (value < int64Min || value > int64Max ? overflow : value);

function isPlainObject(value: Value): value is Readonly<Record<string, Value>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const isPlainMap = (value: Value): value is PlainMap => value instanceof Map || isPlainObject(value);

/** True for what only the library knows: timestamps, durations, unsigned integers, bytes, types. */
export function isForeign(value: Value): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return typeof value === 'function';
  return !(value instanceof Failure) && !isPlainMap(value);
}

/** The value under a key, or undefined. Numbers that are whole find integer keys. */
export function lookUp(map: PlainMap, key: Value): Value {
  if (map instanceof Map) return map.get(keyOf(key));
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Map keys of one number are one key, whether it was written as int or double. */
export const keyOf = (key: Value): Value =>
  typeof key === 'number' && Number.isInteger(key) && Math.abs(key) < 2 ** 63 ? BigInt(key) : key;

export const keysOf = (map: PlainMap): Value[] => (map instanceof Map ? [...map.keys()] : Object.keys(map));

export const sizeOfMap = (map: PlainMap): number => (map instanceof Map ? map.size : Object.keys(map).length);

/** Work that one evaluation may still do. Loops, lists and long texts spend it; below 0 the evaluation is exhausted. */
export interface Budget {
  steps: number;
}

/** Takes the cost of walking `units` UTF-16 units, one step for 64. False when the budget is exhausted. */
export function canWalk(budget: Budget, units: number): boolean {
  budget.steps -= units >> 6;
  return budget.steps >= 0;
}

/**
 * Takes the cost of looking for one text in another. Engines search in a time that grows with the product of both
 * lengths at worst: `aa…` holds no `aa…baa…`, and each position is compared for half of its length.
 */
export function canSearch(budget: Budget, units: number, wanted: number): boolean {
  budget.steps -= (units >> 6) + Math.floor((units * wanted) / 1024);
  return budget.steps >= 0;
}

/** Exhausts the budget: a text would grow beyond what an evaluation may build. */
export function growsTooLong(budget: Budget): Failure {
  budget.steps = Math.min(budget.steps, -1);
  return tooLong;
}

/** Equality of values that the library has no part in; values of different types are unequal. */
export function equal(left: Value, right: Value, budget: Budget): boolean {
  if (typeof left === 'string') return sameText(left, right, budget);
  if (left === right) return true;
  if (typeof left === 'bigint' || typeof left === 'number') {
    // biome-ignore lint/suspicious/noDoubleEquals: JavaScript compares bigint and number exactly, which is what CEL asks.
    return (typeof right === 'bigint' || typeof right === 'number') && left == right;
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, budget);
  return isPlainMap(left) && isPlainMap(right) && equalMaps(left, right, budget);
}

/** Equality of a text with a value; texts of one length are compared unit by unit. */
function sameText(left: string, right: Value, budget: Budget): boolean {
  if (typeof right !== 'string' || left.length !== right.length) return false;
  return canWalk(budget, left.length) && left === right;
}

/** Less than 0, 0, more than 0, NaN for values that compare false either way, or undefined when they have no order. */
export function compare(left: Value, right: Value, budget: Budget): number | undefined {
  if (typeof left === 'string') return typeof right === 'string' ? textOrder(left, right, budget) : undefined;
  if (typeof left === 'boolean') return typeof right === 'boolean' ? Number(left) - Number(right) : undefined;
  const numbers =
    (typeof left === 'bigint' || typeof left === 'number') && (typeof right === 'bigint' || typeof right === 'number');
  return numbers ? order(left, right) : undefined;
}

/** By code points. JavaScript goes by UTF-16 units, of which the halves of a pair lie before the last others. */
function textOrder(left: string, right: string, budget: Budget): number {
  const length = Math.min(left.length, right.length);
  if (!canWalk(budget, length) || left === right) return 0;
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  return at === length ? left.length - right.length : rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

const rank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x2800 : unit);

function order<T extends number | bigint>(left: T, right: T): number {
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: bigint and number again; what is left is equal or not a number.
  return left == right ? 0 : Number.NaN;
}

function equalLists(left: readonly Value[], right: readonly Value[], budget: Budget): boolean {
  if (left.length !== right.length) return false;
  budget.steps -= left.length;
  return budget.steps >= 0 && left.every((item, i) => equal(item, right[i], budget));
}

function equalMaps(left: PlainMap, right: PlainMap, budget: Budget): boolean {
  const keys = keysOf(left);
  if (keys.length !== sizeOfMap(right)) return false;
  budget.steps -= keys.length;
  return (
    budget.steps >= 0 &&
    keys.every((key) => {
      const other = lookUp(right, key);
      return other !== undefined && equal(lookUp(left, key), other, budget);
    })
  );
}
