// Header and query matchers of routes and groups (contract.md §2.4.1, §6.3).
import { Flag, Text, Token } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { regex, scalarProblemOf } from './scalar.ts';

interface Comparison {
  readonly value?: string;
  readonly regex?: boolean;
}

/**
 * Checks the pattern: with `regex: true` the value is one. Without a value the match is on presence, and `regex` has
 * no effect.
 */
export const valueIsRegex = ({ value, regex: isRegex }: Comparison) => {
  const problem = isRegex === true && value !== undefined ? scalarProblemOf(regex, value) : undefined;
  return problemIf(problem !== undefined, '/value', problem ?? '');
};

@Rules<HeaderMatcher>({ valueIsRegex })
export class HeaderMatcher {
  @Token('Header name, case-insensitive. `host` compares the authority.', { required: true, example: 'x-tenant' })
  readonly name!: string;

  @Text('Value to compare with the first field line. Absent: the header must be present and not empty.')
  readonly value?: string;

  @Flag('Read `value` as a regular expression that may match anywhere in the header value.', { default: false })
  readonly regex?: boolean;
}

@Rules<QueryParamMatcher>({ valueIsRegex })
export class QueryParamMatcher {
  @Text('Parameter name, decoded.', { required: true, example: 'version' })
  readonly name!: string;

  @Text('Value to compare with the first value of the parameter. Absent: the parameter must be present.')
  readonly value?: string;

  @Flag('Read `value` as a regular expression that may match anywhere in the parameter value.', { default: false })
  readonly regex?: boolean;
}
