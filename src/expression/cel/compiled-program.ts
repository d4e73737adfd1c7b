// Programs, made of the text of an expression: length, parse, rules, types, closures (expressions.md §5). The model
// checks expressions with `checkCel`; the proxy compiles them once per table and runs them per request.
import type { ASTNode, Environment, ParseResult, SourceRange } from '@marcbachmann/cel-js';
import { ExpressionError } from '../expression-error.ts';
import { SharedByText } from '../shared-by-text.ts';
import { mendBytes } from './bytes-literals.ts';
import { compileNode } from './closures.ts';
import { type EnvironmentName, environments } from './environment.ts';
import { inspect, RuleError } from './inspect.ts';
import {
  type ClaimsInput,
  claimsRoots,
  type GuardInput,
  guardRoots,
  type RecentInput,
  type Roots,
  recentRoots,
  requestRoots,
  responseRoots,
} from './roots.ts';
import type { Frame, Run } from './stack-frame.ts';
import type { RequestView } from './value-view.ts';
import { Failure, type Value } from './values.ts';

/** `bool`: a condition. `string`, `number`: a text, a number of any type. `any`: a value, as jwt.claimToHeaders asks for. */
export type ResultKind = 'bool' | 'string' | 'number' | 'any';

const typesOf: Readonly<Record<Exclude<ResultKind, 'any'>, readonly string[]>> = {
  bool: ['bool'],
  string: ['string'],
  number: ['int', 'uint', 'double'],
};

/** Longest expression, in UTF-16 units. */
export const expressionMax = 8192;

/** Work that one evaluation may do: rounds of loops, list items compared or copied, 64 characters walked (expressions.md §5.1). */
const stepsMax = 100_000;

/**
 * Result of a condition. `error`: it failed, or is no bool. `exhausted`: it needs more work than one evaluation may do,
 * or builds a longer text. Each place that decides says what these two mean to it (expressions.md §6).
 */
export type Decision = boolean | 'error' | 'exhausted';

export interface CelInputs {
  readonly request: RequestView;
  readonly response: RequestView;
  readonly claims: ClaimsInput;
  readonly guard: GuardInput;
  readonly recent: RecentInput;
}

/** Immutable. Evaluation is synchronous and never throws. */
export interface CelProgram<Input> {
  readonly source: string;
  /** True when the expression reads `request.body`, so that the body must be buffered first. */
  readonly needsBody: boolean;
  decide(input: Input): Decision;
  /** Steps that the latest evaluation took. */
  readonly stepsTaken: number;
  /** The value, ints as bigint; undefined when the evaluation fails. */
  value(input: Input): Value | undefined;
}

/**
 * Compiles an expression; the same text gives the same program while a reference to it exists. Throws ExpressionError:
 * `cel: … at line 1, column 1`.
 */
export function compileCel<Name extends EnvironmentName>(
  source: string,
  environment: Name,
  result: ResultKind,
): CelProgram<CelInputs[Name]> {
  return programs[environment].get(`${result} ${source}`, () => {
    const { ast, needsBody } = checked(source, environments[environment], result);
    const run = compileNode(ast, { roots: roots[environment], variables: new Map(), depth: 0 });
    return new Program(source, needsBody, run);
  });
}

/** Returns the problem of an expression, as a message for the operator, or undefined when there is none. */
export function checkCel(source: string, environment: EnvironmentName, result: ResultKind): string | undefined {
  try {
    checked(source, environments[environment], result);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const roots: { readonly [Name in EnvironmentName]: Roots<CelInputs[Name]> } = {
  request: requestRoots,
  response: responseRoots,
  claims: claimsRoots,
  guard: guardRoots,
  recent: recentRoots,
};

const programs: { readonly [Name in EnvironmentName]: SharedByText<CelProgram<CelInputs[Name]>> } = {
  request: new SharedByText(),
  response: new SharedByText(),
  claims: new SharedByText(),
  guard: new SharedByText(),
  recent: new SharedByText(),
};

class Program<Input> implements CelProgram<Input> {
  readonly source: string;
  readonly needsBody: boolean;
  readonly #run: Run<Input>;
  /** Used again by every evaluation: they are synchronous and do not nest. */
  #frame: Frame<Input> | undefined;

  constructor(source: string, needsBody: boolean, run: Run<Input>) {
    this.source = source;
    this.needsBody = needsBody;
    this.#run = run;
  }

  decide(input: Input): Decision {
    const value = this.#evaluate(input);
    if (typeof value === 'boolean') return value;
    // Whichever failure came out: a budget that ran out on the way may have kept another operand from deciding.
    return (this.#frame?.steps ?? 0) < 0 ? 'exhausted' : 'error';
  }

  get stepsTaken(): number {
    return stepsMax - (this.#frame?.steps ?? stepsMax);
  }

  value(input: Input): Value | undefined {
    const value = this.#evaluate(input);
    return value instanceof Failure ? undefined : value;
  }

  #evaluate(input: Input): Value {
    this.#frame ??= { input, slots: [], steps: 0 };
    const frame = this.#frame;
    frame.input = input;
    frame.steps = stepsMax;
    const value = this.#run(frame);
    if (frame.slots.length > 0) frame.slots.length = 0;
    return value;
  }
}

function checked(source: string, library: Environment, result: ResultKind): { ast: ASTNode; needsBody: boolean } {
  if (source.length > expressionMax) throw new ExpressionError(`cel: longer than ${expressionMax} characters`);
  try {
    const parsed = library.parse(source);
    mendBytes(parsed.ast, source, library);
    const { needsBody, presences } = inspect(parsed.ast);
    for (const { node, asHas } of presences) checkAs(node, library.parse(asHas).ast);
    const type = typeOf(parsed);
    if (result !== 'any' && !typesOf[result].includes(type) && !type.startsWith('dyn')) {
      throw new RuleError(`must be a ${result}, is ${type}`, { start: 0, end: source.length });
    }
    return { ast: parsed.ast, needsBody };
  } catch (error) {
    throw readable(error, source);
  }
}

function typeOf(parsed: ParseResult): string {
  const { valid, type, error } = parsed.check();
  if (!valid || type === undefined) throw error;
  return type;
}

/** Lets the checker see `other` in the place of `node`; the library keeps such stand-ins for its own macros. */
function checkAs(node: ASTNode, other: ASTNode): void {
  if (!('setMeta' in node) || typeof node.setMeta !== 'function') throw new TypeError('the library changed its tree');
  node.setMeta('alternate', other);
}

interface Located {
  readonly summary: string;
  readonly range: SourceRange | undefined;
}

/**
 * Describes any thrown value in one line. An error without a position is a limit of the library: too deep, or a bug of
 * its checker.
 */
function readable(error: unknown, source: string): ExpressionError {
  const located = locate(error);
  if (!located) return new ExpressionError('cel: too complex', { cause: error });
  const { summary, range } = located;
  return new ExpressionError(`cel: ${summary}${range ? ` at ${position(source, range.start)}` : ''}`, { cause: error });
}

function locate(error: unknown): Located | undefined {
  if (error instanceof RuleError) return { summary: error.message, range: error.range };
  if (!(error instanceof Error)) return undefined;
  if ('summary' in error && typeof error.summary === 'string') {
    return { summary: error.summary, range: 'range' in error && isRange(error.range) ? error.range : undefined };
  }
  return error instanceof RangeError ? undefined : { summary: error.message, range: undefined };
}

function isRange(value: unknown): value is SourceRange {
  return typeof value === 'object' && value !== null && 'start' in value && typeof value.start === 'number';
}

/** Lines and columns count from 1. */
function position(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
