// What `GET /debug/config` shows (contract.md §3.5): the live configuration and the staged one, from this node's state.
import { type ConfigKind, configKinds } from '../model/kinds.ts';
import { holdsSecret } from '../model/secret-reference.ts';
import type { StateView, Stored } from '../state/view.ts';

const masked = '***';

/** JSON text. Strings of the live configuration that came from secret resolution are `***`; staged ones keep the reference. */
export function debugConfig(view: StateView): string {
  const live = view.active && view.snapshot(view.active.snapshotId);
  const summary = live && { id: live.id, name: live.name, createdAt: live.createdAt };
  const liveLists = lists((kind) => (live?.entities[kind] ?? []).map(withoutSecrets));
  const stagedLists = lists((kind) => view.list(kind).map(({ json }) => json));
  return `{${liveLists},"snapshot":${JSON.stringify(summary ?? null)},"staged":{${stagedLists}}}`;
}

const lists = (jsonOf: (kind: ConfigKind) => readonly string[]): string =>
  configKinds.map((kind) => `"${kind}":[${jsonOf(kind).join(',')}]`).join(',');

function withoutSecrets({ spec, json }: Stored): string {
  if (!holdsSecret(json)) return json;
  return JSON.stringify(spec, (_key, value) =>
    typeof value === 'string' && holdsSecret(value) ? masked : value,
  );
}
