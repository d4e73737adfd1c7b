// Decoding of JSON into objects of the model's classes, by the rules of contract.md §0.2: null is absent, empty texts of
// optional fields are absent, nothing is coerced, unknown fields are named and left out. Only fields that a class
// declares are ever read or written, so no key of a body reaches a prototype. Formats and rules are validation's.
import { isObject } from './json-object.ts';
import { type LongList, longListOf } from './long-list.ts';
import { type Problem, pointerOf, problemsMax } from './problem.ts';
import { storedValue, typeProblemOf } from './scalar.ts';
import { type Class, type Element, type Field, fieldsOf, isClosed, type Shape, type Shorthand } from './schema.ts';
import { holdsSecret, misspeltReference } from './secret-reference.ts';
import { notAList, notAnObject, shapeProblemsOf, tooMany } from './shape.ts';

export interface Placed {
  /** JSON pointer from the body. */
  readonly pointer: string;
  readonly object: object;
}

export interface Decoded {
  readonly object: object;
  /** Wrong JSON types and sizes, at most `problemsMax`. What they stand at is absent from the object or empty. */
  readonly problems: Problem[];
  /** JSON pointers of fields that no class declares, at most `problemsMax`. */
  readonly unknown: readonly string[];
  /** Objects inside maps, which class-validator does not enter by itself. */
  readonly mapped: readonly Placed[];
  /** Lists that are empty so far, and to be read in steps. */
  readonly long: readonly LongList[];
}

/** @param refers true for classes whose texts may refer to secrets: texts that nearly do are refused */
export const decode = (cls: Class, json: Readonly<Record<string, unknown>>, refers = false): Decoded => {
  const reader = new Reader(refers);
  const object = reader.object(cls, json, '');
  return { object, problems: reader.problems, unknown: reader.unknown, mapped: reader.mapped, long: reader.long };
};

class Reader {
  readonly problems: Problem[] = [];
  readonly unknown: string[] = [];
  readonly mapped: Placed[] = [];
  readonly long: LongList[] = [];
  readonly #refers: boolean;
  /** Inside of an object of a closed class. */
  #isClosed = false;

  constructor(refers: boolean) {
    this.#refers = refers;
  }

  object(cls: Class, json: Readonly<Record<string, unknown>>, pointer: string): object {
    const object = new cls();
    const fields = fieldsOf(cls);
    const wasClosed = this.#isClosed;
    this.#isClosed ||= isClosed(cls);
    for (const key of Object.keys(json)) if (!fields.has(key)) this.#unknown(pointer + pointerOf(key), json[key]);
    for (const [name, field] of fields) {
      const sent = field.readOnly || !Object.hasOwn(json, name) ? undefined : json[name];
      const value = isAbsent(field, sent) ? field.emitted : sent;
      const at = pointer + pointerOf(name);
      const long = longListOf(object, field, value, at);
      if (long !== undefined) this.long.push(long);
      Reflect.set(object, name, long ? [] : value === undefined ? undefined : this.#field(field, value, at));
    }
    this.#isClosed = wasClosed;
    return object;
  }

  /** Null is as good as absent (J4), also where no class knows the field. */
  #unknown(pointer: string, value: unknown): void {
    if (this.#isClosed && value !== null) this.#refuse(pointer, 'is not a known field');
    else if (this.unknown.length < problemsMax) this.unknown.push(pointer);
  }

  #field(field: Field, sent: unknown, pointer: string): unknown {
    const { shape, shorthand } = field;
    if (shorthand !== undefined && typeof sent === 'string') return this.#shorthand(shorthand, shape, sent, pointer);
    if (shape.is === 'list') return this.#list(shape, sent, pointer);
    if (shape.is === 'map') return this.#map(shape, sent, pointer);
    return this.#element(shape, sent, pointer);
  }

  #shorthand({ texts, expand }: Shorthand, shape: Shape, sent: string, pointer: string): unknown {
    const known = texts.includes(sent) || holdsSecret(sent);
    if (shape.is === 'object' && known) return this.object(shape.of, expand(sent), pointer);
    return this.#refuse(pointer, `must be an object or one of ${texts.join(', ')}`);
  }

  #element(element: Element, value: unknown, pointer: string): unknown {
    if (element.is === 'object') {
      return isObject(value) ? this.object(element.of, value, pointer) : this.#refuse(pointer, notAnObject);
    }
    const { scalar } = element;
    const problem = typeProblemOf(scalar, value) ?? (this.#refers ? referenceProblemOf(value) : undefined);
    return problem === undefined ? storedValue(scalar, value) : this.#refuse(pointer, problem);
  }

  #list(shape: Shape & { readonly is: 'list' }, value: unknown, pointer: string): unknown {
    if (!Array.isArray(value)) return this.#refuse(pointer, notAList);
    // Too long is not worth looking into; too short is validation's to say, for blocks that count.
    if (value.length > shape.lengthMax) return this.#refuse(pointer, tooMany(shape.lengthMax));
    const { of } = shape;
    const list = value.map((sent: unknown, index) => {
      const element = this.#element(of, sent, pointer + pointerOf(index));
      // An empty object in the place of a refused one: rules may rely on the class of what they meet.
      return element === undefined && of.is === 'object' ? new of.of() : element;
    });
    // Collapsed only when all is well, so that the pointers of problems keep naming what was sent.
    return shape.distinct && shapeProblemsOf(shape, list).length === 0 ? [...new Set(list)] : list;
  }

  #map({ of, lengthMax }: Shape & { readonly is: 'map' }, value: unknown, pointer: string): unknown {
    if (!isObject(value)) return this.#refuse(pointer, notAnObject);
    const entries = Object.entries(value).filter(([, sent]) => sent !== null);
    if (entries.length > lengthMax) return this.#refuse(pointer, tooMany(lengthMax));
    const map: Record<string, unknown> = {};
    for (const [key, sent] of entries) {
      const at = pointer + pointerOf(key);
      // The one key that a plain object does not hold: assigned, it would change the prototype.
      const element = key === '__proto__' ? this.#refuse(at, 'must not be used as a key') : this.#element(of, sent, at);
      if (element === undefined) continue;
      map[key] = element;
      if (isObject(element)) this.mapped.push({ pointer: at, object: element });
    }
    return map;
  }

  #refuse(pointer: string, message: string): undefined {
    if (this.problems.length < problemsMax) this.problems.push({ pointer, message });
  }
}

function referenceProblemOf(value: unknown): string | undefined {
  const found = typeof value === 'string' ? misspeltReference(value) : undefined;
  return found && `holds ${found}, which is no reference: write {{secret: without blanks, in lower case`;
}

/** Typed clients write unset fields as null (J4), unset texts as "" (J5). */
const isAbsent = ({ required, shape, shorthand }: Field, sent: unknown): boolean => {
  if (sent !== '') return sent === undefined || sent === null;
  const holdsText = shape.is === 'scalar' && shape.scalar.json === 'string' && !shape.scalar.mayBeEmpty;
  return !required && (holdsText || shorthand !== undefined);
};
