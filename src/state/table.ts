// Entities of one kind, by id, by name and in order. A table changes only whole: an overlay collects the changes of one
// apply round, and `install` makes them visible at once. The list is one immutable array per round, so captures share it.
// Of tens of thousands of changes nothing is done at once: the list is put in order before, and what was shown lies over
// the maps until `settle` has brought it there.

import { ShardedMap } from '../util/sharded-map.ts';
import { slicedSort } from '../util/sliced-sort.ts';
import { drain } from '../util/time-slice.ts';

export interface Named {
  readonly id: string;
  readonly name: string;
}

export type Order<T> = (a: T, b: T) => number;

interface Changes<T> {
  /** By id; undefined: it is gone. */
  readonly items: ReadonlyMap<string, T | undefined>;
  /** Names in use now or before, each with the id that it stands for now. */
  readonly names: ReadonlyMap<string, string | undefined>;
}

const nothing: Changes<never> = { items: new Map(), names: new Map() };

export class Table<T extends Named> {
  readonly #order: Order<T>;
  /** Shown, and not in the maps yet. */
  #shown: Changes<T> = nothing;
  readonly #byId = new ShardedMap<T>();
  readonly #idByName = new ShardedMap<string>();
  #sorted: readonly T[] = [];

  constructor(order: Order<T>) {
    this.#order = order;
  }

  get(id: string): T | undefined {
    const { items } = this.#shown;
    return items.has(id) ? items.get(id) : this.#byId.get(id);
  }

  idOf(name: string): string | undefined {
    const { names } = this.#shown;
    return names.has(name) ? names.get(name) : this.#idByName.get(name);
  }

  list(): readonly T[] {
    return this.#sorted;
  }

  overlay(): TableOverlay<T> {
    return new TableOverlay(this, this.#order);
  }

  /** Fills an empty table; used once, at start. */
  load(items: Iterable<T>): void {
    for (const item of items) {
      this.#byId.set(item.id, item);
      this.#idByName.set(item.name, item.id);
    }
    this.#sorted = [...this.#byId.values()].sort(this.#order);
  }

  /** Once what was installed before is settled. */
  install(changes: Changes<T>, sorted: readonly T[]): void {
    this.#shown = changes;
    this.#sorted = sorted;
    if (changes.items.size <= fewChanges) drain(this.settle());
  }

  /** Brings what is shown into the maps, in steps. Readers notice nothing. */
  *settle(): Generator<void, void> {
    const { items, names } = this.#shown;
    for (const [id, item] of items) {
      if (item === undefined) this.#byId.delete(id);
      else this.#byId.set(id, item);
      yield;
    }
    for (const [name, id] of names) {
      if (id === undefined) this.#idByName.delete(name);
      else this.#idByName.set(name, id);
      yield;
    }
    this.#shown = nothing;
  }
}

/** A table as it will be after the round; the table below stays as it is until `install`. */
export class TableOverlay<T extends Named> {
  readonly #base: Table<T>;
  readonly #order: Order<T>;
  #changes = new Map<string, T | undefined>();
  #names = new Map<string, string | undefined>();
  #sorted: readonly T[] | undefined;

  constructor(base: Table<T>, order: Order<T>) {
    this.#base = base;
    this.#order = order;
  }

  get(id: string): T | undefined {
    return this.#changes.has(id) ? this.#changes.get(id) : this.#base.get(id);
  }

  idOf(name: string): string | undefined {
    return this.#names.has(name) ? this.#names.get(name) : this.#base.idOf(name);
  }

  /** The name stands for this item from now on, even if another item has it still. */
  put(item: T): void {
    this.#leaveName(item.id);
    this.#names.set(item.name, item.id);
    this.#changes.set(item.id, item);
    this.#sorted = undefined;
  }

  delete(id: string): void {
    if (this.get(id) === undefined) return;
    this.#leaveName(id);
    this.#changes.set(id, undefined);
    this.#sorted = undefined;
  }

  /** A name that another item has taken since stays with that item. */
  #leaveName(id: string): void {
    const name = this.get(id)?.name;
    if (name !== undefined && this.idOf(name) === id) this.#names.set(name, undefined);
  }

  /** Returns a function that brings the table back as it is now. */
  savepoint(): () => void {
    const changes = new Map(this.#changes);
    const names = new Map(this.#names);
    const sorted = this.#sorted;
    return () => {
      this.#changes = changes;
      this.#names = names;
      this.#sorted = sorted;
    };
  }

  list(): readonly T[] {
    return drain(this.sort());
  }

  /** The list, put in order in steps unless it is. Cheaper than sorting ten thousand again. */
  *sort(): Generator<void, readonly T[]> {
    if (this.#changes.size === 0) return this.#base.list();
    this.#sorted ??= this.#changes.size <= fewChanges ? this.#spliced() : yield* this.#zipped();
    return this.#sorted;
  }

  install(): void {
    if (this.#changes.size > 0) this.#base.install({ items: this.#changes, names: this.#names }, this.list());
  }

  /** A copy of the pointers and a binary search per change. */
  #spliced(): readonly T[] {
    const items = this.#base.list().slice();
    for (const [id, item] of this.#changes) {
      const old = this.#base.get(id);
      if (old !== undefined) items.splice(positionOf(items, old, this.#order), 1);
      if (item !== undefined) items.splice(positionOf(items, item, this.#order), 0, item);
    }
    return items;
  }

  /** One pass over what stays and what is new, both in order. */
  *#zipped(): Generator<void, readonly T[]> {
    const present = [...this.#changes.values()].filter((item) => item !== undefined);
    const added = yield* slicedSort(present, this.#order);
    const items: T[] = [];
    let next = 0;
    for (const item of this.#base.list()) {
      yield;
      if (this.#changes.has(item.id)) continue;
      for (let one = added[next]; one !== undefined && this.#order(one, item) < 0; one = added[next]) {
        items.push(one);
        next += 1;
      }
      items.push(item);
    }
    for (const one of added.slice(next)) items.push(one);
    return items;
  }
}

/** Above this many changes, moving the tail of the list for each costs more than one pass, and turns are worth having. */
const fewChanges = 64;

/** Index of the first item that is not below `wanted`. */
function positionOf<T>(items: readonly T[], wanted: T, order: Order<T>): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && order(item, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
