// Who makes something live and what they say about it: the one field that a body of these operations may have.
import { SluiceError } from '../errors.ts';
import { pointerOf } from '../model/problem.ts';
import { commentLengthMax } from '../model/rollout-request.ts';
import type { Account } from '../state/command.ts';
import type { ApiRequest } from './answer.ts';
import type { Caller } from './caller.ts';
import { optionalBody } from './json-body.ts';
import { fieldValidationOf } from './query.ts';
import { unknownFieldWarnings } from './unknown-fields.ts';
import type { Warnings } from './warnings.ts';

/** What the body says, and headers that name what else is in it. Throws INVALID. */
export function accountOf(request: ApiRequest): { readonly account: Account; readonly unknownFields: Warnings } {
  const { comment, ...strange } = optionalBody(request.body);
  const unknown = Object.keys(strange).map((key) => pointerOf(key));
  const unknownFields = unknownFieldWarnings(unknown, fieldValidationOf(request));
  return { account: { ...callerOf(request.caller), ...commentOf(comment) }, unknownFields };
}

/** Absent without API keys. */
export const callerOf = ({ name }: Caller): Account => (name === '' ? {} : { by: name });

export function commentOf(comment: unknown): Account {
  const problem = commentProblem(comment);
  if (problem !== undefined) throw new SluiceError('INVALID', `/comment ${problem}`);
  return typeof comment === 'string' && comment !== '' ? { comment } : {};
}

export function commentProblem(comment: unknown): string | undefined {
  if (comment === undefined || comment === null) return undefined;
  if (typeof comment !== 'string') return 'must be a string';
  return [...comment].length > commentLengthMax ? `must have at most ${commentLengthMax} characters` : undefined;
}
