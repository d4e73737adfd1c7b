// Structural difference of two JSON values, apart from ignored pointers.
import { randomUUID } from 'node:crypto';

/** Segments of a pointer; `*` stands for any. */
export type PointerPattern = readonly string[];

export interface JsonDifference {
  /** RFC 6901. */
  readonly pointer: string;
  /** JSON text of each side, ignored parts masked; undefined where the side has nothing there. */
  readonly primary: string | undefined;
  readonly mirror: string | undefined;
}

/** Nesting that is compared; deeper values differ where they begin. */
const depthMax = 256;
const ignored = '[ignored]';

export const patternOf = (pointer: string): PointerPattern =>
  pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the value of a JSON text, long integers marked; undefined where it is no JSON. */
export function parsedJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(mayLoseDigits.test(text) ? text.replace(stringOrLongInteger, marked) : text) };
  } catch {
    return undefined;
  }
}

/** Digits beyond which a double may not tell integers apart. */
const mayLoseDigits = /\d{16}/;
/** Strings are found to be passed over; one without an end up to the end of the text, which is looked at once. */
const stringOrLongInteger = /"(?:[^"\\]|\\.)*(?:"|\\?$)|(?<![\d.eE+-])-?\d{16,1000}(?![\d.eE])/gs;
/** Mark of a long integer, which is compared as text. No body can hold it: it differs in each process. */
const mark = `${randomUUID()} `;

function marked(found: string): string {
  return found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${mark}${found}"`;
}

/** Returns the first difference, in the order of the primary's members and then of the mirror's others. */
export function jsonDifference(
  primary: unknown,
  mirror: unknown,
  ignore: readonly PointerPattern[],
): JsonDifference | undefined {
  return differenceAt(primary, mirror, ignore, 0);
}

/** Costs little for what is equal: a body may have hundreds of thousands of values. */
function differenceAt(
  a: unknown,
  b: unknown,
  patterns: readonly PointerPattern[],
  depth: number,
): JsonDifference | undefined {
  if (a === b) return undefined;
  if (depth < depthMax && Array.isArray(a) && Array.isArray(b)) return elementDifference(a, b, patterns, depth);
  const areObjects = isNested(a) && isNested(b) && !Array.isArray(a) && !Array.isArray(b) && depth < depthMax;
  if (!areObjects) return { pointer: '', primary: shown(a, patterns), mirror: shown(b, patterns) };
  for (const key of Object.keys(a)) {
    const found = memberDifference(key, a[key], own(b, key), patterns, depth);
    if (found !== undefined) return found;
  }
  for (const key of Object.keys(b)) {
    const found = Object.hasOwn(a, key) ? undefined : memberDifference(key, undefined, b[key], patterns, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function elementDifference(
  a: readonly unknown[],
  b: readonly unknown[],
  patterns: readonly PointerPattern[],
  depth: number,
): JsonDifference | undefined {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const found = a[at] === b[at] ? undefined : memberDifference(String(at), a[at], b[at], patterns, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Undefined: the side has no such member. */
function memberDifference(
  key: string,
  left: unknown,
  right: unknown,
  patterns: readonly PointerPattern[],
  depth: number,
): JsonDifference | undefined {
  if (left === right) return undefined;
  const below = patternsBelow(patterns, key);
  if (isIgnored(below)) return undefined;
  const found =
    left === undefined || right === undefined
      ? { pointer: '', primary: shown(left, below), mirror: shown(right, below) }
      : differenceAt(left, right, below, depth + 1);
  return found && { ...found, pointer: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${found.pointer}` };
}

type Nested = Readonly<Record<string, unknown>>;

const isNested = (value: unknown): value is Nested => typeof value === 'object' && value !== null;

const own = (value: Nested, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);

const patternsBelow = (patterns: readonly PointerPattern[], key: string): readonly PointerPattern[] =>
  patterns.length === 0
    ? patterns
    : patterns.filter(([first]) => first === '*' || first === key).map((pattern) => pattern.slice(1));

const isIgnored = (patterns: readonly PointerPattern[]): boolean => patterns.some(({ length }) => length === 0);

/** Returns the JSON text of a value without what is ignored in it. */
function shown(value: unknown, patterns: readonly PointerPattern[]): string | undefined {
  if (value === undefined) return undefined;
  try {
    return JSON.stringify(withoutIgnored(value, patterns)).replaceAll(mark, '');
  } catch {
    return '[nested too deeply]';
  }
}

function withoutIgnored(value: unknown, patterns: readonly PointerPattern[]): unknown {
  if (patterns.length === 0 || !isNested(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    const below = patternsBelow(patterns, key);
    return [key, isIgnored(below) ? ignored : withoutIgnored(each, below)];
  });
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}
