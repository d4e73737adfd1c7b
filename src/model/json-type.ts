// Types of JSON values in answers, and in bodies that are no resource: the schema of each for the OpenAPI document, bound
// to its type in TypeScript. `property.ts` makes properties of classes of them. Nothing is checked at run time: values
// are plain objects that the program writes, or that are decoded where they come in.
import { type HasSchema, type JsonSchema, recordType, schemaOfClass } from './class-schema.ts';
import type { Class } from './schema.ts';

export interface JsonType<V> extends HasSchema {
  /** Absent at run time: holds V for the compiler. */
  readonly value?: (value: V) => V;
}

const type = <V>(schema: () => JsonSchema): JsonType<V> => ({ schema });

/** The type with more words in its schema, such as `{ maxLength: 64 }`. */
export const limited = <V>({ schema }: JsonType<V>, words: JsonSchema): JsonType<V> =>
  type(() => ({ ...schema(), ...words }));

export const text = type<string>(() => ({ type: 'string' }));
/** Time of RFC 3339. */
export const time = limited(text, { format: 'date-time' });
export const integer = type<number>(() => ({ type: 'integer' }));
/** Integer from 0 on. */
export const count = limited(integer, { minimum: 0 });
export const number = type<number>(() => ({ type: 'number' }));
/** Number from 0 on. */
export const amount = limited(number, { minimum: 0 });
export const flag = type<boolean>(() => ({ type: 'boolean' }));
/** Any JSON. */
export const anything = type<unknown>(() => ({ nullable: true }));

/** One of several words. */
export const oneOf = <const W extends string>(words: readonly W[]): JsonType<W> =>
  type(() => ({ type: 'string', enum: [...words] }));

/** The integer and no other. */
export const exactly = <const N extends number>(value: N): JsonType<N> =>
  type(() => ({ type: 'integer', enum: [value] }));

/** Value of the type, or null. */
export const nullable = <V>({ schema }: JsonType<V>): JsonType<V | null> =>
  type(() => ({ ...asPart(schema()), nullable: true }));

/** Value of one of the types. */
export const either = <A, B>(one: JsonType<A>, other: JsonType<B>): JsonType<A | B> =>
  type(() => ({ oneOf: [one.schema(), other.schema()] }));

/**
 * Object of one of the classes, each a component, told apart by the property `by`: its only word is the key of the class.
 */
export const discriminated = <By extends string, C extends { readonly [W in keyof C]: Class<Readonly<Record<By, W>>> }>(
  by: By,
  classes: C,
): JsonType<InstanceType<C[keyof C]>> =>
  type(() => {
    const references = Object.entries<Class>(classes).map(([word, of]) => [word, schemaOfClass(of)] as const);
    const mapping = Object.fromEntries(references.map(([word, { $ref }]) => [word, $ref]));
    return { oneOf: references.map(([, reference]) => reference), discriminator: { propertyName: by, mapping } };
  });

/** Array with elements of the type. */
export const list = <V>(of: JsonType<V>, words: JsonSchema = {}): JsonType<readonly V[]> =>
  type(() => ({ type: 'array', items: of.schema(), ...words }));

/** Object with keys that no schema knows, and values of the type. */
export const map = <V>(of: JsonType<V>, words: JsonSchema = {}): JsonType<Readonly<Record<string, V>>> =>
  type(() => ({ type: 'object', additionalProperties: of.schema(), ...words }));

/** Object with exactly the keys, each with a value of the type. */
export const record = <const K extends string, V>(
  keys: readonly K[],
  { schema }: JsonType<V>,
  describe?: (key: K) => string,
): JsonType<Readonly<Record<K, V>>> =>
  type(() => ({
    type: 'object',
    required: [...keys],
    properties: Object.fromEntries(
      keys.map((key) => [key, describe === undefined ? schema() : { ...asPart(schema()), description: describe(key) }]),
    ),
  }));

/** Object of the class. */
export const object = <T extends object>(of: Class<T>): JsonType<T> => type(() => schemaOfClass(of));

/** The type, with a schema of that name in the document. */
export const component = <V>(name: string, of: JsonType<V>): JsonType<V> => {
  const reference = recordType(name, of);
  return type(() => reference);
};

/** Object of type T with any fields, which only its description knows. */
export const open = <T extends object>(words: JsonSchema = {}): JsonType<T> =>
  type(() => ({ type: 'object', ...words }));

/** Schema that takes further words: OpenAPI 3.0 ignores those beside a reference. */
export const asPart = (schema: JsonSchema): JsonSchema => ('$ref' in schema ? { allOf: [schema] } : schema);
