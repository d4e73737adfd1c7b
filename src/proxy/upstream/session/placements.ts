// Placement of sticky sessions (contract.md §7.7): the target that the store has; while it does not answer, the target
// of the last placement by this process; else by hash. A placement known to the process also holds where the store has
// none, and is stored then.
import type { Clock } from '../../../util/clock.ts';
import type { PlacementTable } from '../../shared/placement-table.ts';
import { crc32 } from '../balance/crc32.ts';
import type { SessionStore } from './session-store.ts';

/** Number by which a placement names its target; never 0. */
export const placementMark = (name: string): number => crc32(name) | 0 || 1;

/** Targets of one level of balancing that a session may be placed on: all of them are available. */
export interface Targets<T> {
  named(name: string): T | undefined;
  /** See `placementMark`. */
  marked(mark: number): T | undefined;
  byHash(): T | undefined;
  /** For a new session. */
  any(): T | undefined;
  nameOf(target: T): string;
}

export class Placements {
  readonly #store: SessionStore;
  readonly #known: PlacementTable;
  readonly #clock: Clock;

  constructor(store: SessionStore, known: PlacementTable, clock: Clock) {
    this.#store = store;
    this.#known = known;
    this.#clock = clock;
  }

  /** True when the store can be queried. */
  get up(): boolean {
    return this.#store.up;
  }

  /** The target of a session that has just begun. */
  begin<T>(key: string, ttlSeconds: number, targets: Targets<T>): T | undefined {
    const target = this.up ? targets.any() : targets.byHash();
    if (target !== undefined) this.move(key, ttlSeconds, targets.nameOf(target));
    return target;
  }

  /** Returns the target of a session that a client has sent, while the store is not well. */
  recall<T>(key: string, ttlSeconds: number, targets: Targets<T>): T | undefined {
    return this.#place(key, ttlSeconds, targets, undefined);
  }

  /** As `recall`, once the store has answered; `answer` is called once, perhaps synchronously. */
  find<T>(key: string, ttlSeconds: number, targets: Targets<T>, answer: (target: T | undefined) => void): void {
    this.#store.get(key, (stored) => answer(this.#place(key, ttlSeconds, targets, stored)));
  }

  /** The session is on the target of that name from now on. */
  move(key: string, ttlSeconds: number, name: string): void {
    this.#remember(key, ttlSeconds, name);
    if (this.up) this.#store.set(key, name, ttlSeconds);
  }

  close(): void {
    this.#store.close();
  }

  /** Places a session. `stored`: value in the store; empty: none; undefined: the store does not answer. */
  #place<T>(key: string, ttlSeconds: number, targets: Targets<T>, stored: string | undefined): T | undefined {
    if (stored !== undefined && stored !== '') {
      const named = targets.named(stored);
      if (named === undefined) return this.begin(key, ttlSeconds, targets);
      this.#remember(key, ttlSeconds, stored);
      return named;
    }
    const mark = this.#known.get(key, this.#nowS);
    const known = mark === 0 ? undefined : targets.marked(mark);
    const target = known ?? (stored === undefined ? targets.byHash() : targets.any());
    if (target === undefined) return undefined;
    if (stored !== undefined) this.move(key, ttlSeconds, targets.nameOf(target));
    else if (known === undefined) this.#remember(key, ttlSeconds, targets.nameOf(target));
    return target;
  }

  #remember(key: string, ttlSeconds: number, name: string): void {
    this.#known.set(key, placementMark(name), this.#nowS + Math.max(1, ttlSeconds));
  }

  get #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }
}
