// When a checkpoint is due, and how much of the log may go once there is one.
import type { RaftCore } from '../core/raft-core.ts';
import type { Rng } from '../core/rng.ts';
import type { CheckpointMeta, Index } from '../core/types.ts';
import type { DriverSettings } from './settings.ts';

export class CheckpointPolicy {
  readonly #settings: DriverSettings;
  readonly #rng: Rng;
  /** Ascending: what the log on disk may name, the one before it, and what waits to be named. */
  #files: CheckpointMeta[];
  #bytesSince = 0;
  #factor: number;
  #isBeingMade = false;

  constructor(settings: DriverSettings, rng: Rng, newest: CheckpointMeta | undefined) {
    this.#settings = settings;
    this.#rng = rng;
    this.#files = newest === undefined ? [] : [newest];
    this.#factor = this.#drawFactor();
  }

  get newest(): CheckpointMeta | undefined {
    return this.#files.at(-1);
  }

  /** Files that must stay. */
  get kept(): readonly CheckpointMeta[] {
    return this.#files;
  }

  get isBeingMade(): boolean {
    return this.#isBeingMade;
  }

  /** Spreads the work of the members over time. */
  #drawFactor(): number {
    return 1 + this.#rng.below(500) / 1000;
  }

  applied(bytes: number): void {
    this.#bytesSince += bytes;
  }

  /** True once per checkpoint; a disk that is behind with naming earlier ones gets no more of them. */
  isDue(applied: Index): boolean {
    if (this.#isBeingMade || this.#files.length > 2) return false;
    const { checkpointBytes, checkpointEntries } = this.#settings;
    const entries = applied - (this.newest?.index ?? 0);
    if (entries < checkpointEntries * this.#factor && this.#bytesSince < checkpointBytes * this.#factor) return false;
    if (entries <= 0) return false;
    this.#isBeingMade = true;
    return true;
  }

  /** The host could not write one; it is asked again when as much log has gathered once more. */
  failed(): void {
    this.#isBeingMade = false;
    this.#bytesSince = 0;
    this.#factor += 1;
  }

  /** Written here or installed. */
  adopt(meta: CheckpointMeta): void {
    this.#isBeingMade = false;
    if (meta.index <= (this.newest?.index ?? 0)) return;
    this.#files.push(meta);
    this.#bytesSince = 0;
    this.#factor = this.#drawFactor();
  }

  /** The log on disk names this one: of those before it only the last is worth keeping. */
  recorded(index: Index): void {
    const at = this.#files.findIndex((meta) => meta.index === index);
    this.#files = this.#files.slice(Math.max(0, at - 1));
  }

  /** Highest index that may be forgotten: covered by the newest checkpoint, applied, and not missed by a live peer. */
  compactable(core: RaftCore, applied: Index): Index {
    const { log, progress } = core.inspect();
    const { checkpointEntries, lagFactor, trailingEntries } = this.#settings;
    const covered = Math.min(this.newest?.index ?? 0, applied);
    let index = covered - trailingEntries;
    const isLong = log.lastIndex - log.base.index > lagFactor * checkpointEntries;
    if (!isLong) {
      for (const peer of progress.values())
        if (peer.state !== 'checkpoint' && peer.wasActive) index = Math.min(index, peer.match);
    }
    return Math.max(index, log.base.index);
  }
}
