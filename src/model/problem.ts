// Problems: what is wrong with a value, and where.

export interface Problem {
  /** JSON pointer (RFC 6901) into the body or the configuration: `/options/timeouts/connect`. */
  readonly pointer: string;
  /** Description for the operator: `must be a duration such as 500ms or 1m30s`. */
  readonly message: string;
}

/** Most problems that one answer lists; what reads input stops looking there. */
export const problemsMax = 100;

/** One JSON pointer from path segments, escaped as RFC 6901 §3 asks. */
export const pointerOf = (...segments: readonly (string | number)[]): string => {
  let pointer = '';
  for (const segment of segments) pointer += `/${typeof segment === 'number' ? segment : escaped(segment)}`;
  return pointer;
};

const escaped = (segment: string): string =>
  segment.includes('~') || segment.includes('/') ? segment.replaceAll('~', '~0').replaceAll('/', '~1') : segment;

/** All problems on one line: `/port must be an integer; /name is required`. */
export const describe = (problems: readonly Problem[]): string =>
  problems.map(({ pointer, message }) => (pointer === '' ? message : `${pointer} ${message}`)).join('; ');
