// Incremental computation: inputs, and cells computed from inputs and other cells. A cell remembers what it read. When an
// input changes, the cells that may be affected become stale; a stale cell is computed again only if something that it read
// is different, and those that read it go on only if its result is.
import { isDeepStrictEqual } from 'node:util';

interface Node {
  value: unknown;
  /** Revision at which the value was last different. */
  changedAt: number;
  readonly readers: Set<Cell>;
}

interface Cell extends Node {
  readonly key: string;
  compute: () => unknown;
  readonly reads: Set<Node>;
  computedAt: number;
  isStale: boolean;
  isRunning: boolean;
  /** Failure of the last computation; undefined where it succeeded. */
  failure: unknown;
}

export class Incremental {
  readonly #inputs = new Map<string, Node>();
  readonly #cells = new Map<string, Cell>();
  /** Keys of the cells whose results are wanted and may be different. */
  readonly #stale = new Set<string>();
  readonly #roots = new Set<string>();
  #revision = 0;
  #reader: Cell | undefined;

  /** Computations so far, for tests and metrics. */
  computed = 0;

  /** Sets an input. Undefined: there is none. */
  set(key: string, value: unknown): void {
    const node = this.#input(key);
    node.value = value;
    node.changedAt = ++this.#revision;
    this.#spread(node);
    this.#dropUnused(key, node);
  }

  /** Returns an input, from within a cell: the cell depends on it from then on. */
  read<T>(key: string): T | undefined {
    const node = this.#input(key);
    this.#note(node);
    return node.value as T | undefined;
  }

  /**
   * Returns the result of a cell, computed if need be. Called from within a cell, that one depends on it. Where the computation
   * fails, another cell gets the result before that.
   *
   * @throws what the computation threw: from outside of a cell, and where there is no result before that
   */
  cell<T>(key: string, compute: () => T): T {
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = newCell(key, compute);
      this.#cells.set(key, cell);
    }
    cell.compute = compute;
    this.#settle(cell);
    this.#note(cell);
    if (cell.failure !== undefined && (this.#reader === undefined || cell.computedAt === 0)) throw cell.failure;
    return cell.value as T;
  }

  /** Makes a cell one whose result is wanted: `takeStale` names it whenever it may be different. */
  want(key: string): void {
    this.#roots.add(key);
    this.#stale.add(key);
  }

  /** The result of a cell is wanted no more. */
  drop(key: string): void {
    this.#roots.delete(key);
    this.#stale.delete(key);
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    this.#forgetReads(cell);
    this.#cells.delete(key);
    this.#spread(cell);
  }

  /** Returns the wanted cells that may be different since the last call. */
  takeStale(): string[] {
    const keys = [...this.#stale];
    this.#stale.clear();
    return keys;
  }

  /** Returns whether a cell depends on an input. */
  isRead(key: string): boolean {
    return (this.#inputs.get(key)?.readers.size ?? 0) > 0;
  }

  #input(key: string): Node {
    let node = this.#inputs.get(key);
    if (node === undefined) {
      node = { value: undefined, changedAt: 0, readers: new Set() };
      this.#inputs.set(key, node);
    }
    return node;
  }

  #dropUnused(key: string, node: Node): void {
    if (node.value === undefined && node.readers.size === 0) this.#inputs.delete(key);
  }

  #note(node: Node): void {
    if (this.#reader === undefined) return;
    this.#reader.reads.add(node);
    node.readers.add(this.#reader);
  }

  /** Marks all cells that read a node, directly or not. */
  #spread(from: Node): void {
    const pending = [...from.readers];
    for (let cell = pending.pop(); cell !== undefined; cell = pending.pop()) {
      if (cell.isStale) continue;
      cell.isStale = true;
      if (this.#roots.has(cell.key)) this.#stale.add(cell.key);
      pending.push(...cell.readers);
    }
  }

  #settle(cell: Cell): void {
    if (!cell.isStale) return;
    if (cell.isRunning) throw new Error(`${cell.key} depends on itself`);
    try {
      if (cell.computedAt === 0 || this.#differs(cell)) this.#compute(cell);
    } finally {
      cell.isStale = false;
    }
  }

  /** Returns whether something that the cell read is different. Cells that it read are settled on the way. */
  #differs(cell: Cell): boolean {
    for (const node of cell.reads) {
      if (isCell(node)) this.#settle(node);
      if (node.changedAt > cell.computedAt) return true;
    }
    return false;
  }

  #compute(cell: Cell): void {
    this.#forgetReads(cell);
    const outer = this.#reader;
    this.#reader = cell;
    cell.isRunning = true;
    try {
      const value = cell.compute();
      cell.failure = undefined;
      this.computed++;
      if (cell.computedAt === 0 || !isDeepStrictEqual(value, cell.value)) {
        cell.value = value;
        cell.changedAt = ++this.#revision;
      }
      cell.computedAt = this.#revision;
    } catch (error) {
      cell.failure = error ?? new Error(`${cell.key} cannot be computed`);
    } finally {
      this.#reader = outer;
      cell.isRunning = false;
    }
  }

  #forgetReads(cell: Cell): void {
    for (const node of cell.reads) node.readers.delete(cell);
    cell.reads.clear();
  }
}

const newCell = (key: string, compute: () => unknown): Cell => ({
  key,
  compute,
  value: undefined,
  changedAt: 0,
  readers: new Set(),
  reads: new Set(),
  computedAt: 0,
  isStale: true,
  isRunning: false,
  failure: undefined,
});

const isCell = (node: Node): node is Cell => 'compute' in node;
