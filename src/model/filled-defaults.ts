// Entities with their defaults filled in, for comparisons: one that spells a default is the one that leaves it out.
import { isObject, type JsonObject } from './json-object.ts';
import type { EditableKind } from './kinds.ts';
import { type Class, type Element, fieldsOf, type Shape } from './schema.ts';
import { classOf } from './validation.ts';

/**
 * Returns a copy with each default that an absent field stands for. Blocks whose presence says something stay absent, and
 * fields that no schema knows stay as they are.
 */
export const withDefaults = (kind: EditableKind, entity: JsonObject): JsonObject => filled(classOf[kind], entity);

function filled(owner: Class, object: JsonObject): JsonObject {
  const copy = { ...object };
  for (const { name, shape, shorthand, default: fallback } of fieldsOf(owner).values()) {
    const value = copy[name] ?? fallback;
    const whole = shorthand !== undefined && typeof value === 'string' ? shorthand.expand(value) : value;
    if (whole !== undefined) copy[name] = filledValue(shape, whole);
  }
  return copy;
}

function filledValue(shape: Shape, value: unknown): unknown {
  if (shape.is === 'list') return Array.isArray(value) ? value.map((each) => filledElement(shape.of, each)) : value;
  if (shape.is !== 'map') return filledElement(shape, value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledElement(shape.of, each)]));
}

const filledElement = (element: Element, value: unknown): unknown =>
  element.is === 'object' && isObject(value) ? filled(element.of, value) : value;
