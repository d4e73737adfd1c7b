// Warnings about changes of entities that another owner maintains: the change is made, and the owner may undo it.
import { type Kind, nounOf } from '../model/kinds.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Result } from '../state/command.ts';
import { printable, type Warnings, warnings } from './warnings.ts';

/** Returns the header of a single write. */
export function ownerWarning({ kind, id, formerOwner }: Result): Warnings {
  if (formerOwner === undefined) return {};
  return warnings([`${nounOf(kind)} ${printable(id)} ${printable(ownedText(formerOwner))}`]);
}

/** Returns the warning of an operation of a batch. */
export const ownerProblem = (kind: Kind, id: string, owner: string): Problem => ({
  pointer: pointerOf(kind, id, 'owner'),
  message: ownedText(owner),
});

const ownedText = (owner: string): string => `is maintained by owner ${owner}, which may undo this change`;
