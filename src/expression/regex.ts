// Regular expressions of users: RE2 syntax, linear time for every pattern and input (contract.md §0.3). Every regex of
// the program comes from here, so the engine can be replaced in one file.
import { RE2JS, RE2JSException, RE2JSSyntaxException, RE2Set } from 're2js';
import { ExpressionError } from './expression-error.ts';
import { expandedSize } from './regex-size.ts';
import { SharedByText } from './shared-by-text.ts';

/** Longest pattern, in UTF-16 units. */
const patternMax = 4096;
/** Largest size of a pattern of that length with its repetitions written out. Compiling one takes tens of milliseconds. */
const expandedMax = 10_000;

/** One compiled pattern, immutable. */
export interface Regex {
  readonly pattern: string;
  /** Number of capturing groups; group 0 is not counted. */
  readonly groups: number;
  /** Number of each named group. */
  readonly names: Readonly<Record<string, number>>;
  /** True when the pattern is found anywhere in `text`. */
  test(text: string): boolean;
  /** True when the pattern matches all of `text`. */
  matchesWhole(text: string): boolean;
  /** Length of the match that starts at the first character, or -1. */
  matchedAtStart(text: string): number;
  /**
   * `text` with every match replaced by what `replace` makes of its groups; a group that took no part is undefined. As
   * in RE2, nothing is not found once more where a match has just ended: `.*` is found once.
   */
  replaceAll(text: string, replace: (groups: readonly (string | undefined)[]) => string): string;
}

/** Patterns that are looked for together, in one pass over the text, each at its first character. */
export interface RegexSet {
  /** Indexes of the patterns that match, in no particular order. */
  match(text: string): readonly number[];
}

const regexes = new SharedByText<Regex>();

/**
 * Compiles a pattern; the same text gives the same object while a reference to it exists. Throws ExpressionError.
 * `lengthMax` is raised for patterns that were composed of several.
 */
export const compileRegex = (pattern: string, lengthMax = patternMax): Regex =>
  regexes.get(pattern, () => new Re2Regex(pattern, lengthMax));

/** Returns the problem of a pattern, or undefined when it compiles. */
export function checkRegex(pattern: string): string | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/**
 * Compiles patterns into one automaton, each anchored at its start. Throws ExpressionError for the first bad one.
 * What the automaton learns from texts is kept within `bytesMax` and begun anew beyond it.
 */
export function compileRegexSet(patterns: readonly string[], bytesMax = 8 << 20): RegexSet {
  const set = new RE2Set(RE2Set.ANCHOR_START, 0, bytesMax);
  try {
    for (const pattern of patterns) set.add(pattern);
    set.compile();
  } catch (error) {
    throw readable(error);
  }
  return set;
}

/** A pattern that matches exactly `text`. */
export const quoteRegex = (text: string): string => RE2JS.quote(text);

class Re2Regex implements Regex {
  readonly pattern: string;
  readonly #engine: RE2JS;

  constructor(pattern: string, lengthMax: number) {
    if (pattern.length > lengthMax) {
      throw new ExpressionError(`regex: longer than ${lengthMax} characters`);
    }
    const sizeMax = expandedMax * Math.ceil(lengthMax / patternMax);
    if (expandedSize(pattern) > sizeMax) {
      throw new ExpressionError(`regex: larger than ${sizeMax} with its repetitions written out`);
    }
    try {
      this.#engine = RE2JS.compile(pattern);
    } catch (error) {
      throw readable(error);
    }
    this.pattern = pattern;
  }

  get groups(): number {
    return this.#engine.groupCount();
  }

  get names(): Readonly<Record<string, number>> {
    return this.#engine.namedGroups();
  }

  test(text: string): boolean {
    return this.#engine.test(text);
  }

  matchesWhole(text: string): boolean {
    return this.#engine.matches(text);
  }

  matchedAtStart(text: string): number {
    const matcher = this.#engine.matcher(text);
    return matcher.lookingAt() ? matcher.end() : -1;
  }

  replaceAll(text: string, replace: (groups: readonly (string | undefined)[]) => string): string {
    const matcher = this.#engine.matcher(text);
    const groups = this.groups;
    let made = '';
    let end = -1;
    let from = 0;
    while (matcher.find()) {
      const start = matcher.start();
      if (start === end && matcher.end() === end) continue;
      end = matcher.end();
      const match = Array.from({ length: groups + 1 }, (_, group) => matcher.group(group) ?? undefined);
      made += text.slice(from, start) + replace(match);
      from = end;
    }
    return made + text.slice(from);
  }
}

/** The engine's complaint in words: what is wrong and which part of the pattern it is about. */
function readable(error: unknown): ExpressionError {
  if (error instanceof RE2JSSyntaxException) {
    return new ExpressionError(`regex: ${error.error}${error.input ? `: ${error.input}` : ''}`, { cause: error });
  }
  if (error instanceof RE2JSException) return new ExpressionError(`regex: ${error.message}`, { cause: error });
  if (error instanceof RangeError) return new ExpressionError('regex: nested too deeply', { cause: error });
  throw error;
}
