// The log as the core sees it: kept entries in memory, how far they are committed, and which of them are on disk.
// Memory is ahead of the disk; `take` hands out what is new, `saved` reports it durable.
import { invariant } from './invariant.ts';
import type { BootState, CheckpointMeta, ConfigEntry, Entry, Index, LogPosition, Term } from './types.ts';

/** Entries that `take` returned and the disk has not confirmed yet. */
interface Flight {
  readonly seq: number;
  readonly last: Index;
  readonly truncateFrom: Index | undefined;
}

export interface LogChanges {
  readonly truncateFrom: Index | undefined;
  readonly entries: readonly Entry[];
  readonly install: CheckpointMeta | undefined;
}

export class RaftLog {
  /** `#entries[i].index === base.index + 1 + i`. */
  #entries: Entry[];
  #base: LogPosition;
  #baseTime: number;
  #configs: ConfigEntry[];
  /** Highest index known to be on a quorum. Invariant: base.index <= committed <= lastIndex. */
  #committed: Index;
  /** Highest index that agrees with memory and is durable. Invariant: stable <= lastIndex. */
  #stable: Index;
  #diskLast: Index;
  #flights: Flight[] = [];
  #firstUnsaved: Index;
  #truncatedFrom: Index | undefined;
  #installed: CheckpointMeta | undefined;

  constructor(boot: BootState, applied: Index) {
    this.#entries = [...boot.entries];
    this.#base = boot.base;
    this.#baseTime = boot.checkpoint?.time ?? 0;
    this.#configs = this.#entries.filter((entry) => entry.kind === 'config');
    this.#stable = this.lastIndex;
    this.#diskLast = this.lastIndex;
    this.#firstUnsaved = this.lastIndex + 1;
    // What was applied was committed, even if the note of it did not reach the disk.
    this.#committed = Math.max(boot.hardState.commit, applied, boot.base.index, boot.checkpoint?.index ?? 0);
    invariant(this.#committed <= this.lastIndex, () => `commit ${this.#committed} is beyond the end ${this.lastIndex}`);
  }

  get base(): LogPosition {
    return this.#base;
  }

  get firstIndex(): Index {
    return this.#base.index + 1;
  }

  get lastIndex(): Index {
    return this.#base.index + this.#entries.length;
  }

  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? this.#base.term;
  }

  /** Log time at the end. */
  get lastTime(): number {
    return this.#entries.at(-1)?.time ?? this.#baseTime;
  }

  get committed(): Index {
    return this.#committed;
  }

  get stable(): Index {
    return this.#stable;
  }

  /** Undefined for positions that are compacted away or beyond the end. */
  term(index: Index): Term | undefined {
    if (index === this.#base.index) return this.#base.term;
    return this.entry(index)?.term;
  }

  entry(index: Index): Entry | undefined {
    return index > this.#base.index ? this.#entries[index - this.#base.index - 1] : undefined;
  }

  /** From `from` on, at most `maxBytes` and `maxCount` entries, but at least one when there is one. */
  slice(from: Index, maxBytes: number, maxCount = Number.POSITIVE_INFINITY): Entry[] {
    const start = from - this.#base.index - 1;
    let end = start;
    let bytes = 0;
    while (end < this.#entries.length && end - start < maxCount) {
      bytes += sizeOf(this.#entries[end]!);
      if (bytes > maxBytes && end > start) break;
      end += 1;
    }
    return this.#entries.slice(start, end);
  }

  /** True when a log ending at (`index`, `term`) holds at least as much as this one. */
  isUpToDate(index: Index, term: Term): boolean {
    return term > this.lastTerm || (term === this.lastTerm && index >= this.lastIndex);
  }

  /** Returns the position of the first entry of the last term, from `index` on. */
  startOfLastTerm(index: Index): LogPosition {
    const term = this.lastTerm;
    let at = this.lastIndex;
    while (at > index && this.term(at - 1) === term) at -= 1;
    return { index: at, term };
  }

  /** Largest position at or below `index` whose term is not above `term`: both logs may agree there, not later. */
  agreementHint(index: Index, term: Term): LogPosition {
    for (let at = Math.min(index, this.lastIndex); at > this.#base.index; at -= 1) {
      const own = this.term(at)!;
      if (own <= term) return { index: at, term: own };
    }
    return this.#base.index <= index ? this.#base : { index, term: 0 };
  }

  /** First configuration entry that is not committed, if there is one. */
  get pendingConfig(): ConfigEntry | undefined {
    const last = this.#configs.at(-1);
    return last !== undefined && last.index > this.#committed ? last : undefined;
  }

  /** The newest committed configuration entry above `index`. */
  committedConfig(above: Index): ConfigEntry | undefined {
    return this.#configs.findLast((entry) => entry.index <= this.#committed && entry.index > above);
  }

  /** The newest kept configuration entry at or below `index`. */
  configAt(index: Index): ConfigEntry | undefined {
    return this.#configs.findLast((entry) => entry.index <= index);
  }

  /** Leader: adds to the end. */
  append(entry: Entry): void {
    invariant(entry.index === this.lastIndex + 1, () => `entry ${entry.index} does not follow ${this.lastIndex}`);
    this.#entries.push(entry);
    if (entry.kind === 'config') this.#configs.push(entry);
  }

  /**
   * Follower: makes the log agree with `entries`, which follow a position both sides share. Present entries stay;
   * the first that differs goes with everything behind it. A shorter message never shortens the log.
   * Returns where it truncated.
   */
  merge(entries: readonly Entry[]): Index | undefined {
    const conflict = entries.findIndex((entry) => this.term(entry.index) !== entry.term);
    if (conflict === -1) return undefined;
    const from = entries[conflict]!.index;
    const truncated = from <= this.lastIndex ? from : undefined;
    if (truncated !== undefined) this.#truncate(truncated);
    for (const entry of entries.slice(conflict)) this.append(entry);
    return truncated;
  }

  #truncate(from: Index): void {
    invariant(from > this.#committed, () => `entry ${from} is committed and can't be replaced`);
    this.#entries.length = from - this.#base.index - 1;
    while ((this.#configs.at(-1)?.index ?? 0) >= from) this.#configs.pop();
    this.#stable = Math.min(this.#stable, from - 1);
    if (from < this.#firstUnsaved) this.#truncatedFrom = Math.min(this.#truncatedFrom ?? from, from);
    this.#firstUnsaved = Math.min(this.#firstUnsaved, from);
  }

  raiseCommit(index: Index): void {
    invariant(index <= this.lastIndex, () => `commit ${index} is beyond the end ${this.lastIndex}`);
    if (index > this.#committed) this.#committed = index;
  }

  /** Everything goes; the checkpoint stands for it. */
  restore(meta: CheckpointMeta): void {
    invariant(meta.index > this.#committed, () => `checkpoint ${meta.index} is behind commit ${this.#committed}`);
    this.#entries = [];
    this.#configs = [];
    this.#base = { index: meta.index, term: meta.term };
    this.#baseTime = meta.time;
    this.#committed = meta.index;
    this.#stable = 0;
    this.#firstUnsaved = meta.index + 1;
    this.#truncatedFrom = undefined;
    this.#installed = meta;
  }

  /** Forgets entries up to `index`; a checkpoint covers them. Returns the new base. */
  compactTo(index: Index): LogPosition {
    invariant(index <= this.#committed && index <= this.#stable, () => `can't compact to ${index}`);
    if (index <= this.#base.index) return this.#base;
    const base = { index, term: this.term(index)! };
    this.#baseTime = this.entry(index)?.time ?? this.#baseTime;
    this.#entries = this.#entries.slice(index - this.#base.index);
    this.#configs = this.#configs.filter((entry) => entry.index > index);
    this.#base = base;
    return base;
  }

  /** Hands out what memory has and no earlier output carried; undefined when there is nothing. */
  take(seq: number): LogChanges | undefined {
    const truncateFrom = this.#truncatedFrom;
    const install = this.#installed;
    if (this.#firstUnsaved > this.lastIndex && truncateFrom === undefined && install === undefined) return undefined;
    const entries = this.#entries.slice(this.#firstUnsaved - this.#base.index - 1);
    // An installation invalidates everything that was on its way before it.
    this.#flights.push({ seq, last: this.lastIndex, truncateFrom: install ? 1 : truncateFrom });
    this.#firstUnsaved = this.lastIndex + 1;
    this.#truncatedFrom = undefined;
    this.#installed = undefined;
    return { entries, truncateFrom, install };
  }

  /**
   * Output `seq` and all before it are durable. What a later output truncates does not count as stable, even if
   * the same position was filled again: the disk still holds the older entry there.
   */
  saved(seq: number): void {
    while (this.#flights.length > 0 && this.#flights[0]!.seq <= seq) this.#diskLast = this.#flights.shift()!.last;
    let stable = this.#diskLast;
    for (const { truncateFrom } of this.#flights) if (truncateFrom) stable = Math.min(stable, truncateFrom - 1);
    if (this.#truncatedFrom !== undefined) stable = Math.min(stable, this.#truncatedFrom - 1);
    if (this.#installed !== undefined) stable = 0;
    this.#stable = stable;
  }
}

/** Bytes an entry counts for in every limit. */
export function sizeOf(entry: Entry): number {
  if (entry.kind === 'command') return 32 + entry.payload.length;
  return entry.kind === 'config' ? 32 + 96 * entry.config.members.length : 32;
}
