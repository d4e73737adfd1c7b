// Policy of checkpoints: when one is due, and how much of the log may go once there is one.
import type { RaftCore } from '../core/raft-core.ts';
import { type RaftLog, sizeOf } from '../core/raft-log.ts';
import type { Rng } from '../core/rng.ts';
import type { BootState, CheckpointMeta, Index } from '../core/types.ts';
import type { DriverSettings } from './driver-settings.ts';

export class CheckpointPolicy {
  readonly #settings: DriverSettings;
  readonly #rng: Rng;
  /** Ascending: what the log on disk may name, the one before it, and what waits to be named. */
  #files: CheckpointMeta[];
  /** Bytes of the entries that were applied since the newest checkpoint. */
  #bytesSince: number;
  /** Value of `#bytesSince` when the checkpoint under way was requested. */
  #bytesAsked = 0;
  #factor: number;
  #isBeingMade = false;

  /** `boot` and `applied` are what the node starts with. */
  constructor(settings: DriverSettings, rng: Rng, boot: Pick<BootState, 'checkpoint' | 'entries'>, applied: Index) {
    const { checkpoint, entries } = boot;
    this.#settings = settings;
    this.#rng = rng;
    this.#files = checkpoint === undefined ? [] : [checkpoint];
    const since = entries.filter(({ index }) => index > (checkpoint?.index ?? 0) && index <= applied);
    this.#bytesSince = since.reduce((sum, entry) => sum + sizeOf(entry), 0);
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
    this.#bytesAsked = this.#bytesSince;
    return true;
  }

  /** The host could not write one; it is asked again when as much log has gathered once more. */
  failed(): void {
    this.#isBeingMade = false;
    this.#bytesAsked = 0;
    this.#factor += 1;
  }

  /** Written here or installed. */
  adopt(meta: CheckpointMeta): void {
    // Everything that was applied before it was asked for is in it; an installed one holds all there is.
    this.#bytesSince = this.#isBeingMade ? this.#bytesSince - this.#bytesAsked : 0;
    this.#bytesAsked = 0;
    this.#isBeingMade = false;
    if (meta.index <= (this.newest?.index ?? 0)) return;
    this.#files.push(meta);
    this.#factor = this.#drawFactor();
  }

  /** The log on disk names this one: of those before it only the last is worth keeping. */
  recorded(index: Index): void {
    const at = this.#files.findIndex((meta) => meta.index === index);
    this.#files = this.#files.slice(Math.max(0, at - 1));
  }

  /**
   * Highest index that may be forgotten: covered by the newest checkpoint, applied, and not missed by a live peer unless
   * the log is long by now.
   */
  compactable(core: RaftCore, applied: Index): Index {
    const { log, progress } = core.inspect();
    const { checkpointBytes, checkpointEntries, lagFactor, trailingEntries } = this.#settings;
    const covered = Math.min(this.newest?.index ?? 0, applied);
    let index = beforeTail(log, covered, trailingEntries, checkpointBytes);
    const longest = beforeTail(log, log.lastIndex, lagFactor * checkpointEntries, lagFactor * checkpointBytes);
    const isLong = longest > log.base.index;
    if (!isLong) {
      for (const peer of progress.values())
        if (peer.state !== 'checkpoint' && peer.wasActive) index = Math.min(index, peer.match);
    }
    return Math.max(index, log.base.index);
  }
}

/** The index behind which `entries` entries up to `end` are kept, or fewer when these have more than `bytes` bytes. */
function beforeTail(log: RaftLog, end: Index, entries: number, bytes: number): Index {
  let left = bytes;
  let index = end;
  while (index > log.base.index && index > end - entries && left > 0) {
    left -= sizeOf(log.entry(index)!);
    index -= 1;
  }
  return index;
}
