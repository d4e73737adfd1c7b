// Staged configurations for tests: specs by kind, as they would be after being written in this order.
import { type EditableKind, editableKinds } from '../../src/model/kinds.ts';
import { type Staged, stagedOf } from '../../src/snapshot/staged.ts';
import { ConfigState } from '../../src/state/config-state.ts';
import { applyRound, put } from './commands.ts';

type Specs = Partial<Record<EditableKind, Readonly<Record<string, object>>>>;

/** `{ routes: { a: { … } } }`: kind, id, fields beside id and name. */
export function staged(specs: Specs): Staged {
  const state = new ConfigState();
  const commands = editableKinds.flatMap((kind) =>
    Object.entries(specs[kind] ?? {}).map(([id, fields]) => put(kind, id, fields)),
  );
  applyRound(state, ...commands);
  return stagedOf(state);
}
