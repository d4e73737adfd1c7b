// The content of a simulated log database, and what one write does to it.
import type { CheckpointMeta, Entry, HardState, Index, LogPosition, Term } from '../../core/types.ts';
import type { WriteBatch } from '../../store/log-store.ts';

export interface DiskImage {
  hardState: HardState;
  base: LogPosition;
  /** `entries[i].index === base.index + 1 + i`. */
  entries: Entry[];
  checkpoint: CheckpointMeta | undefined;
  generation: number;
}

export function emptyImage(): DiskImage {
  return {
    hardState: { term: 0, vote: undefined, commit: 0 },
    base: { index: 0, term: 0 },
    entries: [],
    checkpoint: undefined,
    generation: 0,
  };
}

export function copyImage(image: DiskImage): DiskImage {
  return { ...image, entries: [...image.entries] };
}

export function lastIndexOf({ base, entries }: DiskImage): Index {
  return base.index + entries.length;
}

export function termAt({ base, entries }: DiskImage, index: Index): Term | undefined {
  return index === base.index ? base.term : entries[index - base.index - 1]?.term;
}

/** Applies the batch; returns what is wrong with it, if anything. */
export function applyBatch(image: DiskImage, batch: WriteBatch): string | undefined {
  if (batch.install) {
    const { meta, generation } = batch.install;
    image.entries = [];
    image.base = { index: meta.index, term: meta.term };
    image.checkpoint = meta;
    image.generation = generation;
  }
  if (batch.truncateFrom !== undefined)
    image.entries.length = Math.min(image.entries.length, Math.max(0, batch.truncateFrom - image.base.index - 1));
  for (const entry of batch.entries ?? []) {
    const at = entry.index - image.base.index - 1;
    // Like a key-value store: writing a key again replaces it and leaves those behind it.
    if (at < 0 || at > image.entries.length) return `entry ${entry.index} leaves a hole after ${lastIndexOf(image)}`;
    image.entries[at] = entry;
  }
  if (batch.checkpoint) image.checkpoint = batch.checkpoint;
  if (batch.compactTo && batch.compactTo.index > image.base.index) {
    image.entries.splice(0, batch.compactTo.index - image.base.index);
    image.base = batch.compactTo;
  }
  if (batch.hardState) image.hardState = batch.hardState;
  return undefined;
}
