/** The part of an OpenAPI 3.0 schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly example?: unknown;
  readonly default?: unknown;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Schemas for request bodies: unknown members are no fault unless a schema forbids them. */
export const opened = (schemas: Schemas): Schemas =>
  JSON.parse(JSON.stringify(schemas), (_key, part: unknown) =>
    typeof part === 'object' && part !== null && 'properties' in part && !('additionalProperties' in part)
      ? { ...part, additionalProperties: true }
      : part,
  ) as Schemas;

/** Returns the faults of a value by a schema; empty when it is valid. */
export function faults(schema: Schema, value: unknown, schemas: Schemas, at = ''): string[] {
  if (schema.$ref !== undefined) return faults(referred(schema.$ref, schemas), value, schemas, at);
  if (value === null) return schema.nullable === true ? [] : [`${at} is null`];
  const { allOf = [], anyOf, oneOf, not } = schema;
  const fits = (part: Schema): boolean => faults(part, value, schemas, at).length === 0;
  return [
    ...allOf.flatMap((part) => faults(part, value, schemas, at)),
    ...(oneOf !== undefined && oneOf.filter(fits).length !== 1 ? [`${at} does not fit exactly one of oneOf`] : []),
    ...(anyOf === undefined || anyOf.some(fits) ? [] : [`${at} fits none of anyOf`]),
    ...(not !== undefined && fits(not) ? [`${at} fits what it must not`] : []),
    ...typeFaults(schema, value, at),
    ...boundFaults(schema, value, at),
    ...partFaults(schema, value, schemas, at),
  ];
}

function referred(ref: string, schemas: Schemas): Schema {
  const schema = schemas[ref.replace('#/components/schemas/', '')];
  if (schema === undefined) throw new Error(`no schema ${ref}`);
  return schema;
}

function typeFaults({ type, enum: allowed }: Schema, value: unknown, at: string): string[] {
  const actual = Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  const fits = type === undefined || type === actual || (type === 'number' && actual === 'integer');
  return [
    ...(fits ? [] : [`${at} is ${actual} and not ${type}`]),
    ...(allowed === undefined || allowed.includes(value) ? [] : [`${at} is none of ${allowed.join(', ')}`]),
  ];
}

function boundFaults(schema: Schema, value: unknown, at: string): string[] {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity, pattern } = schema;
  if (typeof value === 'number') return value < minimum || value > maximum ? [`${at} is out of bounds`] : [];
  if (typeof value !== 'string') return [];
  const fits = value.length >= minLength && value.length <= maxLength;
  return fits && (pattern === undefined || new RegExp(pattern, 'u').test(value)) ? [] : [`${at} does not fit`];
}

function partFaults(schema: Schema, value: unknown, schemas: Schemas, at: string): string[] {
  const { type, items, properties, required = [], additionalProperties } = schema;
  const { minItems = 0, maxItems = Infinity, maxProperties = Infinity } = schema;
  if (Array.isArray(value)) {
    const length = value.length < minItems || value.length > maxItems ? [`${at} has ${value.length} elements`] : [];
    if (items === undefined) return length;
    return [...length, ...value.flatMap((item, index) => faults(items, item, schemas, `${at}/${index}`))];
  }
  if (typeof value !== 'object' || value === null) return [];
  const many = Object.keys(value).length > maxProperties ? [`${at} has too many members`] : [];
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}/${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, part]) => {
    const known = properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    // Said with `type` it is the shape of the object; without, it is a condition that leaves the rest alone.
    const closed = type === 'object' && properties !== undefined && additionalProperties !== true;
    if (known === undefined) return closed ? [`${at}/${name} is not in the schema`] : [];
    return faults(known, part, schemas, `${at}/${name}`);
  });
  return [...many, ...missing, ...wrong];
}
