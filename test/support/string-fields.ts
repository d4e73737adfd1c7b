// The fields of each kind that hold text, from the model, and a body for each of them: a field that is added to the model is
// walked through by the tests that use this.
import { isObject } from '../../src/model/json-object.ts';
import type { EditableKind } from '../../src/model/kinds.ts';
import { type Scalar, scalarProblemOf } from '../../src/model/scalar.ts';
import { type Class, type Element, fieldsOf, type Shape } from '../../src/model/schema.ts';
import { classOf, parseEntity } from '../../src/model/validation.ts';
import { samples } from './bodies.ts';

const aReference = '{{secret:value:walk}}';

export type Path = readonly (string | number)[];

/** Paths of all texts that may hold a reference. */
export function stringPaths(cls: Class): Path[] {
  const fields = [...fieldsOf(cls).values()].filter(({ name, readOnly }) => !readOnly && name !== 'id');
  return fields.flatMap(({ name, shape }) => pathsIn(shape, [name]));
}

function pathsIn(shape: Shape, at: Path): Path[] {
  if (shape.is === 'list') return pathsIn(shape.of, [...at, 0]);
  if (shape.is === 'map') return pathsIn(shape.of, [...at, 'k']);
  if (shape.is === 'object') return stringPaths(shape.of).map((path) => [...at, ...path]);
  // Names of sections take none: `listenerIds` name them.
  return shape.scalar.json === 'string' && scalarProblemOf(shape.scalar, aReference) === undefined ? [at] : [];
}

/** A body that is accepted with a reference at that place. Throws when none of the samples leads to one. */
export function bodyWith(kind: EditableKind, path: Path, reference: string): Record<string, unknown> {
  const known = (sample: unknown): number =>
    path.findIndex((_, at) => valueAt(sample, path.slice(0, at + 1)) === undefined);
  // A block that is there already counts, and one that has to be added may not.
  const byLength = [...samples[kind]].sort((a, b) => (known(b) + 1 || 99) - (known(a) + 1 || 99));
  for (const sample of byLength) {
    for (let kept = path.length - 1; kept >= 0; kept--) {
      const { id: _, ...body } = structuredClone(sample) as Record<string, unknown>;
      place(classOf[kind], body, path, reference, kept);
      if (parseEntity(kind, body).problems.length === 0) return body;
    }
  }
  throw new Error(`no sample of ${kind} can be made to hold ${path.join('/')}: add it to test/support/bodies.ts`);
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
    value,
  );

/** Objects on the way below `kept` have nothing but what they need and the way itself. */
function place(cls: Class, object: Record<string, unknown>, path: Path, text: string, kept: number): void {
  let holder: Record<string | number, unknown> = object;
  let shape: Shape = { is: 'object', of: cls };
  path.forEach((step, at) => {
    const next = below(shape, step);
    if (at === path.length - 1) holder[step] = text;
    else {
      const known = holder[step];
      const whole = typeof known === 'object' && known !== null && at < kept;
      holder[step] = whole ? known : Array.isArray(known) || next.is === 'list' ? [] : { ...needed(next) };
    }
    holder = holder[step] as Record<string | number, unknown>;
    shape = next;
  });
}

function below(shape: Shape, step: string | number): Shape {
  if (shape.is === 'list' || shape.is === 'map') return shape.of;
  const field = shape.is === 'object' ? fieldsOf(shape.of).get(String(step)) : undefined;
  if (field === undefined) throw new Error(`no field ${step}`);
  return field.shape;
}

/** Returns the required fields of an object of the shape. */
function needed(shape: Shape): Record<string, unknown> {
  if (shape.is !== 'object') return {};
  const required = [...fieldsOf(shape.of).values()].filter((field) => field.required);
  return Object.fromEntries(required.map(({ name, shape: inner }) => [name, smallest(inner)]));
}

function smallest(shape: Shape | Element): unknown {
  if (shape.is === 'list') return [smallest(shape.of)];
  if (shape.is === 'map') return {};
  return shape.is === 'object' ? needed(shape) : example(shape.scalar);
}

const values = ['a', '/a', 'a.example', '1s', '10.0.0.0/8', 'true', 1, 200, true];
const example = (scalar: Scalar): unknown =>
  scalar.schema.enum?.[0] ?? values.find((value) => scalarProblemOf(scalar, value) === undefined);

/** The text at the place is one that the field takes. */
export function takes(kind: EditableKind, path: Path, body: Record<string, unknown>, text: string): boolean {
  const copy = structuredClone(body);
  let holder: unknown = copy;
  for (const step of path.slice(0, -1))
    holder = isObject(holder) || Array.isArray(holder) ? Reflect.get(holder, step) : {};
  Reflect.set(holder as object, path.at(-1) ?? '', text);
  return parseEntity(kind, copy).problems.length === 0;
}
