// The binary operators of CEL over values. Each answers a value or a Failure; what only the library knows goes there.
import { sameAddress } from './address-functions.ts';
import { askLibrary, binaryShape, textMax } from './library.ts';
import {
  asInt,
  type Budget,
  canWalk,
  compare,
  divisionByZero,
  equal,
  Failure,
  growsTooLong,
  isForeign,
  isPlainMap,
  lookUp,
  noSuchOverload,
  tooMuchWork,
  type Value,
} from './values.ts';

/** Neither operand is a Failure. */
export type BinaryOperator = (left: Value, right: Value, budget: Budget) => Value;

export const binaryOperators: Readonly<Record<string, BinaryOperator>> = {
  '==': equals,
  '!=': (left, right, budget) => negated(equals(left, right, budget)),
  '<': (left, right, budget) => ordered('<', left, right, budget, (order) => order < 0),
  '<=': (left, right, budget) => ordered('<=', left, right, budget, (order) => order <= 0),
  '>': (left, right, budget) => ordered('>', left, right, budget, (order) => order > 0),
  '>=': (left, right, budget) => ordered('>=', left, right, budget, (order) => order >= 0),
  '+': add,
  '-': (left, right, budget) => arithmetic('-', left, right, budget, subtractInts, (a, b) => a - b),
  '*': (left, right, budget) => arithmetic('*', left, right, budget, multiplyInts, (a, b) => a * b),
  '/': (left, right, budget) => arithmetic('/', left, right, budget, divideInts, (a, b) => a / b),
  '%': (left, right, budget) => arithmetic('%', left, right, budget, remainderOfInts),
  in: isIn,
};

function equals(left: Value, right: Value, budget: Budget): Value {
  const same = sameAddress(left, right);
  if (same !== undefined) return same;
  if (isForeign(left) && isForeign(right)) return askLibrary(binaryShape('=='), [left, right], budget);
  if (isForeign(left) || isForeign(right)) return mixedEquals(left, right, budget);
  const result = equal(left, right, budget);
  return budget.steps < 0 ? tooMuchWork : result;
}

/** An unsigned integer equals an int or a double of the same value; nothing else of the library equals anything of ours. */
function mixedEquals(left: Value, right: Value, budget: Budget): Value {
  const numeric = [left, right].some((value) => typeof value === 'bigint' || typeof value === 'number');
  const holds = (operator: string): boolean => askLibrary(binaryShape(operator), [left, right], budget) === true;
  return numeric ? holds('>=') && holds('<=') : false;
}

const negated = (value: Value): Value => (typeof value === 'boolean' ? !value : value);

function ordered(
  operator: string,
  left: Value,
  right: Value,
  budget: Budget,
  holds: (order: number) => boolean,
): Value {
  const order = compare(left, right, budget);
  if (order === undefined) return library(operator, left, right, budget);
  return budget.steps < 0 ? tooMuchWork : holds(order);
}

function library(operator: string, left: Value, right: Value, budget: Budget): Value {
  if (!isForeign(left) && !isForeign(right)) return noSuchOverload;
  return askLibrary(binaryShape(operator), [left, right], budget);
}

function add(left: Value, right: Value, budget: Budget): Value {
  if (typeof left === 'string' && typeof right === 'string') {
    const length = left.length + right.length;
    if (length > textMax) return growsTooLong(budget);
    return canWalk(budget, length) ? left + right : tooMuchWork;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    budget.steps -= left.length + right.length;
    return budget.steps < 0 ? tooMuchWork : [...left, ...right];
  }
  return arithmetic('+', left, right, budget, addInts, (a, b) => a + b);
}

function arithmetic(
  operator: string,
  left: Value,
  right: Value,
  budget: Budget,
  ints: (a: bigint, b: bigint) => Value,
  doubles?: (a: number, b: number) => number,
): Value {
  if (typeof left === 'bigint' && typeof right === 'bigint') return ints(left, right);
  if (typeof left === 'number' && typeof right === 'number') return doubles ? doubles(left, right) : noSuchOverload;
  return library(operator, left, right, budget);
}

const addInts = (a: bigint, b: bigint): Value => asInt(a + b);
const subtractInts = (a: bigint, b: bigint): Value => asInt(a - b);
const multiplyInts = (a: bigint, b: bigint): Value => asInt(a * b);
const divideInts = (a: bigint, b: bigint): Value => (b === 0n ? divisionByZero : asInt(a / b));
const remainderOfInts = (a: bigint, b: bigint): Value => (b === 0n ? divisionByZero : a % b);

function isIn(item: Value, container: Value, budget: Budget): Value {
  if (Array.isArray(container)) return isInList(item, container, budget);
  if (isPlainMap(container)) return lookUp(container, item) !== undefined;
  return library('in', item, container, budget);
}

function isInList(item: Value, list: readonly Value[], budget: Budget): Value {
  for (const candidate of list) {
    budget.steps--;
    const same = equals(item, candidate, budget);
    if (same === true || same instanceof Failure) return same;
    if (budget.steps < 0) return tooMuchWork;
  }
  return false;
}
