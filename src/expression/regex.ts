// Regular expressions in RE2 syntax, matched in linear time.
import { RE2JS } from 're2js';

const patternLengthMax = 4096;

/** What is wrong with a pattern, for a person; undefined when it compiles. */
export const checkRegex = (pattern: string): string | undefined => {
  if (pattern.length > patternLengthMax) return `is longer than ${patternLengthMax} characters`;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
