// Reader of one entity of a received snapshot: brings it into the form that the data plane relies on, in place. Null
// and empty texts are absent, an invalid duration gives way to the field's default, and any other field of the wrong
// type is reported (contract.md §4.2). The sender may be another implementation or version, so no content is trusted
// to have been checked; unknown fields are left alone.
import { parseDuration } from '../model/duration.ts';
import { isObject, type JsonObject } from '../model/json-object.ts';
import { type Problem, pointerOf, problemsMax } from '../model/problem.ts';
import type { FieldShape, Shapes, ValueShape } from '../model/shape-table.ts';

export class ShapeReader {
  readonly #shapes: Shapes;
  /** Durations that gave way to a default. At most `problemsMax`. */
  readonly warnings: Problem[] = [];
  #problems: Problem[] = [];

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  /** Returns the problems of the entity; pointers begin with `at`. Empty: it can be relied on. */
  repair(kind: string, entity: JsonObject, at: string): readonly Problem[] {
    this.#problems = [];
    this.#object(kind, entity, at, true);
    return this.#problems;
  }

  #object(name: string, object: JsonObject, at: string, counts: boolean): void {
    const fields = this.#shapes[name] ?? {};
    for (const field in fields) {
      const shape = fields[field];
      if (shape === undefined) continue;
      const sent = Object.hasOwn(object, field) ? object[field] : undefined;
      if (isAbsent(shape, sent)) {
        if (sent !== undefined) delete object[field];
        if (shape.required && counts) this.#report(at + pointerOf(field), 'is required');
        continue;
      }
      if (shape.textFor !== undefined && typeof sent === 'string') object[field] = { [shape.textFor]: sent };
      const pointer = at + pointerOf(field);
      const blockCounts = counts && (shape.idle !== true || isChosen(field, object));
      if (!this.#value(shape.value, object[field], pointer, blockCounts)) delete object[field];
    }
  }

  /** Reads a value. False: the value is to be left out, and its problem was reported. */
  #value(shape: ValueShape, value: unknown, at: string, counts: boolean): boolean {
    switch (shape.is) {
      case 'text':
        return this.#text(shape, value, at, counts);
      case 'number':
        if (typeof value !== 'number' || !Number.isFinite(value)) this.#report(at, 'must be a number');
        else if (counts && !isWithin(shape, value)) this.#report(at, 'is out of range');
        return true;
      case 'flag':
        if (typeof value !== 'boolean') this.#report(at, 'must be true or false');
        return true;
      case 'object':
        if (isObject(value)) this.#object(shape.of, value, at, counts);
        else this.#report(at, 'must be an object');
        return true;
      case 'list':
        if (Array.isArray(value)) {
          for (const [i, each] of value.entries()) this.#value(shape.of, each, at + pointerOf(i), counts);
        } else this.#report(at, 'must be a list');
        return true;
      case 'map':
        if (isObject(value)) this.#map(shape.of, value, at, counts);
        else this.#report(at, 'must be an object');
        return true;
    }
  }

  #text(
    { oneOf, duration }: Extract<ValueShape, { is: 'text' }>,
    value: unknown,
    at: string,
    counts: boolean,
  ): boolean {
    if (typeof value !== 'string') this.#report(at, 'must be a string');
    else if (duration === true) return this.#duration(value, at);
    else if (oneOf !== undefined && counts && !oneOf.includes(value)) {
      this.#report(at, `must be one of ${oneOf.join(', ')}`);
    }
    return true;
  }

  #duration(text: string, at: string): boolean {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 0) return true;
    if (this.warnings.length < problemsMax) {
      this.warnings.push({ pointer: at, message: 'is no duration; the default of the field serves' });
    }
    return false;
  }

  #map(of: ValueShape, map: JsonObject, at: string, counts: boolean): void {
    for (const [key, value] of Object.entries(map)) {
      if (value === null) delete map[key];
      else this.#value(of, value, at + pointerOf(key), counts);
    }
  }

  #report(pointer: string, message: string): void {
    if (this.#problems.length < problemsMax) this.#problems.push({ pointer, message });
  }
}

function isAbsent({ value: shape, required, textFor }: FieldShape, sent: unknown): boolean {
  if (sent === undefined || sent === null) return true;
  if (sent !== '' || required) return false;
  return textFor !== undefined || (shape.is === 'text' && shape.mayBeEmpty !== true);
}

const isWithin = ({ integer, min, max }: Extract<ValueShape, { is: 'number' }>, value: number): boolean =>
  (integer !== true || Number.isInteger(value)) && value >= (min ?? -Infinity) && value <= (max ?? Infinity);

/** `type: extAuthz` chooses `extAuthz`, `algorithm: RING_HASH` chooses `ringHash`. */
const isChosen = (block: string, { type, algorithm }: JsonObject): boolean => {
  const choice = typeof type === 'string' ? type : algorithm;
  return typeof choice === 'string' && choice.replaceAll('_', '').toLowerCase() === block.toLowerCase();
};
