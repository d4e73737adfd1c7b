// Schema of a block that is not chosen (contract.md §2.3.3, §2.7): it is accepted, kept and answered as it was sent, so
// nothing but its JSON types is said.
import { type Scalar, uintMax } from './scalar.ts';
import { type Class, type Element, fieldsOf, type Shape } from './schema.ts';

export type IdleSchema =
  | { readonly type: Scalar['json'] }
  | { readonly type: 'integer'; readonly minimum: 0; readonly maximum: number }
  | { readonly type: 'array'; readonly items: IdleSchema; readonly maxItems?: number }
  | { readonly type: 'object'; readonly properties: Readonly<Record<string, IdleSchema>> }
  | { readonly type: 'object'; readonly additionalProperties: IdleSchema; readonly maxProperties: number };

export const idlePropertiesOf = (cls: Class): Record<string, IdleSchema> =>
  Object.fromEntries([...fieldsOf(cls)].map(([name, { shape }]) => [name, idle(shape)]));

function idle(shape: Shape): IdleSchema {
  switch (shape.is) {
    case 'list':
      return {
        type: 'array',
        items: idleElement(shape.of),
        ...(Number.isFinite(shape.lengthMax) && { maxItems: shape.lengthMax }),
      };
    case 'map':
      return { type: 'object', additionalProperties: idleElement(shape.of), maxProperties: shape.lengthMax };
    default:
      return idleElement(shape);
  }
}

const idleElement = (element: Element): IdleSchema =>
  element.is === 'object' ? { type: 'object', properties: idlePropertiesOf(element.of) } : idleScalar(element.scalar);

const idleScalar = ({ json, schema }: Scalar): IdleSchema =>
  schema.type === 'integer' ? { type: 'integer', minimum: 0, maximum: uintMax } : { type: json };
