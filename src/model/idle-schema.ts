// Schema of a block that is not chosen (contract.md §2.3.3, §2.7): it is accepted, kept and answered as it was sent, so
// nothing but its JSON types is said.
import type { Scalar } from './scalar.ts';
import { type Class, type Element, fieldsOf, type Shape } from './schema.ts';
import { mapEntriesMax } from './shape.ts';

export type IdleSchema =
  | { readonly type: Scalar['json'] }
  | { readonly type: 'array'; readonly items: IdleSchema; readonly maxItems?: number }
  | { readonly type: 'object'; readonly properties: Readonly<Record<string, IdleSchema>> }
  | { readonly type: 'object'; readonly additionalProperties: IdleSchema; readonly maxProperties: number };

export const idleSchemaOf = (cls: Class): IdleSchema => ({
  type: 'object',
  properties: Object.fromEntries([...fieldsOf(cls)].map(([name, { shape }]) => [name, idle(shape)])),
});

function idle(shape: Shape): IdleSchema {
  switch (shape.is) {
    case 'list':
      return {
        type: 'array',
        items: idleElement(shape.of),
        ...(Number.isFinite(shape.lengthMax) && { maxItems: shape.lengthMax }),
      };
    case 'map':
      return { type: 'object', additionalProperties: idleElement(shape.of), maxProperties: mapEntriesMax };
    default:
      return idleElement(shape);
  }
}

const idleElement = (element: Element): IdleSchema =>
  element.is === 'object' ? idleSchemaOf(element.of) : { type: element.scalar.json };
