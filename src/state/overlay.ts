// The state as it will be after the round that is being computed. Readers see nothing of it before `install`.
import type { ActivationRecord } from '../model/answers/activation-record.ts';
import { type CookieKeys, noCookieKeys } from '../model/cookie-keys.ts';
import { type Drains, noDrains } from '../model/drained-endpoint.ts';
import { type ConfigKind, type EditableKind, editableKinds, type Kind, perKind } from '../model/kinds.ts';
import { type ManagedKeys, noManagedKeys } from '../model/managed-keys.ts';
import type { Spec } from './command.ts';
import { historyMax, type PendingConfirmation } from './history.ts';
import { finishedMax, isUnderWay, type Rollout } from './rollout.ts';
import { RoundRows } from './round-rows.ts';
import { keys } from './row-keys.ts';
import { snapshotBytes } from './snapshot-row.ts';
import { type Entity, entityText } from './stored-entity.ts';
import { type Named, type Order, Table, type TableOverlay } from './table.ts';
import type { Active, Stored, StoredSnapshot } from './view.ts';

export interface Tables {
  readonly entities: Readonly<Record<EditableKind, Table<Entity>>>;
  readonly snapshots: Table<StoredSnapshot>;
}

/** Term and time of an entry of the log, the same on every node. */
export interface LogStamp {
  readonly term: number;
  /** Wall clock of the leader that wrote it, Unix ms. */
  readonly time: number;
}

export interface Position {
  readonly applied: number;
  readonly changedAt: number;
  /** Highest time that a command carried, Unix ms. */
  readonly logTime: number;
  /** The log's entry at `applied`. Missing in a state that was written before there was a log. */
  readonly entry?: LogStamp;
}

/** Configuration that proxies run, and its history. */
export interface Live {
  readonly active: Active | undefined;
  readonly activations: readonly ActivationRecord[];
  readonly pending: PendingConfirmation | undefined;
  /** By the time at which they were started; of those that are over, the last 100. */
  readonly rollouts: readonly Rollout[];
  /** Endpoints that get no new requests. */
  readonly drains: Drains;
  /** Keys of signed session cookies. */
  readonly cookieKeys: CookieKeys;
  /** API keys of the cluster. */
  readonly managedKeys: ManagedKeys;
}

export const nothingLive: Live = {
  active: undefined,
  activations: [],
  pending: undefined,
  rollouts: [],
  drains: noDrains,
  cookieKeys: noCookieKeys,
  managedKeys: noManagedKeys,
};

export class Overlay {
  readonly rows = new RoundRows();
  position: Position;
  #live: Live;
  readonly #entities: Readonly<Record<EditableKind, TableOverlay<Entity>>>;
  readonly #snapshots: TableOverlay<StoredSnapshot>;

  constructor(tables: Tables, position: Position, live: Live) {
    this.position = position;
    this.#live = live;
    this.#entities = perEditableKind((kind) => tables.entities[kind].overlay());
    this.#snapshots = tables.snapshots.overlay();
  }

  get live(): Live {
    return this.#live;
  }

  get active(): Active | undefined {
    return this.#live.active;
  }

  get pending(): PendingConfirmation | undefined {
    return this.#live.pending;
  }

  find(kind: Kind, id: string): Stored | StoredSnapshot | undefined {
    return kind === 'snapshots' ? this.#snapshots.get(id) : this.#entities[kind].get(id);
  }

  snapshot(id: string): StoredSnapshot | undefined {
    return this.#snapshots.get(id);
  }

  entity(kind: EditableKind, id: string): Entity | undefined {
    return this.#entities[kind].get(id);
  }

  secret(id: string): Stored | undefined {
    return this.#entities.secrets.get(id);
  }

  secrets(): readonly Stored[] {
    return this.#entities.secrets.list();
  }

  idOf(kind: Kind, name: string): string | undefined {
    return kind === 'snapshots' ? this.#snapshots.idOf(name) : this.#entities[kind].idOf(name);
  }

  /** Entities of a kind, ascending by id, put in order in steps. */
  *sorted(kind: EditableKind): Generator<void, readonly Entity[]> {
    return yield* this.#entities[kind].sort();
  }

  /** Ascending by createdAt, then id. */
  snapshots(): readonly StoredSnapshot[] {
    return this.#snapshots.list();
  }

  /** Puts the lists in order, in steps: `configuration` and `install` have nothing left to do then. */
  *sort(): Generator<void, void> {
    for (const kind of editableKinds) yield* this.#entities[kind].sort();
    yield* this.#snapshots.sort();
  }

  /** Returns the content of a capture at this point; the arrays are shared, not copied. */
  configuration(): Readonly<Record<ConfigKind, readonly Stored[]>> {
    return perKind((kind) => this.#entities[kind].list());
  }

  putEntity(kind: EditableKind, entity: Entity): void {
    this.#entities[kind].put(entity);
    this.rows.put(keys.entity(kind, entity.id), entityText(entity), entity.revision);
    this.position = { ...this.position, changedAt: entity.revision };
  }

  deleteEntity(kind: EditableKind, id: string, index: number): void {
    this.#entities[kind].delete(id);
    this.rows.delete(keys.entity(kind, id), index);
    this.position = { ...this.position, changedAt: index };
  }

  putSnapshot(snapshot: StoredSnapshot): void {
    this.#snapshots.put(snapshot);
    this.rows.put(keys.snapshot(snapshot.id), () => snapshotBytes(snapshot), snapshot.revision);
  }

  deleteSnapshot(id: string, index: number): void {
    this.#snapshots.delete(id);
    this.rows.delete(keys.snapshot(id), index);
  }

  /** Activates a snapshot. A pending confirmation ends. */
  activate(record: ActivationRecord): void {
    const active: Active = { snapshotId: record.snapshotId, index: record.index };
    const activations = [...this.#live.activations, record].slice(-historyMax);
    for (const { index } of this.#live.activations.slice(0, this.#live.activations.length + 1 - activations.length)) {
      this.rows.delete(keys.activation(index), record.index);
    }
    this.rows.put(keys.activation(record.index), JSON.stringify(record), record.index);
    this.rows.put(keys.active, JSON.stringify(active), record.index);
    this.setPending(undefined, record.index);
    this.#live = { ...this.#live, active, activations };
  }

  setPending(pending: PendingConfirmation | undefined, index: number): void {
    if (pending !== undefined) this.rows.put(keys.pending, JSON.stringify(pending), index);
    else if (this.#live.pending !== undefined) this.rows.delete(keys.pending, index);
    this.#live = { ...this.#live, pending };
  }

  setDrains(drains: Drains): void {
    this.rows.put(keys.drains, JSON.stringify(drains), drains.index);
    this.#live = { ...this.#live, drains };
  }

  setCookieKeys(cookieKeys: CookieKeys): void {
    this.rows.put(keys.cookieKeys, JSON.stringify(cookieKeys), cookieKeys.index);
    this.#live = { ...this.#live, cookieKeys };
  }

  setManagedKeys(managedKeys: ManagedKeys): void {
    this.rows.put(keys.managedKeys, JSON.stringify(managedKeys), managedKeys.index);
    this.#live = { ...this.#live, managedKeys };
  }

  /** Log time at which the value of a secret came to be what it is in `next`; undefined for other kinds, and unknown. */
  changeTime(kind: EditableKind, id: string, next: Spec): number | undefined {
    if (kind !== 'secrets') return undefined;
    const before = this.#entities.secrets.get(id);
    return before !== undefined && before.spec.value === next.value ? before.changedAt : this.position.logTime;
  }

  rollout(id: string): Rollout | undefined {
    return this.#live.rollouts.find((one) => one.id === id);
  }

  get rolloutUnderWay(): Rollout | undefined {
    return this.#live.rollouts.find(isUnderWay);
  }

  putRollout(rollout: Rollout, index: number): void {
    const others = this.#live.rollouts.filter(({ id }) => id !== rollout.id);
    const finished = others.filter((one) => !isUnderWay(one));
    const forgotten = new Set(finished.slice(0, Math.max(0, finished.length + 1 - finishedMax)));
    for (const { id } of forgotten) this.rows.delete(keys.rollout(id), index);
    this.rows.put(keys.rollout(rollout.id), JSON.stringify(rollout), index);
    // One at a time is under way, and it is the one that was started last.
    this.#live = { ...this.#live, rollouts: [...others.filter((one) => !forgotten.has(one)), rollout] };
  }

  /** Remembers how everything is now. What is called undoes all that came after. */
  savepoint(): () => void {
    const { position } = this;
    const live = this.#live;
    const undos = [this.rows, this.#snapshots, ...Object.values(this.#entities)].map((part) => part.savepoint());
    return () => {
      this.position = position;
      this.#live = live;
      for (const undo of undos) undo();
    };
  }

  install(): void {
    for (const kind of editableKinds) this.#entities[kind].install();
    this.#snapshots.install();
  }
}

/** Brings the changes of the last round into the tables' maps before the next round adds more. */
export function* settle({ entities, snapshots }: Tables): Generator<void, void> {
  for (const kind of editableKinds) yield* entities[kind].settle();
  yield* snapshots.settle();
}

export function emptyTables(): Tables {
  return {
    entities: perEditableKind(() => new Table<Entity>(byId)),
    snapshots: new Table<StoredSnapshot>(byCreation),
  };
}

/** Ids are ASCII (contract.md §0.3), where the order of code units is the order of bytes. */
const byId: Order<Named> = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** All times are written by one function in one length, so text order is time order. */
const byCreation: Order<StoredSnapshot> = (a, b) =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : byId(a, b);

const perEditableKind = <T>(make: (kind: EditableKind) => T): Record<EditableKind, T> => ({
  ...perKind(make),
  secrets: make('secrets'),
});
