// Why a write is refused by the state that it meets, in the order of architecture.md §8: exists (404) → If-Match (412) →
// id or name taken (409). Shared by single writes and batches.
import { type Kind, nounOf } from '../model/kinds.ts';
import type { IfMatch, Result } from './command.ts';
import type { Overlay } from './overlay.ts';
import type { Rollout } from './rollout.ts';
import type { WantedSnapshot } from './view.ts';

/** A result without what every result of this command shares: index, kind and, unless it is here, id. */
export type Decision = Pick<
  Result,
  'status' | 'error' | 'operation' | 'outcomes' | 'sum' | 'pruned' | 'discarded' | 'staged' | 'kept' | 'formerOwner'
> &
  Partial<Pick<Result, 'id'>>;

export function missingOrChanged(
  state: Overlay,
  kind: Kind,
  id: string,
  ifMatch: IfMatch | undefined,
): Decision | undefined {
  const found = state.find(kind, id);
  if (found === undefined) return { status: 404, error: `${nounOf(kind)} "${id}" not found` };
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(found.revision)) return undefined;
  return { status: 412, error: `${nounOf(kind)} "${id}" was changed: it is at revision ${found.revision}` };
}

export function takenBy(state: Overlay, kind: Kind, id: string, name: string): Decision | undefined {
  return idTaken(state, kind, id) ?? (state.idOf(kind, name) === undefined ? undefined : nameTaken(kind, name));
}

export const idTaken = (state: Overlay, kind: Kind, id: string): Decision | undefined =>
  state.find(kind, id) === undefined ? undefined : { status: 409, error: `${nounOf(kind)} "${id}" exists already` };

export const nameTaken = (kind: Kind, name: string): Decision => ({
  status: 409,
  error: `a ${nounOf(kind)} named "${name}" exists already`,
});

/** Names the owner of an entity that a write changes without being the owner's: `writer` is the one that the write names. */
export const formerOwner = (
  before: { readonly owner?: string | undefined } | undefined,
  writer: unknown,
): { formerOwner?: string } =>
  before?.owner === undefined || before.owner === writer ? {} : { formerOwner: before.owner };

/** Why a write for another staged state is refused; the revision is that of the last change of the staged state. */
export function stagedMoved(state: Overlay, ifMatch: IfMatch | undefined): Decision | undefined {
  const { changedAt } = state.position;
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(changedAt)) return undefined;
  return { status: 412, error: `the staged configuration was changed: it is at "${changedAt}"`, staged: changedAt };
}

/** Why a batch cannot take its snapshot; undefined when nothing but the configuration decides. */
export function snapshotRefused(
  state: Overlay,
  { id, name, activate }: Pick<WantedSnapshot, 'id' | 'name' | 'activate'>,
): Decision | undefined {
  const taken = takenBy(state, 'snapshots', id, name);
  if (taken !== undefined) return { ...taken, error: `/snapshot/name: ${taken.error}` };
  if (!activate || state.rolloutUnderWay === undefined) return undefined;
  return { status: 409, error: `/snapshot/activate: ${underWay(state.rolloutUnderWay)}` };
}

/** Why nothing else may become active. */
export const underWay = ({ id }: Rollout): string => `rollout "${id}" is under way`;
