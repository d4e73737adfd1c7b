// Rows back into tables, at start. Snapshots come after the entities, so that what has not changed since a capture is one
// object in memory again.
import type { ActivationRecord } from '../model/answers/activation-record.ts';
import { type CookieKeys, noCookieKeys } from '../model/cookie-keys.ts';
import { type Drains, noDrains } from '../model/drained-endpoint.ts';
import type { ConfigKind, EditableKind } from '../model/kinds.ts';
import { type ManagedKeys, noManagedKeys } from '../model/managed-keys.ts';
import type { PendingConfirmation } from './history.ts';
import type { IdempotencyTable } from './idempotency-table.ts';
import type { Live, Position, Tables } from './overlay.ts';
import type { RequestTable } from './request-table.ts';
import type { Rollout } from './rollout.ts';
import { type ParsedKey, parseKey } from './row-keys.ts';
import { type Intern, parseSnapshotRow } from './snapshot-row.ts';
import { type Entity, parseEntityRow } from './stored-entity.ts';
import type { Active, Stored, StoredSnapshot } from './view.ts';

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

type KeyOf<R extends ParsedKey['row']> = Extract<ParsedKey, { row: R }>;

/** Rows between two pauses. */
const stride = 64;

/** Fills the tables, in steps; returns a text about a row that does not belong to a state. */
export function* loadRows(
  rows: readonly StoredRow[],
  tables: Tables,
  requests: RequestTable,
  idempotency: IdempotencyTable,
): Generator<void, Loaded | string> {
  const found = new RowsByKind();
  for (const [at, { key, body }] of rows.entries()) {
    if (at % stride === 0) yield;
    const place = parseKey(key);
    if (place === undefined) return `it holds a row of an unknown kind, ${JSON.stringify(key)}`;
    found.add(place, body);
  }
  yield* loadEntities(found, tables);
  yield* loadSnapshots(found, tables);
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
      drains: found.only<Drains>('drains') ?? noDrains,
      cookieKeys: found.only<CookieKeys>('cookieKeys') ?? noCookieKeys,
      managedKeys: found.only<ManagedKeys>('managedKeys') ?? noManagedKeys,
      rollouts: found
        .of('rollout')
        .map(([, text]) => JSON.parse(text) as Rollout)
        .sort((a, b) => a.startedAt - b.startedAt),
    },
    hash: found.of('hash')[0]?.[1],
  };
}

class RowsByKind {
  readonly #rows = new Map<ParsedKey['row'], [ParsedKey, Buffer][]>();

  add(place: ParsedKey, body: Buffer): void {
    const rows = this.#rows.get(place.row);
    if (rows === undefined) this.#rows.set(place.row, [[place, body]]);
    else rows.push([place, body]);
  }

  of<R extends ParsedKey['row']>(row: R): [KeyOf<R>, string][] {
    return this.bytesOf(row).map(([place, body]) => [place, body.toString()]);
  }

  bytesOf<R extends ParsedKey['row']>(row: R): readonly [KeyOf<R>, Buffer][] {
    return (this.#rows.get(row) ?? []) as [KeyOf<R>, Buffer][];
  }

  /** Returns the content of a row that exists once. */
  only<T>(row: 'position' | 'active' | 'pending' | 'drains' | 'cookieKeys' | 'managedKeys'): T | undefined {
    const text = this.of(row)[0]?.[1];
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }
}

function* loadEntities(found: RowsByKind, tables: Tables): Generator<void> {
  const byKind = new Map<EditableKind, Entity[]>();
  for (const [at, [{ kind, id }, row]] of found.bytesOf('entity').entries()) {
    if (at % stride === 0) yield;
    const entities = byKind.get(kind) ?? [];
    entities.push(parseEntityRow(id, row));
    byKind.set(kind, entities);
  }
  for (const [kind, entities] of byKind) {
    tables.entities[kind].load(entities);
    yield;
  }
}

function* loadSnapshots(found: RowsByKind, tables: Tables): Generator<void> {
  const older = new Map<string, Stored>();
  const snapshots: StoredSnapshot[] = [];
  for (const [{ id }, row] of found.bytesOf('snapshot')) {
    snapshots.push(yield* parseSnapshotRow(id, row, internIn(tables, older)));
  }
  tables.snapshots.load(snapshots);
}

/**
 * Reader of one snapshot. An id and a revision name one version of an entity for ever. The lists of a snapshot ascend as those of
 * the tables do, so most entities are found beside the one before, not by a look-up in a table of a hundred thousand.
 */
function internIn(tables: Tables, older: Map<string, Stored>): Intern {
  let of: ConfigKind | undefined;
  let list: readonly Stored[] = [];
  let next = 0;
  return (kind, id, revision, make) => {
    if (kind !== of) {
      of = kind;
      list = tables.entities[kind].list();
      next = 0;
    }
    for (let beside = list[next]; beside !== undefined && beside.id < id; beside = list[next]) next += 1;
    const beside = list[next];
    const current = beside?.id === id ? beside : tables.entities[kind].get(id);
    if (current?.revision === revision) return current;
    const version = `${kind}/${id}/${revision}`;
    const known = older.get(version) ?? make();
    older.set(version, known);
    return known;
  };
}
