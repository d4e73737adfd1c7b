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
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly nullable?: boolean;
  readonly example?: unknown;
  readonly default?: unknown;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** What is wrong with a value according to a schema; empty when it is right. */
export function faults(schema: Schema, value: unknown, schemas: Schemas, at = ''): string[] {
  if (schema.$ref !== undefined) return faults(referred(schema.$ref, schemas), value, schemas, at);
  if (value === null) return schema.nullable === true ? [] : [`${at} is null`];
  const { allOf = [], oneOf } = schema;
  return [
    ...allOf.flatMap((part) => faults(part, value, schemas, at)),
    ...(oneOf?.every((part) => faults(part, value, schemas, at).length > 0) ? [`${at} fits none of oneOf`] : []),
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
  const { items, properties, required = [], additionalProperties } = schema;
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((item, index) => faults(items, item, schemas, `${at}/${index}`));
  if (typeof value !== 'object' || value === null) return [];
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}/${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, part]) => {
    const known = properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    const closed = properties !== undefined && additionalProperties !== true;
    if (known === undefined) return closed ? [`${at}/${name} is not in the schema`] : [];
    return faults(known, part, schemas, `${at}/${name}`);
  });
  return [...missing, ...wrong];
}
