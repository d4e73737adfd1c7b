// Schemas of classes of answers, and of bodies that are no resource, as the decorators of `property.ts` record them. Loads
// nothing: proxies apart use such classes too.
import type { Class } from './schema.ts';

/** Fragment of an OpenAPI 3.0 schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface HasSchema {
  /** Called when the document is written: all classes are declared by then. */
  readonly schema: () => JsonSchema;
}

interface Property {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: () => JsonSchema;
}

const properties = new Map<object, Property[]>();
const named = new Map<Class, { readonly name: string; readonly words: JsonSchema }>();
const types = new Map<string, HasSchema>();

/** For `@Required` and `@Optional`. */
export const recordProperty = (owner: object, property: Property): void => {
  const known = properties.get(owner);
  if (known === undefined) properties.set(owner, [property]);
  else known.push(property);
};

/** For `@Component`: makes the class a schema with a name. `words` are those of the schema as a whole. */
export const recordComponent = (owner: Class, name: string, words: JsonSchema): void =>
  void named.set(owner, { name, words });

/** Makes the schema of a type one with a name; returns a reference to it. */
export const recordType = (name: string, type: HasSchema): JsonSchema => {
  types.set(name, type);
  return referenceTo(name);
};

const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Returns a reference to the schema of the class where it has a name; the schema itself otherwise. */
export const schemaOfClass = (owner: Class): JsonSchema =>
  properties.has(owner) && !named.has(owner) ? wholeSchema(owner) : referenceTo(named.get(owner)?.name ?? owner.name);

/** Returns the schemas with a name. */
export const componentSchemas = (): Record<string, JsonSchema> =>
  Object.fromEntries([
    ...[...named].map(([owner, { name }]) => [name, wholeSchema(owner)]),
    ...[...types].map(([name, { schema }]) => [name, schema()]),
  ]);

function wholeSchema(owner: Class): JsonSchema {
  const all = propertiesOf(owner);
  const required = all.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema()])),
    ...named.get(owner)?.words,
  };
}

/** Properties of the class, those of its parents first, but for those that it has anew. */
function propertiesOf(owner: object): readonly Property[] {
  const parent: unknown = Object.getPrototypeOf(owner);
  const inherited = typeof parent === 'function' && parent !== Function.prototype ? propertiesOf(parent) : [];
  const own = properties.get(owner) ?? [];
  return [...inherited.filter(({ name }) => own.every((each) => each.name !== name)), ...own];
}
