// Comments on activations and rollouts: kept with them, for those who look at the history.
import type { Problem } from './problem.ts';
import { problemIf } from './rule.ts';

const commentLengthMax = 500;

interface Commented {
  readonly comment?: string;
}

/** For `@Rules`. */
export const shortComment = ({ comment = '' }: Commented): readonly Problem[] =>
  problemIf([...comment].length > commentLengthMax, '/comment', `must have at most ${commentLengthMax} characters`);

export const commentConstraint = { properties: { comment: { maxLength: commentLengthMax } } };
