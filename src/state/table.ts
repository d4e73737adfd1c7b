// Entities of one kind, by id, by name and in order. A table changes only whole: an overlay collects the changes of one
// apply round, and `install` makes them visible at once. The list is one immutable array per round, so captures share it.

export interface Named {
  readonly id: string;
  readonly name: string;
}

export type Order<T> = (a: T, b: T) => number;

export class Table<T extends Named> {
  readonly #order: Order<T>;
  readonly #byId = new Map<string, T>();
  readonly #idByName = new Map<string, string>();
  #sorted: readonly T[] = [];

  constructor(order: Order<T>) {
    this.#order = order;
  }

  get(id: string): T | undefined {
    return this.#byId.get(id);
  }

  idOf(name: string): string | undefined {
    return this.#idByName.get(name);
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

  /** Names go in two passes, because two entities may have swapped theirs within one round. */
  install(changes: ReadonlyMap<string, T | undefined>, sorted: readonly T[]): void {
    for (const id of changes.keys()) {
      const old = this.#byId.get(id);
      if (old !== undefined) this.#idByName.delete(old.name);
    }
    for (const [id, item] of changes) {
      if (item === undefined) this.#byId.delete(id);
      else {
        this.#byId.set(id, item);
        this.#idByName.set(item.name, id);
      }
    }
    this.#sorted = sorted;
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

  put(item: T): void {
    const old = this.get(item.id);
    if (old !== undefined) this.#names.set(old.name, undefined);
    this.#names.set(item.name, item.id);
    this.#changes.set(item.id, item);
    this.#sorted = undefined;
  }

  delete(id: string): void {
    const old = this.get(id);
    if (old === undefined) return;
    this.#names.set(old.name, undefined);
    this.#changes.set(id, undefined);
    this.#sorted = undefined;
  }

  /** What is called brings the table back as it is now. */
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

  /** Cheaper than sorting ten thousand again. */
  list(): readonly T[] {
    if (this.#changes.size === 0) return this.#base.list();
    this.#sorted ??= this.#merged();
    return this.#sorted;
  }

  install(): void {
    if (this.#changes.size > 0) this.#base.install(this.#changes, this.list());
  }

  #merged(): readonly T[] {
    return this.#changes.size <= fewChanges ? this.#spliced() : this.#zipped();
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
  #zipped(): readonly T[] {
    const kept = this.#base.list().filter(({ id }) => !this.#changes.has(id));
    const added = [...this.#changes.values()].filter((item) => item !== undefined).sort(this.#order);
    const items: T[] = [];
    let next = 0;
    for (const item of kept) {
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

/** Above this many changes, moving the tail of the list for each costs more than one pass. */
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
