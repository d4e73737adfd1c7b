// Validation: JSON becomes an entity that may be stored, or everything that is wrong with it (contract.md §0.2, §2.11).
// The REST surface calls this for bodies, and for entities whose secret references have been resolved.
import { type ValidationError, validateSync } from 'class-validator';
import { configClasses, editableClasses } from './config-classes.ts';
import { type Decoded, decode, type Placed } from './decode.ts';
import { isObject } from './json-object.ts';
import type { Kind } from './kinds.ts';
import { readLongList } from './long-list.ts';
import { type Problem, pointerOf, problemsMax } from './problem.ts';
import { type Class, fieldsOf, ruleOf } from './schema.ts';
import { shapeProblemsOf } from './shape.ts';
import { Snapshot } from './snapshot.ts';
import { isValid } from './validation-fast-path.ts';
import { rememberRules } from './validation-metadata.ts';

rememberRules();

const referring: ReadonlySet<Class> = new Set(Object.values(configClasses));

export interface ParsedEntity {
  /** Body as plain JSON: nulls and unknown fields removed, keys in the order of the schema, `id` only if sent. */
  readonly entity: Readonly<Record<string, unknown>>;
  /** Empty: the entity may be stored. At most 100. */
  readonly problems: Problem[];
  /** JSON pointers of fields that were left out because no schema knows them. At most 100. */
  readonly unknown: string[];
}

export const classOf: Readonly<Record<Kind, Class>> = {
  ...editableClasses,
  snapshots: Snapshot,
};

/** Reads and checks the body of a create or update. Never throws, for any JSON value. */
export const parseEntity = (kind: Kind, json: unknown): ParsedEntity => parseBody(classOf[kind], json);

/** The same for a body that is no resource. */
export const parseBody = (cls: Class, json: unknown): ParsedEntity => {
  const steps = parseInSteps(cls, json);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

/** The same with a pause wherever others may have their turn: a body may have a list of a million elements. */
export function* parseInSteps(cls: Class, json: unknown): Generator<void, ParsedEntity> {
  if (!isObject(json))
    return { entity: {}, problems: [{ pointer: '', message: 'must be a JSON object' }], unknown: [] };
  const decoded = decode(cls, json, referring.has(cls));
  const problems = problemsOf(decoded);
  // Put in after the rest was looked at, which does not look at their elements again then.
  for (const list of decoded.long) yield* readLongList(list, problems);
  return { entity: problems.length === 0 ? plain(decoded.object) : {}, problems, unknown: [...decoded.unknown] };
}

/**
 * Checks an entity whose secret references were replaced by their values: the formats that could not be judged when it
 * was written (J12). Entities without references were judged then and need no second look.
 */
export const validateResolved = (kind: Kind, entity: unknown): Problem[] => parseEntity(kind, entity).problems;

interface OwnedProblem extends Problem {
  /** JSON pointer of the object that the problem is about, where a rule found it. */
  readonly owner?: string;
}

const problemsOf = ({ object, mapped, problems }: Decoded): Problem[] => {
  if (problems.length === 0 && isValid(object) && mapped.every((placed) => isValid(placed.object))) return [];
  const found = [{ pointer: '', object }, ...mapped].flatMap(ownedProblemsOf);
  // What was refused before is absent now. That is no second problem, and rules across fields cannot judge the rest.
  const isFollowUp = ({ pointer, owner }: OwnedProblem) =>
    problems.some((first) => covers(first.pointer, pointer) || (owner !== undefined && covers(owner, first.pointer)));
  const later = found.slice(0, problemsMax).filter((problem) => !isFollowUp(problem));
  return [...problems, ...later.map(({ pointer, message }) => ({ pointer, message }))].slice(0, problemsMax);
};

const ownedProblemsOf = ({ pointer, object }: Placed): OwnedProblem[] =>
  validateSync(object, { stopAtFirstError: true }).flatMap((error) => explain(error, pointer));

/** class-validator says which field or rule failed; what exactly is wrong, and at which element, is told here. */
const explain = (error: ValidationError, owner: string): OwnedProblem[] => {
  const pointer = owner + pointerOf(error.property);
  const inner = (error.children ?? []).flatMap((child) => explain(child, pointer));
  if (error.constraints === undefined || error.target === undefined) return inner;
  const rule = ruleOf(error.target.constructor, error.property);
  if (rule !== undefined) {
    return [...rule(error.target).map((problem) => ({ ...below(owner)(problem), owner })), ...inner];
  }
  const field = fieldsOf(error.target.constructor).get(error.property);
  // An object that class-validator refuses never passes, even without a message.
  if (field === undefined) return [{ pointer: owner, message: 'is not valid' }, ...inner];
  if (error.value === undefined) return [{ pointer, message: 'is required' }, ...inner];
  return [...shapeProblemsOf(field.shape, error.value).map(below(pointer)), ...inner];
};

const below =
  (pointer: string) =>
  (problem: Problem): Problem => ({ pointer: pointer + problem.pointer, message: problem.message });

/** Returns whether `pointer` is `outer` or lies inside it. */
const covers = (outer: string, pointer: string): boolean => pointer === outer || pointer.startsWith(`${outer}/`);

/** An object of the classes without what is absent. Fields were set in the order of the schema. */
const plain = (object: object): Record<string, unknown> => {
  const fields = object as Readonly<Record<string, unknown>>;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value !== undefined) result[key] = plainValue(value);
  }
  return result;
};

const plainValue = (value: unknown): unknown => {
  if (typeof value !== 'object') return value;
  // Elements are of one type, and the list was made while the body was read.
  if (Array.isArray(value)) return typeof value[0] === 'object' ? value.map(plainValue) : value;
  return isObject(value) ? plain(value) : value;
};
