// Differences between the responses of primaries and of their mirrors that a process remembers (contract.md §7.13).
import type { MirrorMismatch } from './answers/request-answers.ts';

/** Mismatches that a process remembers. */
export interface MismatchSource {
  /** Returns at most `limit`, newest first. */
  list(limit: number): readonly MirrorMismatch[];
}
