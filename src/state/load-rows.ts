// Rows back into tables, at start. Snapshots come after the entities, so that what has not changed since a capture is one
// object in memory again.
import type { ConfigKind, EditableKind } from '../model/kinds.ts';
import { type Entity, parseEntityText } from './entity.ts';
import type { ActivationRecord, PendingConfirmation } from './history.ts';
import type { IdempotencyTable } from './idempotency-table.ts';
import { type Place, placeOf } from './keys.ts';
import type { Live, Position, Tables } from './overlay.ts';
import type { RequestTable } from './request-table.ts';
import type { Rollout } from './rollout.ts';
import { parseSnapshotText } from './snapshot-row.ts';
import type { Active, Stored } from './view.ts';

export interface StoredRow {
  readonly key: string;
  readonly body: Buffer;
  readonly digest: bigint;
}

export interface Loaded {
  readonly position: Position | undefined;
  readonly live: Live;
  readonly hash: string | undefined;
}

type Placed<R extends Place['row']> = Extract<Place, { row: R }>;

/** Fills the tables; a text says which row does not belong to a state. */
export function loadRows(
  rows: readonly StoredRow[],
  tables: Tables,
  requests: RequestTable,
  idempotency: IdempotencyTable,
): Loaded | string {
  const found = new RowsByPlace();
  for (const { key, body } of rows) {
    const place = placeOf(key);
    if (place === undefined) return `it holds a row of an unknown kind, ${JSON.stringify(key)}`;
    found.add(place, body);
  }
  loadEntities(found, tables);
  loadSnapshots(found, tables);
  for (const [{ origin, incarnation, boot }, text] of found.of('boot'))
    requests.loadBoot(origin, incarnation, boot, text);
  for (const [{ origin, incarnation, boot, seq }, text] of found.of('result')) {
    requests.loadResult(origin, incarnation, boot, seq, text);
  }
  for (const [{ origin, incarnation }, text] of found.of('floor')) requests.loadFloor(origin, incarnation, text);
  idempotency.load(found.of('idempotency').map(([, text]) => text));
  return {
    position: found.only<Position>('position'),
    live: {
      active: found.only<Active>('active'),
      activations: found
        .of('activation')
        .map(([, text]) => JSON.parse(text) as ActivationRecord)
        .sort((a, b) => a.index - b.index),
      pending: found.only<PendingConfirmation>('pending'),
      rollouts: found
        .of('rollout')
        .map(([, text]) => JSON.parse(text) as Rollout)
        .sort((a, b) => a.startedAt - b.startedAt),
    },
    hash: found.of('hash')[0]?.[1],
  };
}

class RowsByPlace {
  readonly #rows = new Map<Place['row'], [Place, Buffer][]>();

  add(place: Place, body: Buffer): void {
    const rows = this.#rows.get(place.row);
    if (rows === undefined) this.#rows.set(place.row, [[place, body]]);
    else rows.push([place, body]);
  }

  of<R extends Place['row']>(row: R): [Placed<R>, string][] {
    return (this.#rows.get(row) ?? []).map(([place, body]) => [place as Placed<R>, body.toString()]);
  }

  /** Of a row that there is one of. */
  only<T>(row: 'position' | 'active' | 'pending'): T | undefined {
    const text = this.of(row)[0]?.[1];
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }
}

function loadEntities(found: RowsByPlace, tables: Tables): void {
  const byKind = new Map<EditableKind, Entity[]>();
  for (const [{ kind, id }, text] of found.of('entity')) {
    const entities = byKind.get(kind) ?? [];
    entities.push(parseEntityText(id, text));
    byKind.set(kind, entities);
  }
  for (const [kind, entities] of byKind) tables.entities[kind].load(entities);
}

function loadSnapshots(found: RowsByPlace, tables: Tables): void {
  const older = new Map<string, Stored>();
  /** An id and a revision name one version of an entity for ever. */
  const intern = (kind: ConfigKind, entity: Entity): Stored => {
    const current = tables.entities[kind].get(entity.id);
    if (current?.revision === entity.revision) return current;
    const version = `${kind}/${entity.id}/${entity.revision}`;
    const known = older.get(version) ?? entity;
    older.set(version, known);
    return known;
  };
  tables.snapshots.load(found.of('snapshot').map(([{ id }, text]) => parseSnapshotText(id, text, intern)));
}
