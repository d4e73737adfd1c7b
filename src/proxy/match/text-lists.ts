// Lists of candidates, each under a host and a text: the entries of one exact path, or of one prefix. Everything lies in
// flat arrays that are made once at their full size. A look-up reads a slot and, beside each other, a record and its text.

import type { RoutedRequest } from '../message/routed-request.ts';
import { agrees, type Candidate, type Scope } from './candidate.ts';
import { HashSlots, hashSeed, hashStep } from './hash-slots.ts';
import { isPacked, packText, wordsOf } from './packed-text.ts';

/** Upper bounds of the content. */
export interface ListSizes {
  candidates: number;
  /** UTF-16 units of all texts. */
  units: number;
}

/** Offsets in a record: number of the host, length of the text, first candidate, next and last link. */
const at = { host: 0, length: 1, first: 2, next: 3, last: 4, text: 5 } as const;

export class TextLists {
  /** Under the hash of host and text: where the record begins. */
  readonly #slots: HashSlots;
  readonly #records: Int32Array;
  /** Candidates of a list after the first: candidate and next link in turn; link 0 is the end. */
  readonly #links: Int32Array;
  #recordsEnd = 0;
  #linkCount = 1;

  constructor({ candidates, units }: ListSizes) {
    this.#slots = new HashSlots(candidates);
    this.#records = new Int32Array((at.text + 1) * candidates + (units >> 1));
    this.#links = new Int32Array(2 * (candidates + 1));
  }

  /** Candidates of one list come in order. */
  add(host: number, text: string, candidate: Candidate): void {
    const hash = hashOf(host, text);
    const known = this.find(hash, host, text, text.length);
    if (known >= 0) this.#append(known, candidate);
    else this.#slots.add(hash, this.#record(host, text, candidate));
  }

  /** The list under the first `end` units of `text`, whose hash this is; -1 when there is none. */
  find(hash: number, host: number, text: string, end: number): number {
    for (let slot = this.#slots.first(hash); slot >= 0; slot = this.#slots.next(slot, hash)) {
      const record = this.#slots.number(slot);
      if (this.#records[record + at.host] === host && this.#isText(record, text, end)) return record;
    }
    return -1;
  }

  /** The first candidate of a list that agrees and comes before `best`, else `best`. */
  better(list: number, scope: Scope, request: RoutedRequest, best: Candidate): Candidate {
    let candidate = this.#records[list + at.first] ?? best;
    let link = this.#records[list + at.next] ?? 0;
    while (candidate < best) {
      if (agrees(candidate, scope, request)) return candidate;
      if (link === 0) return best;
      candidate = this.#links[2 * link] ?? best;
      link = this.#links[2 * link + 1] ?? 0;
    }
    return best;
  }

  #isText(record: number, text: string, end: number): boolean {
    return this.#records[record + at.length] === end && isPacked(this.#records, record + at.text, text, 0, end);
  }

  #record(host: number, text: string, first: Candidate): number {
    const record = this.#recordsEnd;
    this.#records[record + at.host] = host;
    this.#records[record + at.length] = text.length;
    this.#records[record + at.first] = first;
    packText(this.#records, record + at.text, text);
    this.#recordsEnd += at.text + wordsOf(text.length);
    return record;
  }

  #append(record: number, candidate: Candidate): void {
    const link = this.#linkCount++;
    this.#links[2 * link] = candidate;
    const last = this.#records[record + at.last] ?? 0;
    if (last === 0) this.#records[record + at.next] = link;
    else this.#links[2 * last + 1] = link;
    this.#records[record + at.last] = link;
  }
}

function hashOf(host: number, text: string): number {
  let hash = hashSeed(host);
  for (let i = 0; i < text.length; i++) hash = hashStep(hash, text.charCodeAt(i));
  return hash;
}
