// A disk that can lose power: what was synced stays, what was not may go. Survives the processes that use it.
// Writes that overlap finish in any order, as they do in a thread pool.
import type { Entry, HardState } from '../../core/types.ts';
import type { WriteBatch } from '../../store/log-store.ts';
import type { Chance } from './chance.ts';
import { applyBatch, copyImage, type DiskImage, emptyImage, lastIndexOf } from './disk-image.ts';
import type { DiskOperations } from './disk-operations.ts';

export interface DiskWorld {
  readonly operations: DiskOperations;
  /** Runs `done` after `ms` unless the process has ended by then. */
  later(ms: number, done: () => void): void;
  /** The batch became durable; `image` is the disk's durable content, the batch included. */
  durable(batch: WriteBatch, image: DiskImage): void;
  /** The store was asked to do something it can't. */
  misuse(problem: string): void;
}

interface Flight {
  readonly batch: WriteBatch;
  isDone: boolean;
}

export class SimDisk {
  readonly #chance: Chance;
  readonly #world: DiskWorld;
  /** Image that a process finds after a crash that leaves the machine running. */
  #written = emptyImage();
  /** Image that is left when the power fails. */
  #durable = emptyImage();
  /** Records that each of the latest synced batches replaced, as long as these hold only terms and votes. */
  #replaced: HardState[] = [];
  #unsynced: WriteBatch[] = [];
  #flights = new Set<Flight>();
  readonly usualWriteMs: number;
  writeMs: number;
  stalledUntilMs = 0;
  /** The next write fails; those after it are acknowledged and lost. */
  failsNext = false;
  #isBroken = false;
  isSuspect = false;
  /** Damage that the start-up scan finds. */
  isDamaged = false;

  constructor(writeMs: number, chance: Chance, world: DiskWorld) {
    this.usualWriteMs = writeMs;
    this.writeMs = writeMs;
    this.#chance = chance;
    this.#world = world;
  }

  get durable(): Readonly<DiskImage> {
    return this.#durable;
  }

  /** With what is not synced yet: what a process would find that starts now. */
  get written(): Readonly<DiskImage> {
    return this.#written;
  }

  get isBusy(): boolean {
    return this.#flights.size > 0;
  }

  /** The first content of a directory. */
  format(image: DiskImage): void {
    this.#written = copyImage(image);
    this.#durable = copyImage(image);
    this.#replaced = [];
  }

  write(batch: WriteBatch, nowMs: number, done: (failure: Error | undefined) => void): void {
    const flight = { batch, isDone: false };
    this.#flights.add(flight);
    const stall = Math.max(0, this.stalledUntilMs - nowMs);
    const ms = stall + (batch.sync ? this.#chance.exponential(this.writeMs) : this.#chance.between(0, 0.2));
    this.#world.later(ms, () => {
      if (this.failsNext) {
        this.#flights.delete(flight);
        this.failsNext = false;
        this.#isBroken = true;
        done(new Error('no space left on device'));
        return;
      }
      const isDone = this.#world.operations.perform('log', () => {
        this.#flights.delete(flight);
        if (!this.#isBroken) this.#land(batch);
      });
      if (isDone) done(undefined);
    });
  }

  #land(batch: WriteBatch): void {
    const problem = applyBatch(this.#written, batch);
    if (problem !== undefined) this.#world.misuse(problem);
    this.#unsynced.push(batch);
    if (batch.sync) this.#sync();
  }

  #sync(): void {
    for (const batch of this.#unsynced) {
      const before = this.#durable.hardState;
      applyBatch(this.#durable, batch);
      this.#remember(before, batch);
      if (batch.trusted) this.isSuspect = false;
      this.#world.durable(batch, this.#durable);
    }
    this.#unsynced = [];
  }

  #remember(before: HardState, batch: WriteBatch): void {
    if (!isBare(batch)) this.#replaced = [];
    else if (batch.hardState !== undefined) this.#replaced.push(before);
  }

  /** The newest batch on disk holds a vote for another node, and no entry has followed it. */
  get hasFreshVote(): boolean {
    const { term, vote } = this.#durable.hardState;
    const before = this.#replaced.at(-1);
    return before !== undefined && vote !== undefined && (before.term !== term || before.vote !== vote);
  }

  /** The disk lied about a sync: the newest vote is gone, and nothing else. The scan can't tell it from a torn tail. */
  forgetVote(): boolean {
    const { term, vote } = this.#durable.hardState;
    const before = this.#replaced.findLast((each) => each.term !== term || each.vote !== vote);
    if (before === undefined) return false;
    this.#durable = { ...this.#durable, hardState: before };
    this.#written = copyImage(this.#durable);
    this.#unsynced = [];
    this.#replaced = [];
    this.isSuspect = true;
    return true;
  }

  /** The process ends; a write under way has reached the page cache or not. */
  crash(): void {
    for (const { batch } of this.#flights) if (!this.#isBroken && this.#chance.happens(0.5)) this.#landUnsynced(batch);
    this.#flights.clear();
    this.#isBroken = false;
    this.failsNext = false;
  }

  #landUnsynced(batch: WriteBatch): void {
    if (applyBatch(this.#written, batch) === undefined) this.#unsynced.push(batch);
  }

  /** Unsynced bytes go, all of them or some; a write under way is complete, torn (and then dropped) or absent. */
  losePower(keepsSome: boolean): void {
    const flights = [...this.#flights].map(({ batch }) => batch);
    this.#flights.clear();
    if (!this.#isBroken && keepsSome) {
      for (const batch of [...this.#unsynced, ...flights]) {
        // A hole ends the log: what came after it is dropped at the next start.
        if (this.#chance.happens(0.5) || applyBatch(this.#durable, batch) !== undefined) break;
        this.#replaced = [];
        this.#world.durable(batch, this.#durable);
      }
    }
    this.#unsynced = [];
    this.#written = copyImage(this.#durable);
    this.#isBroken = false;
    this.failsNext = false;
  }

  /** Acknowledged data at the end of the log is gone, and the scan can't tell it from a torn tail. */
  tearTail(entries: number): void {
    const image = this.#durable;
    const keep = Math.max(0, image.entries.length - entries);
    const cut: Entry[] = image.entries.slice(0, keep);
    const { term, commit } = image.hardState;
    const last = image.base.index + keep;
    this.#replaced = [];
    const forgetsVote = entries > 0 && this.#chance.happens(0.5);
    this.#durable = {
      ...image,
      entries: cut,
      hardState: {
        term: forgetsVote ? (cut.at(-1)?.term ?? image.base.term) : term,
        vote: forgetsVote ? undefined : image.hardState.vote,
        commit: Math.min(commit, last),
      },
    };
    this.#written = copyImage(this.#durable);
    this.#unsynced = [];
    this.isSuspect = true;
  }

  /** Returns the image that a process sees when it starts; opening a database syncs what it recovered. */
  open(): DiskImage {
    this.#sync();
    return copyImage(this.#written);
  }

  get lastIndex(): number {
    return lastIndexOf(this.#written);
  }
}

/** Term, vote and commit index at most. */
function isBare({ truncateFrom, entries, install, checkpoint, compactTo, trusted }: WriteBatch): boolean {
  return !entries?.length && (truncateFrom ?? install ?? checkpoint ?? compactTo ?? trusted) === undefined;
}
