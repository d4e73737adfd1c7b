// Exact paths, and prefixes by whole segments (architecture.md §6.7). A look-up goes through the path once, hashes it as
// it goes and asks at the ends of those segments where prefixes of the host end: it costs what the path is long, not
// what the table has routes.

import type { RoutedRequest } from '../message/routed-request.ts';
import type { Candidate, Scope } from './candidate.ts';
import { hashSeed, hashStep } from './hash-slots.ts';
import { type ListSizes, TextLists } from './text-lists.ts';

export class LiteralIndex {
  readonly #exact: TextLists;
  readonly #prefixes: TextLists;
  /**
   * By host, what is worth asking for: bit n when it has a prefix of n segments, bit `deepest` when it has one of that
   * many or more, bit `exact` when it has exact paths, for which alone a path must be hashed whole.
   */
  readonly #kinds: number[] = [];

  /** Some entry has a priority: an exact path no longer comes before every prefix, nor a longer prefix before a shorter one. */
  ranked = false;

  constructor(exact: ListSizes, prefixes: ListSizes) {
    this.#exact = new TextLists(exact);
    this.#prefixes = new TextLists(prefixes);
  }

  /** Hosts are numbered from 0 and come in that order, each before anything is added for it. */
  admit(host: number): void {
    this.#kinds[host] ??= 0;
  }

  addExact(host: number, text: string, candidate: Candidate): void {
    this.#kinds[host] = (this.#kinds[host] ?? 0) | (1 << exact);
    this.#exact.add(host, text, candidate);
  }

  /** The prefix has no trailing slash; the empty one is that of every path. */
  addPrefix(host: number, text: string, candidate: Candidate): void {
    let depth = 0;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) === slash) depth = deeper(depth);
    this.#kinds[host] = (this.#kinds[host] ?? 0) | (1 << depth);
    this.#prefixes.add(host, text, candidate);
  }

  /** The first entry of this host that agrees and comes before `best`, else `best`. */
  better(host: number, scope: Scope, request: RoutedRequest, best: Candidate): Candidate {
    const { path } = request;
    const kinds = this.#kinds[host] ?? 0;
    let first = best;
    if (kinds >>> exact === 1) {
      const list = this.#exact.find(wholeHash(host, path), host, path, path.length);
      if (list >= 0) first = this.#exact.better(list, scope, request, best);
      if (first !== best && !this.ranked) return first;
    }
    for (let i = this.#collect(host, path, kinds & ~(1 << exact)) - 1; i >= 0; i--) {
      const list = found[i];
      if (list !== undefined) first = this.#prefixes.better(list, scope, request, first);
      if (first !== best && !this.ranked) return first;
    }
    return first;
  }

  /** Writes the list of every prefix that the path has to `found`, shortest first; returns their count. */
  #collect(host: number, path: string, depths: number): number {
    let count = 0;
    let hash = hashSeed(host);
    for (let i = 0, depth = 0; depths >>> depth !== 0; i++) {
      const code = i < path.length ? path.charCodeAt(i) : slash;
      if (code === slash) {
        const list = ((depths >>> depth) & 1) === 0 ? -1 : this.#prefixes.find(hash, host, path, i);
        if (list >= 0) found[count++] = list;
        if (i >= path.length) break;
        depth = deeper(depth);
      }
      hash = hashStep(hash, code);
    }
    return count;
  }
}

const slash = 0x2f;

const exact = 31;
const deepest = 30;

const deeper = (depth: number): number => Math.min(depth + 1, deepest);

function wholeHash(host: number, path: string): number {
  let hash = hashSeed(host);
  for (let i = 0; i < path.length; i++) hash = hashStep(hash, path.charCodeAt(i));
  return hash;
}

/** Used again for each look-up; one look-up never begins within another. */
const found: number[] = [];
