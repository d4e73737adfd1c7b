// Decorators of the classes of answers, and of bodies that are no resource. The compiler refuses a property whose type is
// not that of its schema, so that document and program cannot differ. Classes are types with a schema: no instance is made.
import { type JsonSchema, recordComponent, recordProperty } from './class-schema.ts';
import { asPart, type JsonType } from './json-type.ts';
import type { Class } from './schema.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsOptional<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? true : false;

/** Demand on a class whose property K is always there and has a schema of V. */
type HasRequired<T, K extends keyof T, V> =
  IsOptional<T, K> extends true
    ? { readonly 'property that may be absent': V }
    : Same<T[K], V> extends true
      ? unknown
      : { readonly 'property of another type than its schema': V };

/** Demand on a class whose property K may be absent and has a schema of V. */
type HasOptional<T, K extends keyof T, V> =
  IsOptional<T, K> extends false
    ? { readonly 'property that is always there': V }
    : Same<T[K], V | undefined> extends true
      ? unknown
      : { readonly 'property of another type than its schema': V };

/** Property that is always there. `words` are further words of its schema, such as an example. */
export const Required =
  <V>(type: JsonType<V>, description?: string, words?: JsonSchema) =>
  <T extends object, K extends keyof T & string>(target: T & HasRequired<T, K, V>, name: K): void =>
    record(target, name, true, type, description, words);

/** Property that may be absent. */
export const Optional =
  <V>(type: JsonType<V>, description?: string, words?: JsonSchema) =>
  <T extends object, K extends keyof T & string>(target: T & HasOptional<T, K, V>, name: K): void =>
    record(target, name, false, type, description, words);

/**
 * Class whose schema has a name in the document, that of the class or `as`. Schemas of other classes stand where they are
 * used. The rest of `words` are those of the schema as a whole.
 */
export const Component =
  (description?: string, { as, ...words }: JsonSchema & { readonly as?: string } = {}) =>
  (owner: Class): void =>
    recordComponent(owner, as ?? owner.name, { ...(description !== undefined && { description }), ...words });

const record = <V>(
  target: object,
  name: string,
  isRequired: boolean,
  type: JsonType<V>,
  description: string | undefined,
  words: JsonSchema | undefined,
): void => {
  const more = { ...(description !== undefined && { description }), ...words };
  const schema = (): JsonSchema =>
    Object.keys(more).length === 0 ? type.schema() : { ...asPart(type.schema()), ...more };
  recordProperty(target.constructor, { name, isRequired, schema });
};
