// Known fields of the model at a JSON pointer, for the nearest name of a misspelt one.
import type { EditableKind } from '../../model/kinds.ts';
import { type Class, type Element, fieldsOf, type Shape } from '../../model/schema.ts';
import { classOf } from '../../model/validation.ts';
import { meant } from '../kind-names.ts';
import { segmentsOf } from './input-entities.ts';

/** Returns ` (did you mean "path"?)`, or nothing where no known field is near. */
export function meantField(kind: EditableKind, pointer: string): string {
  const segments = segmentsOf(pointer);
  const last = segments.pop() ?? '';
  let owner: Class | undefined = classOf[kind];
  let isInCollection = false;
  for (const segment of segments) {
    if (owner === undefined) return '';
    if (isInCollection) {
      isInCollection = false;
      continue;
    }
    const shape: Shape | undefined = fieldsOf(owner).get(segment)?.shape;
    if (shape === undefined) return '';
    const element: Element = shape.is === 'list' || shape.is === 'map' ? shape.of : shape;
    isInCollection = element !== shape;
    owner = element.is === 'object' ? element.of : undefined;
  }
  return owner === undefined ? '' : meant(last, fieldsOf(owner).keys());
}
