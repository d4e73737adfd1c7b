// Hands committed entries to the host, in order, never more than the credit allows; the rest waits in the log.
import { sizeOf } from '../core/raft-log.ts';
import type { CommandEntry, Entry, Index } from '../core/types.ts';
import type { Committed } from './driver-host.ts';

const batchEntries = 256;
const batchBytes = 1024 * 1024;

interface Outstanding {
  readonly last: Index;
  readonly bytes: number;
}

export class Applier {
  readonly #credit: number;
  readonly #entry: (index: Index) => Entry | undefined;
  readonly #hand: (batch: Committed, entries: readonly Entry[]) => void;
  #next: Index;
  #to: Index;
  #outstanding: Outstanding[] = [];
  #outstandingBytes = 0;

  constructor(
    applied: Index,
    credit: number,
    entry: (index: Index) => Entry | undefined,
    hand: (batch: Committed, entries: readonly Entry[]) => void,
  ) {
    this.#next = applied + 1;
    this.#to = applied;
    this.#credit = credit;
    this.#entry = entry;
    this.#hand = hand;
  }

  /** Entries up to `to` may be applied. */
  extend(to: Index): void {
    this.#to = Math.max(this.#to, to);
    this.#pump();
  }

  /** Returns how many bytes that were: of the batches that end at or before `index`. */
  applied(index: Index): number {
    const before = this.#outstandingBytes;
    while (this.#outstanding.length > 0 && this.#outstanding[0]!.last <= index)
      this.#outstandingBytes -= this.#outstanding.shift()!.bytes;
    const bytes = before - this.#outstandingBytes;
    this.#pump();
    return bytes;
  }

  /** A checkpoint took the place of everything up to `index`: batches handed out before it are void. */
  skipTo(index: Index): void {
    this.#next = index + 1;
    this.#to = Math.max(this.#to, index);
    this.#outstanding = [];
    this.#outstandingBytes = 0;
  }

  #pump(): void {
    while (this.#next <= this.#to && this.#outstandingBytes < this.#credit) this.#handNext();
  }

  #handNext(): void {
    const entries: Entry[] = [];
    let bytes = 0;
    while (this.#next <= this.#to && entries.length < batchEntries && bytes < batchBytes) {
      const entry = this.#entry(this.#next);
      if (entry === undefined) throw new Error(`entry ${this.#next} is committed but not in the log`);
      entries.push(entry);
      bytes += sizeOf(entry);
      this.#next += 1;
    }
    const { index: last, term, time: logTime } = entries.at(-1)!;
    this.#outstanding.push({ last, bytes });
    this.#outstandingBytes += bytes;
    const commands = entries.filter((entry): entry is CommandEntry => entry.kind === 'command');
    this.#hand({ first: entries[0]!.index, last, term, logTime, entries: commands, bytes }, entries);
  }
}
