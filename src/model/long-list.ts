// Long lists of scalars: the few fields whose length nothing but the size of the body limits. Read and checked in steps, since
// a list of a million elements would hold the thread.
import { type Problem, pointerOf, problemsMax } from './problem.ts';
import { type Scalar, scalarProblemOf, storedValue } from './scalar.ts';
import type { Field } from './schema.ts';

export interface LongList {
  /** Object that has the list as a field. */
  readonly object: object;
  readonly name: string;
  readonly scalar: Scalar;
  /** Repeated elements collapse to the first. */
  readonly distinct: boolean;
  readonly sent: readonly unknown[];
  /** JSON pointer of the list from the body. */
  readonly pointer: string;
}

/** Shorter ones are over before a pause would be worth it. */
const longFrom = 1_000;
/** Elements between two pauses. */
export const elementsAtATime = 1_000;

/** The list to be read in steps, unless the value is to be read at once. */
export function longListOf(object: object, field: Field, value: unknown, pointer: string): LongList | undefined {
  const { name, shape } = field;
  if (shape.is !== 'list' || shape.of.is !== 'scalar' || shape.lengthMax !== Number.POSITIVE_INFINITY) return undefined;
  if (!Array.isArray(value) || value.length < longFrom) return undefined;
  return { object, name, scalar: shape.of.scalar, distinct: shape.distinct, sent: value, pointer };
}

/** Puts the elements into the object, unless there is a problem with one. Problems go to `problems`, at most `problemsMax`. */
export function* readLongList(list: LongList, problems: Problem[]): Generator<void, void> {
  const { scalar, sent, distinct, pointer } = list;
  const known = new Set<unknown>();
  const elements: unknown[] = [];
  for (let at = 0; at < sent.length && problems.length < problemsMax; at++) {
    const element = storedValue(scalar, sent[at]);
    const message = scalarProblemOf(scalar, element);
    if (message !== undefined) problems.push({ pointer: pointer + pointerOf(at), message });
    if (!distinct || !known.has(element)) elements.push(element);
    if (distinct) known.add(element);
    if ((at + 1) % elementsAtATime === 0) yield;
  }
  Reflect.set(list.object, list.name, elements);
}
