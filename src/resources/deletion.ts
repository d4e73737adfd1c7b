// Deletion of what has an owner: the owner that its body names, and the warning for one that it does not name.
import { DeletionRequest } from '../model/deletion-request.ts';
import type { Result } from '../state/command.ts';
import { checkedBody } from './checked-body.ts';
import { optionalBody } from './json-body.ts';
import { ownerWarning } from './owner-warnings.ts';
import { flagOf } from './query.ts';
import type { ApiRequest } from './resource-answer.ts';
import { joined, type Warnings } from './warnings.ts';

export interface Deletion {
  /** Returns the warnings of the answer. */
  warningsOf(result: Result): Warnings;
}

/** Rejects with INVALID. */
export async function deletionOf(request: ApiRequest): Promise<Deletion> {
  const { fields, unknownFields } = await checkedBody(DeletionRequest, await optionalBody(request.body), request);
  const override = flagOf(request, 'override');
  return {
    warningsOf(result) {
      const isOwners = fields.owner !== undefined && fields.owner === result.formerOwner;
      return joined(unknownFields, override || isOwners ? {} : ownerWarning(result));
    },
  };
}
