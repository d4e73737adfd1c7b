// Structural difference of two JSON values, apart from ignored pointers.

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

/** Returns the value of a JSON text with integers of any size; undefined where it is no JSON. */
export function parsedJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text, exactInteger) };
  } catch {
    return undefined;
  }
}

/** Returns the first difference, in the order of the primary's members and then of the mirror's others. */
export const jsonDifference = (
  primary: unknown,
  mirror: unknown,
  ignore: readonly PointerPattern[],
): JsonDifference | undefined => differenceAt(primary, mirror, '', ignore, 0);

function differenceAt(
  a: unknown,
  b: unknown,
  pointer: string,
  patterns: readonly PointerPattern[],
  depth: number,
): JsonDifference | undefined {
  if (isNested(a) && isNested(b) && Array.isArray(a) === Array.isArray(b) && depth < depthMax) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const below = patternsBelow(patterns, key);
      if (isIgnored(below)) continue;
      const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const [left, right] = [own(a, key), own(b, key)];
      const found =
        left === undefined || right === undefined
          ? { pointer: at, primary: shown(left, below), mirror: shown(right, below) }
          : differenceAt(left, right, at, below, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return a === b ? undefined : { pointer, primary: shown(a, patterns), mirror: shown(b, patterns) };
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
    return JSON.stringify(withoutIgnored(value, patterns), (_, each: unknown) =>
      typeof each === 'bigint' ? String(each) : each,
    );
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

/** Integers that a double cannot tell apart are compared as integers. */
const exactInteger = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d{1,1000}$/.test(source) ? BigInt(source) : value;
};
