// Constraints: what a rule across fields says in the words of an OpenAPI schema, where they suffice: one of several
// fields, a field that another one asks for. Written beside the rule (`@Rules`), so that clients learn from the
// document what the server checks.

/** A fragment of an OpenAPI 3.0 schema, to hold beside the properties of a class. */
export type Constraint = Readonly<Record<string, unknown>>;

/** The field is there, and one of `values` if any are named. */
export const has = (name: string, ...values: readonly string[]): Constraint =>
  values.length === 0 ? { required: [name] } : { required: [name], properties: { [name]: { enum: [...values] } } };

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

/** Where `condition` holds, `demand` does. */
export const whenever = (condition: Constraint, demand: Constraint): Constraint => anyOf({ not: condition }, demand);

/** Of two fields that take words of one scale, `low` is not above `high`. An absent `low` is `fallback`, if there is one. */
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

/** Adds to what is known of the class. */
export const recordConstraints = (owner: { readonly name: string }, said: readonly Constraint[]): void =>
  void constraints.set(owner.name, [...(constraints.get(owner.name) ?? []), ...said]);

/** Schemas by class name with what the rules of each class say. */
export const withConstraints = <T extends object>(schemas: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, { ...schema, ...joined(schema, constraints.get(name)) }]),
  );

/** Beside the class's own words where none of them is said twice, else as parts. */
const joined = (schema: object, [first, ...more]: readonly Constraint[] = []): Constraint => {
  if (first === undefined) return {};
  const isApart = more.length === 0 && !Object.keys(first).some((word) => word in schema || word === 'required');
  return isApart ? first : allOf(first, ...more);
};
