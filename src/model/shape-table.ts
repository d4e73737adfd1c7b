// The shapes of the model's classes as plain data: JSON types, enumerations, which texts are durations. `shapes.ts` is
// what this makes of the classes that there are.
import type { Scalar, TextScalar } from './scalar.ts';
import { type Class, type Element, type Field, fieldsOf, type Shape } from './schema.ts';

export type ValueShape =
  | { readonly is: 'text'; readonly oneOf?: readonly string[]; readonly duration?: true; readonly mayBeEmpty?: true }
  | { readonly is: 'number'; readonly integer?: true; readonly min?: number; readonly max?: number }
  | { readonly is: 'flag' }
  /** `of` names another entry of the table. */
  | { readonly is: 'object'; readonly of: string }
  | { readonly is: 'list'; readonly of: ValueShape }
  | { readonly is: 'map'; readonly of: ValueShape };

export interface FieldShape {
  readonly value: ValueShape;
  readonly required?: true;
  /** Field of the object for which a bare text stands (contract.md §2.2, `proxyErrors`). */
  readonly textFor?: string;
  /** The block counts only when another field of its owner chooses it by name; else nothing but its types is checked. */
  readonly idle?: true;
}

/** By name of the kind or of the class, then by field. */
export type Shapes = Readonly<Record<string, Readonly<Record<string, FieldShape>>>>;

export function shapeTable(roots: readonly (readonly [string, Class])[]): Shapes {
  const table: Record<string, Record<string, FieldShape>> = {};
  const add = (name: string, cls: Class): void => {
    if (table[name] !== undefined) return;
    const fields: Record<string, FieldShape> = {};
    table[name] = fields;
    for (const [field, entry] of fieldsOf(cls)) fields[field] = fieldShape(entry, add);
  };
  for (const [name, cls] of roots) add(name, cls);
  return table;
}

type Add = (name: string, cls: Class) => void;

const fieldShape = ({ shape, required, shorthand, conditional }: Field, add: Add): FieldShape => ({
  value: valueShape(shape, add),
  ...(required && { required }),
  ...(shorthand !== undefined && { textFor: Object.keys(shorthand.expand(shorthand.texts[0] ?? ''))[0] }),
  ...(conditional === true && { idle: true }),
});

const valueShape = (shape: Shape, add: Add): ValueShape =>
  shape.is === 'list' || shape.is === 'map'
    ? { is: shape.is, of: elementShape(shape.of, add) }
    : elementShape(shape, add);

function elementShape(element: Element, add: Add): ValueShape {
  if (element.is === 'scalar') return scalarShape(element.scalar);
  const { name } = element.of;
  add(name, element.of);
  return { is: 'object', of: name };
}

function scalarShape(scalar: Scalar): ValueShape {
  if (scalar.json === 'boolean') return { is: 'flag' };
  if (scalar.json === 'string') return textShape(scalar);
  const { type, minimum: min, maximum: max } = scalar.schema;
  return {
    is: 'number',
    ...(type === 'integer' && { integer: true }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
  };
}

function textShape({ schema, mayBeEmpty }: TextScalar): ValueShape {
  const oneOf = schema.enum?.map(String);
  const duration = schema.format === 'duration-string';
  return { is: 'text', ...(oneOf && { oneOf }), ...(duration && { duration }), ...(mayBeEmpty && { mayBeEmpty }) };
}
