// Constraints: what a rule across fields says in the words of an OpenAPI schema, where they suffice: one of several
// fields, a field that another one asks for. Written beside the rule (`@Rules`), so that clients learn from the
// document what the server checks.
import { closedNames } from './schema.ts';

/** A fragment of an OpenAPI 3.0 schema, to hold beside the properties of a class. */
export type Constraint = Readonly<Record<string, unknown>>;

/** The field is there, and one of `values` if any are named. */
export const has = (name: string, ...values: readonly string[]): Constraint =>
  values.length === 0 ? { required: [name] } : { required: [name], properties: { [name]: { enum: [...values] } } };

/** The field `by` is `word`, and the field `name` a text that matches. */
export const hasShaped = (by: string, word: string, name: string, pattern = ''): Constraint => ({
  required: [by, name],
  properties: { [by]: { enum: [word] }, [name]: { type: 'string', pattern } },
});

/** The flag is there and true. Said by what it is not, for generators of clients know no enumeration of flags. */
export const isTrue = (name: string): Constraint => ({
  required: [name],
  not: { required: [name], properties: { [name]: { enum: [false] } } },
});

/** The field is absent, or one of `values`: for a field whose default is among them. */
export const hasOrLacks = (name: string, ...values: readonly string[]): Constraint => ({
  properties: { [name]: { enum: [...values] } },
});

/** The list has elements. */
export const hasSome = (name: string): Constraint => ({ required: [name], properties: { [name]: { minItems: 1 } } });

export const allOf = (...constraints: readonly Constraint[]): Constraint => ({ allOf: constraints });
export const anyOf = (...constraints: readonly Constraint[]): Constraint => ({ anyOf: constraints });
export const exactlyOneOf = (...constraints: readonly Constraint[]): Constraint => ({ oneOf: constraints });
export const noneOf = (...constraints: readonly Constraint[]): Constraint => ({ not: { anyOf: constraints } });

export const atMostOneOf = (...constraints: readonly Constraint[]): Constraint =>
  noneOf(...constraints.flatMap((one, at) => constraints.slice(at + 1).map((other) => allOf(one, other))));

/** Requires `demand` of objects for which `condition` holds. */
export const whenever = (condition: Constraint, demand: Constraint): Constraint => anyOf({ not: condition }, demand);

/**
 * Requires that `low` is not above `high`, two fields with words of one scale. `fallback`, if given, stands in for an
 * absent `low`.
 */
export const inOrder = (low: string, high: string, scale: readonly string[], fallback?: string): Constraint =>
  noneOf(
    ...scale.flatMap((word, rank) => {
      const below = scale.slice(0, rank);
      if (below.length === 0) return [];
      const isWord = word === fallback ? hasOrLacks(low, word) : has(low, word);
      return [allOf(isWord, has(high, ...below))];
    }),
  );

const constraints = new Map<string, readonly Constraint[]>();

/** For `@Rules`. */
export const recordConstraints = (owner: { readonly name: string }, said: readonly Constraint[]): void =>
  void constraints.set(owner.name, said);

/** One of several blocks, which counts only where the field `by` is `value`. */
export interface BlockChoice {
  readonly by: string;
  readonly value: string;
  readonly block: string;
  /** Constraint on the block where it counts. */
  readonly judged: Constraint;
  /** True when the block is required there. */
  readonly needed: boolean;
}

const choices = new Map<string, BlockChoice[]>();

/** For `@Nested`. All choices of a class are by one field. */
export const recordChoice = ({ name }: { readonly name: string }, choice: BlockChoice): void => {
  const known = choices.get(name);
  if (known === undefined) choices.set(name, [choice]);
  else known.push(choice);
};

/** A schema of a class, as far as it is looked into here. */
interface ClassSchema {
  readonly properties?: Readonly<Record<string, object>>;
}

/** Schemas by class name with what the rules of each class say. */
export const withConstraints = <T extends object>(schemas: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const said = [...(constraints.get(name) ?? []), ...chosen(schema, choices.get(name))];
      const whole = closedNames().has(name) ? closedSchema(schema) : schema;
      return [name, { ...whole, ...joined(whole, said) }];
    }),
  );

/** The schema without room for other fields, also in the blocks that it spells out. */
function closedSchema<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closedSchema) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closedSchema(part)]));
  return ('properties' in schema ? { ...parts, additionalProperties: false } : parts) as T;
}

/**
 * An alternative for each block that may be chosen, and one for the values that choose none: generators follow them. Apart
 * from the fields, for beside them some take it for an alternative to them.
 */
const chosen = ({ properties = {} }: ClassSchema, [first, ...more]: readonly BlockChoice[] = []): Constraint[] => {
  if (first === undefined) return [];
  const { by } = first;
  const all = [first, ...more];
  const branches = all.map(({ value, block, judged, needed }) => ({
    required: needed ? [by, block] : [by],
    properties: { [by]: { enum: [value] }, [block]: judged },
  }));
  const rest = enumOf(properties[by]).filter((word) => all.every(({ value }) => value !== word));
  return [allOf(anyOf(...branches, ...(rest.length > 0 ? [hasOrLacks(by, ...rest)] : [])))];
};

const enumOf = (schema: object | undefined): string[] =>
  schema !== undefined && 'enum' in schema && Array.isArray(schema.enum) ? schema.enum : [];

/**
 * Beside the class's own words where none of them is said twice, else as parts. Alternatives are parts: beside the fields
 * generators of clients take them for the whole, and make no type of the class.
 */
const joined = (schema: object, [first, ...more]: readonly Constraint[] = []): Constraint => {
  if (first === undefined) return {};
  const words = Object.keys(first);
  const isApart = words.some((word) => word in schema || ['required', 'oneOf', 'anyOf'].includes(word));
  return more.length > 0 || isApart ? allOf(first, ...more) : first;
};
