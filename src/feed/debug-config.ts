// Body of `GET /debug/config` (contract.md §3.5): the live configuration and the staged one, from this node's state.
import { configKinds, perKind } from '../model/kinds.ts';
import { renderConfiguration } from '../snapshot/render.ts';
import { stagedOf } from '../snapshot/staged.ts';
import type { StateView } from '../state/view.ts';

const nothing = perKind(() => []);

/** JSON text. Strings of the live configuration that came from secret resolution are `***`; staged ones keep the reference. */
export function debugConfig(view: StateView): string {
  const live = view.active && view.snapshot(view.active.snapshotId);
  const summary = live === undefined ? null : { id: live.id, name: live.name, createdAt: live.createdAt };
  const lists = renderConfiguration(live ?? { entities: nothing, values: {} }, 'masked', configKinds);
  const staged = renderConfiguration({ entities: stagedOf(view).entities, values: {} }, 'references', configKinds);
  return `${lists.slice(0, -1)},"snapshot":${JSON.stringify(summary)},"staged":${staged}}`;
}
