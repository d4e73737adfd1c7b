// The library's evaluator, one operation at a time: for values that only it knows (timestamps, durations, unsigned
// integers, bytes, types). Operands are evaluated by our closures first, so no loop ever runs outside their budget.
import type { ParseResult } from '@marcbachmann/cel-js';
import { untyped } from './environment.ts';
import { type Budget, Failure, growsTooLong, tooMuchWork, type Value } from './values.ts';

/** Longest text that an expression may build, in UTF-16 units. */
export const textMax = 1 << 20;

/** Steps of one operation of the library, which looks it up and judges its operands anew. */
const operationCost = 8;

const operands = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] as const;
const shapes = new Map<string, ParseResult>();

export const binaryShape = (operator: string): string => `a ${operator} b`;

export const functionShape = (name: string, count: number): string => `${name}(${operands.slice(0, count).join(', ')})`;

export const methodShape = (name: string, count: number): string =>
  `a.${name}(${operands.slice(1, count + 1).join(', ')})`;

/** Evaluates one operation, `a + b` or `a.getHours()`, over the values given. Never throws. */
export function askLibrary(shape: string, values: readonly Value[], budget: Budget): Value {
  let length = 0;
  for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) length += value.length;
  if (length > textMax) return growsTooLong(budget);
  budget.steps -= operationCost + (length >> 4);
  if (budget.steps < 0) return tooMuchWork;
  try {
    const result: unknown = operationOf(shape)(
      Object.fromEntries(values.map((value, i) => [operands[i] ?? '', value])),
    );
    return result === undefined ? new Failure('no value') : result;
  } catch (error) {
    return new Failure(error instanceof Error ? error.name : 'failed');
  }
}

/** A name that the library itself gives a value: `int`, `string`, `google`. Undefined when it has none. */
export function libraryConstant(name: string): Value {
  try {
    return untyped.evaluate(name);
  } catch {
    return undefined;
  }
}

/** Shapes are as few as the functions that the checker lets through. */
function operationOf(shape: string): ParseResult {
  let operation = shapes.get(shape);
  if (!operation) {
    operation = untyped.parse(shape);
    shapes.set(shape, operation);
  }
  return operation;
}
