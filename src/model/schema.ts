// Schema of a class, as the decorators of `field.ts` recorded it: its fields in order, and the rules across fields.
// Admission walks it to read JSON, validation to explain what class-validator found wrong.
import type { Problem } from './problem.ts';
import type { Scalar } from './scalar.ts';

export type Class<T extends object = object> = new () => T;

export type Element =
  | { readonly is: 'scalar'; readonly scalar: Scalar }
  | { readonly is: 'object'; readonly of: Class };

export type Shape =
  | Element
  | {
      readonly is: 'list';
      readonly of: Element;
      readonly lengthMin: number;
      readonly lengthMax: number;
      readonly distinct: boolean;
    }
  | { readonly is: 'map'; readonly of: Element; readonly lengthMax: number };

export interface Shorthand {
  readonly texts: readonly string[];
  readonly expand: (text: string) => Readonly<Record<string, unknown>>;
}

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly required: boolean;
  /** Part of answers only: ignored in a body. */
  readonly readOnly: boolean;
  /** Value that an absent field stands for; undefined where it has a meaning of its own, or depends on others. */
  readonly default?: unknown;
  /** Default that an absent field is answered and stored with (J10); undefined leaves it out. */
  readonly emitted?: unknown;
  /** Texts that stand for the object of this field. */
  readonly shorthand?: Shorthand;
  /** The block counts only beside certain other values; otherwise nothing but its JSON types is checked. */
  readonly conditional?: boolean;
}

/** Check of an object of the class beyond its single fields. Pointers are relative to the object. */
export type Rule<T> = (object: T) => readonly Problem[];

const fields = new Map<object, Field[]>();
const rules = new Map<object, Map<string, (object: object) => readonly Problem[]>>();

export const recordField = (owner: object, field: Field): void => {
  const known = fields.get(owner);
  if (known === undefined) fields.set(owner, [field]);
  else known.push(field);
};

export const recordRule = (owner: object, name: string, rule: (object: object) => readonly Problem[]): void => {
  const known = rules.get(owner) ?? new Map();
  rules.set(owner, known.set(name, rule));
};

const closed = new Set<object>();

/** Makes unknown fields of the class, and of all that is inside its objects, problems. */
export const recordClosed = (owner: object): void => void closed.add(owner);

export const isClosed = (owner: object): boolean => closed.has(owner);

/** Names of the closed classes and of all classes that are inside them. */
export const closedNames = (): ReadonlySet<string> => {
  const names = new Set<string>();
  const visit = (owner: Class): void => {
    if (names.has(owner.name)) return;
    names.add(owner.name);
    for (const { shape } of fieldsOf(owner).values()) {
      const element = shape.is === 'list' || shape.is === 'map' ? shape.of : shape;
      if (element.is === 'object') visit(element.of);
    }
  };
  for (const owner of closed) visit(owner as Class);
  return names;
};

const complete = new Map<object, ReadonlyMap<string, Field>>();

/** Fields of the class by name, those of its parent first. */
export const fieldsOf = (owner: object): ReadonlyMap<string, Field> => {
  const known = complete.get(owner);
  if (known !== undefined) return known;
  const parent: unknown = Object.getPrototypeOf(owner);
  const inherited = typeof parent === 'function' && parent !== Function.prototype ? [...fieldsOf(parent).values()] : [];
  const all = new Map([...inherited, ...(fields.get(owner) ?? [])].map((field) => [field.name, field]));
  complete.set(owner, all);
  return all;
};

/** The rule of that name, or undefined when the name is a field's. */
export const ruleOf = (owner: object, name: string): ((object: object) => readonly Problem[]) | undefined =>
  rules.get(owner)?.get(name);

type Check = (object: object) => readonly Problem[];

const completeRules = new Map<object, readonly Check[]>();

/** Rules of the class and of its parents. */
export const rulesOf = (owner: object): readonly Check[] => {
  const known = completeRules.get(owner);
  if (known !== undefined) return known;
  const parent: unknown = Object.getPrototypeOf(owner);
  const inherited = typeof parent === 'function' && parent !== Function.prototype ? rulesOf(parent) : [];
  const all = [...inherited, ...(rules.get(owner)?.values() ?? [])];
  completeRules.set(owner, all);
  return all;
};
