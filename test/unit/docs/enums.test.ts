import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { modelSchemas } from '../../support/openapi-document.ts';

interface Property {
  readonly enum?: readonly unknown[];
  readonly items?: Property;
  readonly additionalProperties?: Property;
  readonly oneOf?: readonly Property[];
  readonly anyOf?: readonly Property[];
  readonly allOf?: readonly Property[];
}

const folder = new URL('../../../docs/reference/', import.meta.url);
const rows = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
  .filter((line) => line.startsWith('|'));

/** Values that a property admits, those of its elements and alternatives too. */
const valuesOf = (property: Property | undefined): unknown[] => {
  if (property === undefined || typeof property !== 'object') return [];
  const { items, additionalProperties, oneOf = [], anyOf = [], allOf = [] } = property;
  return [...(property.enum ?? []), ...[items, additionalProperties, ...oneOf, ...anyOf, ...allOf].flatMap(valuesOf)];
};

/** Returns whether a row tells of the field, with any name before it, and of the value. */
const isTold = (field: string, value: unknown): boolean =>
  rows.some((row) => row.split(/\W+/).includes(field) && row.split(/[^\w-]+/).includes(String(value)));

describe('enums of the model', () => {
  it('have each value in a row of docs/reference that names their field', async () => {
    const schemas = (await modelSchemas()) as Record<string, { readonly properties?: Record<string, Property> }>;
    const fields = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, property]) => ({ name, field, values: valuesOf(property) })),
    );
    expect(fields.filter(({ values }) => values.length > 0)).to.have.length.greaterThan(40);
    const untold = fields.flatMap(({ name, field, values }) =>
      values.filter((value) => !isTold(field, value)).map((value) => `${name}.${field}: ${String(value)}`),
    );
    expect(untold).to.deep.equal([]);
  });
});
