// Pages of fields, one per kind (docs/fields): made of the schemas of the model, so that neither can drift from the other.

import { editableKinds } from '../src/model/kinds.ts';
import { type Class, fieldsOf } from '../src/model/schema.ts';
import { classOf } from '../src/model/validation.ts';

interface Property {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly readOnly?: boolean;
  readonly items?: Property;
  readonly additionalProperties?: Property;
  readonly $ref?: string;
  readonly allOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
  readonly anyOf?: readonly Property[];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Returns the text of each page by its path below docs/fields. */
export function fieldPages(schemas: Schemas): Map<string, string> {
  const pages = editableKinds.map((kind): [string, string] => [`${kind}.md`, pageOf(kind, classOf[kind], schemas)]);
  const index = editableKinds.map((kind) => `- [${kind}](${kind}.md)`);
  const head =
    '# Fields\n\nFields of each kind, as the API takes them. Written by `npm run fields` from the model.\n\n';
  return new Map([...pages, ['README.md', `${head}${index.join('\n')}\n`]]);
}

function pageOf(kind: string, cls: Class, schemas: Schemas): string {
  const parts = [`# Fields of ${kind}\n\nWritten by \`npm run fields\` from the model.\n`];
  const seen = new Set<Class>();
  const waiting: { readonly of: Class; readonly at: string }[] = [{ of: cls, at: '' }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (seen.has(next.of)) continue;
    seen.add(next.of);
    const { properties = {}, required = [] } = schemas[next.of.name] ?? {};
    if (next.at !== '') parts.push(`## \`${next.at}\`\n`);
    parts.push('| Field | Type | Default | Says |\n|---|---|---|---|');
    for (const { name, shape } of fieldsOf(next.of).values()) {
      const property = properties[name] ?? {};
      const cells = [typeOf(property), defaultOf(property, required.includes(name)), property.description ?? ''];
      parts.push(`| \`${name}\` | ${cells.map(cell).join(' | ')} |`);
      const element = shape.is === 'list' || shape.is === 'map' ? shape.of : shape;
      const suffix = shape.is === 'list' ? '[]' : shape.is === 'map' ? '.*' : '';
      if (element.is === 'object')
        waiting.push({ of: element.of, at: `${next.at === '' ? '' : `${next.at}.`}${name}${suffix}` });
    }
    parts.push('');
  }
  return `${parts.join('\n').trimEnd()}\n`;
}

function defaultOf(property: Property, required: boolean): string {
  if (required) return 'required';
  return property.default === undefined ? '' : `\`${JSON.stringify(property.default)}\``;
}

function typeOf(property: Property): string {
  const of = referencesOf(property);
  if (property.items !== undefined)
    return `list of ${of.length > 0 ? 'objects' : typeOf(property.items)}${boundsOf(property.minItems, property.maxItems)}`;
  if (property.additionalProperties !== undefined && typeof property.additionalProperties === 'object')
    return `map of ${of.length > 0 ? 'objects' : typeOf(property.additionalProperties)}`;
  if (property.enum !== undefined) return property.enum.map((value) => `\`${String(value)}\``).join(', ');
  const alternatives = property.oneOf ?? property.anyOf;
  if (alternatives !== undefined) return alternatives.map(typeOf).join(' or ');
  if (of.length > 0) return 'object';
  return `${property.type ?? 'any'}${boundsOf(property.minimum, property.maximum)}`;
}

function boundsOf(min: number | undefined, max: number | undefined): string {
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `, at least ${min}`;
  return min === undefined || min === 0
    ? `, at most ${max.toLocaleString('en')}`
    : `, ${min} to ${max.toLocaleString('en')}`;
}

function referencesOf(property: Property): readonly string[] {
  const own = property.$ref === undefined ? [] : [property.$ref.slice(property.$ref.lastIndexOf('/') + 1)];
  const inner = [
    property.items,
    property.additionalProperties,
    ...(property.allOf ?? []),
    ...(property.oneOf ?? []),
    ...(property.anyOf ?? []),
  ];
  return [...own, ...inner.flatMap((each) => (typeof each === 'object' ? referencesOf(each) : []))];
}

/** Bars would end a cell, and a line its row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
