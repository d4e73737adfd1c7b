// State of the cluster that an input is compared with: what is staged, or a snapshot.

import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import type { SnapshotSummary } from '../../model/snapshot.ts';
import type { Api } from '../connection/api-client.ts';
import { type Entity, listEntities } from '../entities.ts';
import { failed } from '../exit.ts';

export interface ClusterState {
  /** `ETag` of all that is staged, read before the resources: an edit meanwhile makes it another one. */
  readonly etag?: string | undefined;
  readonly entities: Readonly<Partial<Record<EditableKind, readonly Entity[]>>>;
}

/** Reads the staged resources of these kinds. */
export async function stagedState(api: Api, kinds: Iterable<EditableKind>): Promise<ClusterState> {
  const etag = await stagedTag(api);
  const entities: Partial<Record<EditableKind, readonly Entity[]>> = {};
  for (const kind of kinds) entities[kind] = await listEntities(api, kind);
  return { entities, etag };
}

/** A batch without operations, and not committed, tells the version of all that is staged. */
async function stagedTag(api: Api): Promise<string | undefined> {
  const { status, headers } = await api.ask('POST', '/batch', {
    query: { dryRun: 'true' },
    json: { operations: [] },
    // A key that may only read does not get it, and writes nothing.
    allows: [403],
  });
  return status === 403 ? undefined : headers.etag;
}

/** Finds a snapshot by id or name; `active` is the active one. */
export async function findSnapshot(api: Api, nameOrId: string): Promise<SnapshotSummary> {
  const all = await api.get<readonly SnapshotSummary[]>('/snapshots');
  const found =
    all.find(({ id }) => id === nameOrId) ??
    all.find(({ name }) => name === nameOrId) ??
    (nameOrId === 'active' ? all.find(({ active }) => active) : undefined);
  if (found !== undefined) return found;
  if (nameOrId === 'active') throw failed('no snapshot is active');
  throw failed(`snapshot "${nameOrId}" is not there; sluice snapshot list shows all`);
}

/** Reads the resources of a snapshot, secrets as references. */
export async function snapshotState(api: Api, nameOrId: string): Promise<ClusterState> {
  const { id } = await findSnapshot(api, nameOrId);
  const { snapshot } = await api.get<{ readonly snapshot: ClusterState['entities'] }>(`/snapshots/${id}`);
  return { entities: snapshot };
}

/** Reads `staged`, `active`, or a snapshot by its name or id. What is active may be nothing. */
export async function stateNamed(api: Api, name: string): Promise<ClusterState> {
  if (name === 'staged')
    return stagedState(
      api,
      editableKinds.filter((kind) => kind !== 'secrets'),
    );
  return snapshotState(api, name);
}
