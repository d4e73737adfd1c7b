// Discarding of unfinished edits: what is staged becomes what is live again, all of it or the chosen entities.
import type { EditableKind } from '../model/kinds.ts';
import type { Discard, EntityName } from './command.ts';
import { liveContent } from './live-base.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, nameTaken, stagedMoved } from './refusals.ts';
import { consumersAmong, sharedCredential } from './shared-credentials.ts';
import { Entity } from './stored-entity.ts';
import { type UnfinishedEdit, unfinishedEdits } from './unfinished-edits.ts';

/** Discards all that is chosen or nothing: a live name that another staged entity keeps refuses it. */
export function* discard(state: Overlay, command: Discard, index: number): Generator<void, Decision> {
  const moved = stagedMoved(state, command.ifMatch);
  if (moved !== undefined) return moved;
  const undo = state.savepoint();
  const isChosen = chosenBy(command);
  const edits: UnfinishedEdit[] = [];
  yield* state.sort();
  const staged = { entities: state.configuration(), secret: (id: string) => state.secret(id) };
  for (const edit of unfinishedEdits(liveContent(state), staged)) {
    if (edit === undefined) yield;
    else if (isChosen(edit)) edits.push(edit);
  }
  const discarded: EntityName[] = [];
  const held: HeldName[] = [];
  for (const { kind, before, after } of edits) {
    discarded.push([kind, (before ?? after)?.id ?? '']);
    if (before === undefined) state.deleteEntity(kind, after?.id ?? '', index);
    else {
      const holder = state.idOf(kind, before.name);
      if (holder !== undefined && holder !== before.id) held.push({ kind, name: before.name, holder });
      state.putEntity(kind, Entity.of(before.id, index, before.spec));
    }
    yield;
  }
  const taken = held.find(({ kind, name, holder }) => state.entity(kind, holder)?.name === name);
  const refusal = taken
    ? nameTaken(taken.kind, taken.name)
    : (yield* sharedCredential(state, consumersAmong(state, discarded)))?.refusal;
  if (refusal === undefined) return { status: 200, discarded, staged: state.position.changedAt };
  undo();
  return refusal;
}

/** Name of a live entity, and the staged one that had it when the live one came back. */
interface HeldName {
  readonly kind: EditableKind;
  readonly name: string;
  readonly holder: string;
}

function chosenBy({ owner, entities }: Discard): (edit: UnfinishedEdit) => boolean {
  if (entities !== undefined) {
    const named = new Set(entities.map(([kind, id]) => `${kind}/${id}`));
    return ({ kind, before, after }) => named.has(`${kind}/${(before ?? after)?.id}`);
  }
  return ({ before, after }) => owner === undefined || before?.owner === owner || after?.owner === owner;
}
