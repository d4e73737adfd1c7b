// Values that an OpenAPI schema admits, and values that it does not: what a generic client of the document may send.
import fc from 'fast-check';
import { faults, type Schema, type Schemas } from './openapi-schema.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Values for formats, which no schema defines, and for long patterns, which are slow to generate from. */
const formats: Readonly<Record<string, readonly string[]>> = {
  re2: ['^/a/[0-9]+', '/(en|es)', '.*', '(?i)x'],
  cel: ['true', '1 < 2', 'false'],
  pem: ['-----BEGIN CERTIFICATE-----', 'no PEM'],
  'status-range': ['200', '200-299', '204-404'],
  host: ['a.example', '10.0.0.1', '::1', '[::1]', 'localhost'],
  'host-pattern': ['*', '*.a.example', 'a.example', '10.0.0.1'],
  cidr: ['10.0.0.0/8', '::1', 'fd00::/8', '10.0.0.1'],
  'duration-string': ['0', '5s', '1h30m', '.5s', '{{secret:env:TIME}}'],
  'date-time': ['2026-01-01T00:00:00Z'],
  byte: ['AAAA', ''],
};

const textMax = 40;

/** Values that `schema` admits. `special` makes those of schemas, by name, whose rules chance would hardly meet. */
export function valuesOf(
  schema: Schema,
  schemas: Schemas,
  special: Readonly<Record<string, fc.Arbitrary<Json>>> = {},
): fc.Arbitrary<Json> {
  const made = new Map<string, fc.Arbitrary<Json>>();
  const named = (ref: string): fc.Arbitrary<Json> => {
    const name = ref.replace('#/components/schemas/', '');
    const known = special[name] ?? made.get(name) ?? valid(schemas[name] ?? {});
    made.set(name, known);
    return known;
  };
  const valid = (one: Schema): fc.Arbitrary<Json> => {
    if (one.$ref !== undefined) return named(one.$ref);
    const { allOf, anyOf, oneOf, not } = one;
    const isRuled = [allOf, anyOf, oneOf, not].some((part) => part !== undefined);
    return isRuled ? ruled(one).filter((value) => faults(one, value, schemas).length === 0) : plain(one);
  };
  const ruled = (one: Schema): fc.Arbitrary<Json> => {
    const { type, allOf = [], anyOf = [], oneOf } = one;
    const alternatives = [...anyOf, ...allOf.flatMap((part) => part.anyOf ?? [])];
    const choices = type === undefined ? [] : alternatives.filter(({ properties }) => properties !== undefined);
    if (choices.length > 0) return fc.oneof(...choices.map((choice) => plain(withChoice(one, choice))));
    if (type !== undefined) return plain(one);
    return fc.oneof(...(oneOf ?? allOf.slice(0, 1)).map(valid));
  };
  const plain = (one: Schema): fc.Arbitrary<Json> => {
    if (one.enum !== undefined) return fc.constantFrom(...(one.enum as Json[]));
    if (one.type === 'string') return textOf(one);
    if (one.type === 'boolean') return fc.boolean();
    if (one.type === 'integer')
      return fc.integer({ min: one.minimum ?? 0, max: Math.min(one.maximum ?? 1e6, 2 ** 31 - 1) });
    if (one.type === 'number') return fc.double({ min: 0.001, max: 1e6, noNaN: true });
    if (one.type === 'array') return listOf(one);
    return objectOf(one);
  };
  const textOf = ({ format = '', pattern, minLength = 0 }: Schema): fc.Arbitrary<Json> => {
    const samples = formats[format];
    if (samples !== undefined) return fc.constantFrom(...samples);
    if (pattern === undefined) return fc.string({ minLength, maxLength: textMax, unit: 'grapheme' });
    // No JSON text holds half a character.
    return fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= 2 * textMax && text.isWellFormed());
  };
  const listOf = ({ items = {}, minItems = 0 }: Schema): fc.Arbitrary<Json> =>
    fc.array(valid(items), { minLength: minItems, maxLength: minItems + 2 });
  const objectOf = ({ properties, required = [], additionalProperties }: Schema): fc.Arbitrary<Json> => {
    if (properties === undefined && typeof additionalProperties === 'object')
      return fc.dictionary(fc.stringMatching(/^[a-z0-9-]{1,8}$/), valid(additionalProperties), { maxKeys: 2 });
    const members = Object.entries(properties ?? {}).map(([name, part]) => {
      const value = fc.memo(() => valid(part))();
      return [name, required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 2 })] as const;
    });
    return fc.record(Object.fromEntries(members)).map(withoutAbsent);
  };
  return valid(schema);
}

/** An object of which an alternative says more. */
const withChoice = (one: Schema, choice: Schema): Schema => ({
  ...one,
  properties: { ...one.properties, ...choice.properties },
  required: [...(one.required ?? []), ...(choice.required ?? [])],
});

const withoutAbsent = (object: Record<string, unknown>): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Json;

/** Change that makes a value invalid by its schema: its place and the new value. */
export interface Spoilt {
  readonly path: readonly string[];
  readonly value: Json;
}

/** Values that the schema does not admit, each a value of it with one place spoilt. Null and "" are never put there. */
export function spoiltOf(schema: Schema, schemas: Schemas, values: fc.Arbitrary<Json>): fc.Arbitrary<Spoilt> {
  return fc
    .tuple(
      values,
      fc.nat(),
      fc.constantFrom<Json | undefined>(undefined, 7, 'x y', true, [], {}, -1, 1.5, [7], { a: 1 }),
    )
    .map(([value, at, other]) => {
      const places = placesIn(value);
      const path = places[at % places.length] ?? [];
      return { path, value: replaced(value, path, other) };
    })
    .filter(({ value }) => faults(schema, value, schemas).length > 0);
}

const placesIn = (value: Json, path: readonly string[] = []): string[][] => {
  if (typeof value !== 'object' || value === null) return [[...path]];
  const inner = Object.entries(value).flatMap(([key, part]) => placesIn(part, [...path, key]));
  return path.length === 0 ? inner : [[...path], ...inner];
};

const replaced = (value: Json, [first, ...rest]: readonly string[], other: Json | undefined): Json => {
  if (first === undefined || typeof value !== 'object' || value === null) return other ?? {};
  if (Array.isArray(value))
    return value.flatMap((part, at) => {
      if (String(at) !== first) return [part];
      return rest.length === 0 && other === undefined ? [] : [replaced(part, rest, other)];
    });
  const entries = Object.entries(value).flatMap(([key, part]): [string, Json][] => {
    if (key !== first) return [[key, part]];
    return rest.length === 0 && other === undefined ? [] : [[key, replaced(part, rest, other)]];
  });
  return Object.fromEntries(entries);
};
