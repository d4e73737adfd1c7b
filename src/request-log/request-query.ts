// Queries of the request log: limit and filter.

import { SluiceError } from '../errors.ts';
import { compileCel } from '../expression/cel/compiled-program.ts';
import { ExpressionError } from '../expression/expression-error.ts';
import type { RecentRequest } from '../model/answers/request-answers.ts';

export type Passes = (request: RecentRequest) => boolean;

const usualLimit = 100;

/** Returns the limit, 1 to 10,000; 100 when absent. Throws INVALID. */
export function limitOf(text: string | undefined): number {
  if (text === undefined) return usualLimit;
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 10_000) {
    throw new SluiceError('INVALID', 'limit must be a number from 1 to 10000');
  }
  return Number(text);
}

/** Returns the expression as a function; absent, all pass. Throws INVALID. */
export function passesOf(where: string | undefined): Passes {
  if (where === undefined) return () => true;
  try {
    const program = compileCel(where, 'recent', 'bool');
    return (request) => program.decide(request) === true;
  } catch (error) {
    if (error instanceof ExpressionError) throw new SluiceError('INVALID', `where: ${error.message}`);
    throw error;
  }
}
