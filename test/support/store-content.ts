// Everything that readers can see of a state, as one text to compare.
import { configKinds, editableKinds } from '../../src/model/kinds.ts';
import type { StateView, StoredSnapshot } from '../../src/state/view.ts';

export function contentOf(view: StateView): string {
  const entities = editableKinds.map((kind) => [
    kind,
    view.list(kind).map(({ id, revision, json }) => [id, revision, json]),
  ]);
  const { applied, changedAt, hash, active, activations, pending, rollouts } = view;
  return JSON.stringify({
    applied,
    changedAt,
    hash,
    active,
    activations,
    pending,
    rollouts,
    entities,
    snapshots: view.snapshots().map(snapshotContent),
  });
}

const snapshotContent = ({ entities, ...head }: StoredSnapshot) => [
  head,
  configKinds.map((kind) => entities[kind].map(({ id, revision, json }) => [id, revision, json])),
];
