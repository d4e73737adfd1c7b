// How snapshots are written out. The text is put together from the texts of the entities, so that it is the same on
// every node, byte by byte, and costs little however many there are (contract.md §2.10).
import type { ConfigKind } from '../../model/kinds.ts';
import { holdsSecret, replaceReferences } from '../../model/secret-reference.ts';
import type { Active, Stored, StoredSnapshot } from '../../state/view.ts';

/** Order of contract.md §4.1. */
const listOrder: readonly ConfigKind[] = ['listeners', 'routes', 'groups', 'destinations', 'middlewares'];

/** `resolved` shows the values that references had, `referenced` the references (architecture.md §6.12). */
export type Shown = 'resolved' | 'referenced';

/** `{id,name,createdAt,snapshot}`, and `more` behind it: JSON members without braces. */
export function fullSnapshot(snapshot: StoredSnapshot, shown: Shown, more = ''): string {
  const lists = listOrder.map((kind) => `"${kind}":[${snapshot.entities[kind].map(write).join(',')}]`);
  return `{${head(snapshot)},"snapshot":{${lists.join(',')}}${more === '' ? '' : `,${more}`}}`;

  function write({ spec, json }: Stored): string {
    if (shown === 'referenced' || !holdsSecret(json)) return json;
    return JSON.stringify(replaceReferences(spec, ({ text }) => snapshot.values[text]));
  }
}

/** `{id,name,createdAt,active}`. */
export const snapshotSummary = (snapshot: StoredSnapshot, active: Active | undefined): string =>
  `{${head(snapshot)},"active":${snapshot.id === active?.snapshotId}}`;

const head = ({ id, name, createdAt }: StoredSnapshot): string =>
  `"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"createdAt":${JSON.stringify(createdAt)}`;
