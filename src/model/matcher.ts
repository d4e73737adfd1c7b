// Header and query matchers of routes and groups (contract.md §2.4.1, §6.3).
import { matcherDefaults } from './defaults.ts';
import { Flag, OneOf, Text, Token } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { regex, scalarProblemOf } from './scalar.ts';

const multipleChoices = ['first', 'joined', 'any', 'reject'] as const;

/** Choice of what is compared of several lines of a field, or several values of a parameter. */
export type Multiple = (typeof multipleChoices)[number];

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

  @Text('Value to compare. Absent: the header must be present and not empty.')
  readonly value?: string;

  @Flag('Read `value` as a regular expression that may match anywhere in the header value.', { default: false })
  readonly regex?: boolean;

  @OneOf(
    multipleChoices,
    'What counts of several lines: the `first`, all `joined` by a comma and a blank, `any` of them, or none: `reject` answers 400 where the route would serve the request.',
    { default: matcherDefaults.header.multiple },
  )
  readonly multiple?: Multiple;
}

@Rules<QueryParamMatcher>({ valueIsRegex })
export class QueryParamMatcher {
  @Text('Parameter name, decoded.', { required: true, example: 'version' })
  readonly name!: string;

  @Text('Value to compare. Absent: the parameter must be present.')
  readonly value?: string;

  @Flag('Read `value` as a regular expression that may match anywhere in the parameter value.', { default: false })
  readonly regex?: boolean;

  @OneOf(
    multipleChoices,
    'What counts of several values: the `first`, all `joined` by a comma and a blank, `any` of them, or none: `reject` answers 400 where the route would serve the request.',
    { default: matcherDefaults.query.multiple },
  )
  readonly multiple?: Multiple;
}
