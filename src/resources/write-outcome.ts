// Outcome of a write: the result of the state machine as headers of an answer, or as an error.
import { type ApiErrorCode, SluiceError } from '../errors.ts';
import { nounOf } from '../model/kinds.ts';
import type { Result } from '../state/command.ts';
import { revisionHeader, stagedTag } from './resource-answer.ts';

const refusals: Partial<Record<Result['status'], ApiErrorCode>> = {
  400: 'INVALID',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  422: 'KEY_REUSED',
};

/** Returns the headers of the answer to an applied write. Throws the error of a refused one. */
export function acceptedHeaders(result: Result): { 'X-Sluice-Revision': string } {
  const headers = revisionHeader(result.index);
  const { staged } = result;
  const code = refusals[result.status];
  if (code === undefined) return headers;
  const error = result.error ?? `${nounOf(result.kind)} was refused`;
  const { operation } = result;
  // Tag of the staged state as it is now, for a write that was made for another one.
  const now = staged === undefined ? {} : { headers: { ...headers, ...stagedTag(staged) } };
  if (operation === undefined) throw new SluiceError(code, error, { headers, ...now });
  throw new SluiceError(code, `/operations/${operation}: ${error}`, { headers, body: { operation } });
}

/** Error for a replay whose resource was too large to keep with the key and was deleted since. */
export const goneSince = ({ kind, id }: Result): SluiceError =>
  new SluiceError('NOT_FOUND', `${nounOf(kind)} ${JSON.stringify(id)} was created with this key and is deleted since`);
