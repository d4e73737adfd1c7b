// Differences between the responses of primaries and of their mirrors that processes remember (contract.md §7.13).
import type { MirrorMismatch } from './answers/request-answers.ts';
import { isObject } from './json-object.ts';

/** Mismatch as the process tells it that has seen it. */
export type SeenMismatch = Omit<MirrorMismatch, 'node'>;

/** Mismatches that a process remembers. */
export interface MismatchSource {
  /** Returns at most `limit`, newest first. */
  list(limit: number): readonly SeenMismatch[];
}

/** Answer of a node that was asked for its mismatches. */
export interface NodeMismatches {
  /** Name of the node. */
  readonly node: string;
  /** Newest first; undefined: it did not answer in time. */
  readonly mismatches: readonly SeenMismatch[] | undefined;
}

/** Bytes of one answer: a longer one is not read. */
const answerBytesMax = 4 << 20;

/** Returns the answer to another node: the newest, as many as are read there. */
export function mismatchesAnswer(newest: readonly SeenMismatch[]): { readonly mismatches: readonly SeenMismatch[] } {
  let bytes = 0;
  const beyond = newest.findIndex((each) => {
    bytes += Buffer.byteLength(JSON.stringify(each)) + 1;
    return bytes > answerBytesMax;
  });
  return { mismatches: beyond < 0 ? newest : newest.slice(0, beyond) };
}

/** Returns the answer of another node; undefined for anything else, as a node of an earlier version gives. */
export function mismatchesOf(value: unknown): readonly SeenMismatch[] | undefined {
  const list = isObject(value) ? value.mismatches : undefined;
  return Array.isArray(list) && list.every(isMismatch) ? list : undefined;
}

/** Nodes of one cluster trust each other: it is a mismatch where it can be put in order and be shown. */
const isMismatch = (value: unknown): value is SeenMismatch =>
  isObject(value) && typeof value.time === 'string' && isObject(value.primary) && isObject(value.mirror);
