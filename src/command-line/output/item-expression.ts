// Expressions of `-o cel=EXPR`: CEL over `item`, an entity as the API gives it.
import { untyped } from '../../expression/cel/environment.ts';
import { failed, wrongUsage } from '../exit.ts';

/** Returns the text of the expression's value for an item. Throws wrong usage for what does not parse. */
export function evaluatorOf(expression: string): (item: unknown) => string {
  const program = parsed(expression);
  return (item) => {
    try {
      return textOf(program({ item: celValue(item) }));
    } catch (error) {
      throw failed(`cel=${expression}: ${firstLine(error)}`);
    }
  };
}

function parsed(expression: string) {
  try {
    return untyped.parse(expression);
  } catch (error) {
    throw wrongUsage(`-o cel=${expression}: ${firstLine(error)}`);
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

/** Integral numbers are ints of CEL, as they are in expressions over bodies (contract.md §6.6). */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, celValue(each)]));
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each));
