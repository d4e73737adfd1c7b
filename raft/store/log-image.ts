// Image of the log, as far as the next write must know it: positions and chain values, no payloads. Turns a WriteBatch
// into the operations of one frame of the journal (raft.md P2, P4, P10, P11) and moves on. It assumes the write
// succeeds: after a failed write nothing is ever written again.
import {
  type BaseRecord,
  encodeBase,
  encodeBatch,
  encodeCheckpoint,
  encodeEntryRecord,
  encodeGeneration,
  encodeState,
} from '../codec/records.ts';
import type { Entry, HardState, Index } from '../core/types.ts';
import type { Operation } from './journal/journal-frames.ts';
import type { WriteBatch } from './log-store.ts';
import { batchKey, entryKey, keys } from './record-keys.ts';

export interface ImageState {
  readonly base: BaseRecord;
  /** Chain values of the kept entries, from `base.index + 1` on. */
  readonly chains: readonly number[];
  readonly hardState: HardState;
  readonly persistSeq: number;
}

export class LogImage {
  #base: BaseRecord;
  #chains: number[];
  #hardState: HardState;
  #persistSeq: number;

  constructor(state: ImageState) {
    this.#base = state.base;
    this.#chains = [...state.chains];
    this.#hardState = state.hardState;
    this.#persistSeq = state.persistSeq;
  }

  get lastIndex(): Index {
    return this.#base.index + this.#chains.length;
  }

  /** The last entry that is needed no more. */
  get baseIndex(): Index {
    return this.#base.index;
  }

  get hardState(): HardState {
    return this.#hardState;
  }

  /** The number of the latest planned batch. */
  get persistSeq(): number {
    return this.#persistSeq;
  }

  /** Holds a commit until the next write of anything takes it to the disk (raft.md P3). */
  hold(hardState: HardState): void {
    this.#hardState = hardState;
  }

  /** The operations that make `batch` true on disk, with hard state and ring record. Throws on a batch that cannot be. */
  plan(batch: WriteBatch): Operation[] {
    const operations = [
      ...this.#install(batch.install),
      ...this.#append(batch.truncateFrom, batch.entries ?? []),
      ...this.#compact(batch.compactTo),
    ];
    if (batch.checkpoint !== undefined) operations.push(put(keys.checkpoint, encodeCheckpoint(batch.checkpoint)));
    this.#hardState = batch.hardState ?? this.#hardState;
    this.#persistSeq += 1;
    return [...operations, ...this.#seal()];
  }

  #install(install: WriteBatch['install']): Operation[] {
    if (install === undefined) return [];
    const { meta, generation } = install;
    const gone = deletions(meta.index + 1, this.lastIndex);
    this.#base = { index: meta.index, term: meta.term, chain: 0 };
    this.#chains = [];
    return [
      ...gone,
      put(keys.checkpoint, encodeCheckpoint(meta)),
      put(keys.base, encodeBase(this.#base)),
      put(keys.generation, encodeGeneration({ generation, builtFrom: meta.index })),
    ];
  }

  #append(truncateFrom: Index | undefined, entries: readonly Entry[]): Operation[] {
    const lastBefore = this.lastIndex;
    if (truncateFrom !== undefined) this.#truncate(truncateFrom);
    const added = entries.map((entry) => this.#put(entry));
    return [...added, ...deletions(this.lastIndex + 1, lastBefore)];
  }

  #truncate(from: Index): void {
    if (from <= this.#base.index)
      throw new Error(`cannot truncate from ${from}: the log begins after ${this.#base.index}`);
    this.#chains.length = Math.min(this.#chains.length, from - this.#base.index - 1);
  }

  #put(entry: Entry): Operation {
    if (entry.index !== this.lastIndex + 1) throw new Error(`entry ${entry.index} does not follow ${this.lastIndex}`);
    const { value, chain } = encodeEntryRecord(entry, this.#chainAt(entry.index - 1));
    this.#chains.push(chain);
    return { type: 'put', key: entryKey(entry.index), value };
  }

  #compact(to: WriteBatch['compactTo']): Operation[] {
    if (to === undefined || to.index <= this.#base.index) return [];
    const base = { index: to.index, term: to.term, chain: this.#chainAt(to.index) };
    this.#chains.splice(0, to.index - this.#base.index);
    this.#base = base;
    return [put(keys.base, encodeBase(base))];
  }

  #seal(): Operation[] {
    const { term, vote } = this.#hardState;
    const persistSeq = this.#persistSeq;
    const lastIndex = this.lastIndex;
    const batch = { persistSeq, term, vote, lastIndex, chain: this.#chainAt(lastIndex) };
    return [
      put(keys.state, encodeState({ hardState: this.#hardState, persistSeq })),
      put(batchKey(persistSeq), encodeBatch(batch)),
    ];
  }

  #chainAt(index: Index): number {
    const chain = index === this.#base.index ? this.#base.chain : this.#chains[index - this.#base.index - 1];
    if (chain === undefined) throw new Error(`entry ${index} is not in the log`);
    return chain;
  }
}

export function put(key: Buffer, value: Buffer): Operation {
  return { type: 'put', key, value: [value] };
}

function deletions(from: Index, to: Index): Operation[] {
  const operations: Operation[] = [];
  for (let index = from; index <= to; index++) operations.push({ type: 'del', key: entryKey(index) });
  return operations;
}
