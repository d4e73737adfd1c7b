// Body of `GET /debug/config` (contract.md §3.5): the live configuration and the staged one, from this node's state.
import { configKinds, perKind } from '../model/kinds.ts';
import { configurationTexts } from '../snapshot/render.ts';
import { type Captured, stagedOf } from '../snapshot/staged.ts';
import type { StateView } from '../state/view.ts';

const nothing = perKind(() => []);

/**
 * JSON, text by text. Strings of the live configuration that came from secret resolution are `***`; staged ones keep the
 * reference. All of one moment, however late it is taken.
 */
export function debugConfig(view: StateView): Iterable<string> {
  const live = view.active && view.snapshot(view.active.snapshotId);
  const summary = live === undefined ? null : { id: live.id, name: live.name, createdAt: live.createdAt };
  return texts(live ?? { entities: nothing, values: {} }, summary, { entities: stagedOf(view).entities, values: {} });
}

function* texts(live: Captured, summary: object | null, staged: Captured): Generator<string> {
  const more = `,"snapshot":${JSON.stringify(summary)},"staged":`;
  yield* configurationTexts(live, 'masked', configKinds, more);
  yield* configurationTexts(staged, 'references', configKinds);
  yield '}';
}
