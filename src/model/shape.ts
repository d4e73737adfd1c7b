// Checks of one field's value by itself. Objects are not entered: class-validator does that through `@ValidateNested`,
// with the classes of the objects in it.
import { isObject } from './json-object.ts';
import { type Problem, pointerOf, problemsMax } from './problem.ts';
import { scalarProblemOf } from './scalar.ts';
import type { Element, Shape } from './schema.ts';

/** Problems of a value, pointers relative to the field, at most `problemsMax`. An empty list is a good value. */
export const shapeProblemsOf = (shape: Shape, value: unknown): readonly Problem[] => {
  if (shape.is === 'list') return listProblems(shape, value);
  if (shape.is === 'map') {
    return isObject(value) ? elementProblems(shape.of, Object.entries(value)) : [{ pointer: '', message: notAnObject }];
  }
  const message = elementProblem(shape, value);
  return message === undefined ? [] : [{ pointer: '', message }];
};

/** A JSON object: neither a list nor null. */
/** Most entries of an object with keys of the caller's choice. */
export const mapEntriesMax = 1000;

export const notAnObject = 'must be an object';
export const notAList = 'must be a list';

export const tooMany = (max: number): string => `must have at most ${max} entries`;

const listProblems = (shape: Shape & { readonly is: 'list' }, value: unknown): readonly Problem[] => {
  if (!Array.isArray(value)) return [{ pointer: '', message: notAList }];
  const { lengthMin: min, lengthMax: max } = shape;
  if (value.length > max) return [{ pointer: '', message: tooMany(max) }];
  if (value.length < min)
    return [{ pointer: '', message: `must have at least ${min === 1 ? 'one entry' : `${min} entries`}` }];
  return elementProblems(shape.of, value.entries());
};

const elementProblems = (element: Element, entries: Iterable<[string | number, unknown]>): readonly Problem[] => {
  const problems: Problem[] = [];
  for (const [key, value] of entries) {
    const message = elementProblem(element, value);
    if (message !== undefined) problems.push({ pointer: pointerOf(key), message });
    if (problems.length === problemsMax) break;
  }
  return problems;
};

const elementProblem = (element: Element, value: unknown): string | undefined => {
  if (element.is === 'scalar') return scalarProblemOf(element.scalar, value);
  return isObject(value) ? undefined : notAnObject;
};
