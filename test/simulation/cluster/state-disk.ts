// The state databases of one simulated machine. A batch that was answered survives everything; one under way when the
// process ends is there whole or not at all, and so is the mark that follows it.
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import { type Change, inOnePiece, type Mark, type Store, type StoreImage } from '../../../src/state/store.ts';

interface Content {
  rows: ReadonlyMap<string, Uint8Array>;
  mark: Mark | undefined;
  /** Index that the rows have reached. */
  applied: number;
}

/** Work of a process that a crash cuts off. */
interface Flight {
  readonly content: Content;
  readonly land: () => void;
}

export interface StoreWorld {
  /** Runs in this process or never. */
  later(ms: number, run: () => void): void;
  writeMs(): number;
  /** This write is to fail. */
  fails(): boolean;
}

const markMs = 0.5;
/** The error of a write that was made to fail. */
export const failedWrite = 'no space left on device';

export class StateDisk {
  readonly #chance: Chance;
  readonly #generations = new Map<number, Content>([[0, emptyContent()]]);
  readonly #flights = new Set<Flight>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  appliedIn(generation: number): number {
    return this.#generations.get(generation)?.applied ?? 0;
  }

  /** The process is gone: what it was writing has reached the disk or not. */
  crash(): void {
    for (const { land } of this.#flights) if (this.#chance.happens(0.5)) land();
    this.#flights.clear();
  }

  /** An empty store. */
  create(generation: number, world: StoreWorld): Store {
    this.#generations.set(generation, emptyContent());
    return this.open(generation, world);
  }

  remove(generation: number): void {
    this.#generations.delete(generation);
  }

  removeOthers(generation: number): void {
    for (const other of [...this.#generations.keys()]) if (other !== generation) this.#generations.delete(other);
  }

  open(generation: number, world: StoreWorld): Store {
    const content = this.#generations.get(generation);
    if (content === undefined) throw new Error(`there is no generation ${generation} of the state`);
    return {
      place: `generation ${generation}`,
      mark: content.mark,
      rows: () => sorted(content.rows),
      image: () => imageOf(content.rows),
      write: (changes, mark) => this.#write(content, changes, mark, world),
      reopen: async () => undefined,
      compact: async () => undefined,
      close: async () => undefined,
    };
  }

  async #write(content: Content, changes: readonly Change[], mark: Mark, world: StoreWorld): Promise<void> {
    await this.#marked(content, world);
    const fails = world.fails();
    const land = (): void => {
      const rows = new Map(content.rows);
      for (const { key, value } of changes) {
        if (value === undefined) rows.delete(key);
        else rows.set(key, Uint8Array.from(inOnePiece(value)));
      }
      content.rows = rows;
      content.applied = Math.max(content.applied, mark.applied);
    };
    // After a write that fails the content of the disk is unknown.
    const lands = !fails || this.#chance.happens(0.5);
    await this.#fly(content, world, world.writeMs(), lands ? land : () => undefined);
    if (fails) throw new Error(failedWrite);
    void this.#fly(content, world, markMs, () => {
      content.mark = mark;
    });
  }

  /** The mark of the write before comes first. */
  async #marked(content: Content, world: StoreWorld): Promise<void> {
    while ([...this.#flights].some((flight) => flight.content === content))
      await new Promise<void>((resolve) => world.later(markMs, resolve));
  }

  #fly(content: Content, world: StoreWorld, ms: number, land: () => void): Promise<void> {
    const flight = { content, land };
    this.#flights.add(flight);
    return new Promise((resolve) => {
      world.later(ms, () => {
        this.#flights.delete(flight);
        land();
        resolve();
      });
    });
  }
}

const emptyContent = (): Content => ({ rows: new Map(), mark: undefined, applied: 0 });

/** Contents are replaced, never changed, so an image is the content of its moment. */
const imageOf = (rows: ReadonlyMap<string, Uint8Array>): StoreImage => ({
  get: async (key) => rows.get(key),
  rows: () => sorted(rows),
  close: async () => undefined,
});

async function* sorted(rows: ReadonlyMap<string, Uint8Array>): AsyncGenerator<readonly [string, Uint8Array]> {
  for (const entry of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) yield entry;
}
