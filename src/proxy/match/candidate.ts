// Entries as the index holds them: small numbers, so that a list of them is a few words of memory, and an entry itself
// is read only when it has matchers.

import type { RoutedRequest, ServedSection } from '../message/routed-request.ts';
import type { RankedEntry } from './route-entry.ts';

/** Twice the entry's place in the total order of contract.md §6.4, and one more when it has matchers: the lower one wins. */
export type Candidate = number;

/** Comes after every other. */
export const noCandidate: Candidate = 0x7fffffff;

export const candidateOf = ({ matchers }: RankedEntry, place: number): Candidate =>
  2 * place + (matchers.length > 0 ? 1 : 0);

export const placeOf = (candidate: Candidate): number => candidate >> 1;

/** Scope of a look-up. */
export interface Scope {
  readonly entries: readonly RankedEntry[];
  /** 1 at the place of each entry that counts no more; undefined: all count. */
  readonly removed: Uint8Array | undefined;
}

/** Returns whether an entry with those bindings is asked for requests of a section. */
export function isBoundTo({ bindings }: Pick<RankedEntry, 'bindings'>, section: ServedSection | undefined): boolean {
  if (section?.isServed === false) return false;
  if (bindings === undefined) return true;
  return section !== undefined && (bindings.includes(section.ofListener) || bindings.includes(section.ofSection));
}

/** Returns whether the matchers beside host and path agree. */
export function agrees(candidate: Candidate, { entries, removed }: Scope, request: RoutedRequest): boolean {
  if (removed !== undefined && removed[placeOf(candidate)] === 1) return false;
  if ((candidate & 1) === 0) return true;
  const matchers = entries[placeOf(candidate)]?.matchers;
  if (matchers === undefined) return false;
  for (let i = 0; i < matchers.length; i++) if (matchers[i]?.test(request) !== true) return false;
  return true;
}
