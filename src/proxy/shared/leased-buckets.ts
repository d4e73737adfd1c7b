// Leased buckets: the parts of a limit's budgets that this process holds of those of the cluster (fleet.md §8), one row for
// each key in one block of shared memory. Workers take tokens by compare-and-swap; main alone fills a row, as far as
// the leader lets it. The block has a fixed size: keys without a place share its first row.
import type { BucketRate } from '../../model/limit-rates.ts';
import { type BucketKey, textKey } from './bucket-key.ts';
import { type Buckets, groupOf } from './buckets.ts';

const groupSize = 8;
/** Per row: the key, and the words below. */
const keyBytes = 8;
const rowWords = 5;
const rowBytes = keyBytes + rowWords * 4;

/** Tokens in hand, in units. */
const levelWord = 0;
const stateWord = 1;
/** Units that requests asked for since main looked. */
const usedWord = 2;
/** Units under which a worker asks for more. */
const lowWord = 3;
/** Whole tokens that are left elsewhere in the cluster. */
const leftWord = 4;

/** States of a row. Open: more may be asked for. Dry: nothing is to be had for now. Closing: main gives its part back. */
export const rowStates = { open: 0, asked: 1, dry: 2, closing: 3 } as const;
type RowState = (typeof rowStates)[keyof typeof rowStates];

/** Row of the keys that have no place. */
const overflowRow = 0;
/** Name of its key in the cluster. */
const overflowName = 'overflow';
export const leasedRowsMax = 16_384;

/** Asks main for tokens of a row. `name` tells the key to the cluster; undefined: main knows it. */
export type AskForTokens = (row: number, tokens: number, name: string | undefined) => void;

export class LeasedBuckets implements Buckets {
  readonly #keys: BigInt64Array;
  readonly #halves: Int32Array;
  readonly #words: Int32Array;
  readonly #groups: number;
  readonly #seed: number;
  readonly #burst: number;
  readonly #perMs: number;
  readonly #unitsPerToken: number;
  readonly #ask: AskForTokens;

  /** @param seed keeps it secret which keys share a group */
  constructor(
    memory: SharedArrayBuffer,
    { requestsPerSecond, burst }: BucketRate,
    seed: number,
    ask: AskForTokens = () => {},
  ) {
    const rows = memory.byteLength / rowBytes;
    this.#keys = new BigInt64Array(memory, 0, rows);
    this.#halves = new Int32Array(memory, 0, rows * 2);
    this.#words = new Int32Array(memory, rows * keyBytes, rows * rowWords);
    this.#groups = rows / groupSize - 1;
    this.#seed = seed | 1;
    this.#burst = burst;
    this.#perMs = requestsPerSecond / 1000;
    this.#unitsPerToken = unitsPerToken(burst);
    this.#ask = ask;
  }

  /** Memory for so many keys, at least one group beside that of the shared row. */
  static memory(rows: number): SharedArrayBuffer {
    return new SharedArrayBuffer(LeasedBuckets.bytesOf(rows));
  }

  /** Returns the size of that memory. */
  static bytesOf(rows: number): number {
    return (Math.max(groupSize, rows) + groupSize) * rowBytes;
  }

  keyOf(text: string): BucketKey {
    return textKey(text, this.#seed, Math.imul(this.#seed, 0x9e3779b1));
  }

  /** Milliseconds until the whole limit fills by what this key lacks; 0 when the tokens are in hand. */
  waitMs({ high, low }: BucketKey, cost: number, _nowMs: number): number {
    if (cost > this.#burst) return Number.POSITIVE_INFINITY;
    const row = this.#find(high, low);
    const level = row < 0 ? 0 : this.#load(row, levelWord);
    const lacking = this.#units(cost) - level;
    return lacking <= 0 ? 0 : Math.max(1, this.#msOf(lacking / this.#unitsPerToken));
  }

  /** Takes `cost` tokens where they are in hand, and returns whether they were. */
  takeSome({ high, low }: BucketKey, cost: number, _nowMs: number): boolean {
    const units = this.#units(cost);
    if (units === 0) return cost <= this.#burst;
    const row = this.#find(high, low);
    if (row < 0) return false;
    const index = row * rowWords + levelWord;
    for (;;) {
      const level = Atomics.load(this.#words, index);
      if (level < units) return false;
      if (Atomics.compareExchange(this.#words, index, level, level - units) !== level) continue;
      if (!this.#isOf(row, high, low)) {
        // The row was given to another key between the look and the taking.
        Atomics.add(this.#words, index, units);
        return false;
      }
      Atomics.add(this.#words, row * rowWords + usedWord, units);
      if (level - units < this.#load(row, lowWord)) this.#askFor(row, high, low, 0, undefined);
      return true;
    }
  }

  giveBack({ high, low }: BucketKey, cost: number): void {
    const row = this.#find(high, low);
    if (row >= 0) Atomics.add(this.#words, row * rowWords + levelWord, this.#units(cost));
  }

  /**
   * Returns the row that may get tokens from the leader, asked for them, when a request of that cost lacks some; -1 when
   * there is nothing to wait for. `isForced` repeats a question that may be lost.
   */
  wish({ high, low }: BucketKey, cost: number, name: string, isForced: boolean): number {
    if (cost > this.#burst) return -1;
    const row = this.#rowOf(high, low);
    if (this.#load(row, levelWord) >= this.#units(cost) || this.#load(row, stateWord) === rowStates.dry) return -1;
    this.#askFor(row, high, low, cost, row === overflowRow ? overflowName : name, isForced);
    return row;
  }

  /** Counts tokens that a refused request asked for. */
  refuse({ high, low }: BucketKey, cost: number): void {
    const row = this.#find(high, low);
    if (row >= 0) Atomics.add(this.#words, row * rowWords + usedWord, this.#units(Math.min(cost, this.#burst)));
  }

  /** Whole tokens in the whole cluster, as far as they are known here. */
  tokens({ high, low }: BucketKey, _nowMs: number): number {
    return Math.min(Math.floor(this.#burst), Math.floor(this.#inHand(high, low) + roundingTolerance));
  }

  fullInMs({ high, low }: BucketKey, _nowMs: number): number {
    return this.#msOf(Math.max(0, this.#burst - this.#inHand(high, low)));
  }

  /** For main: tokens in a row. */
  level(row: number): number {
    return this.#load(row, levelWord) / this.#unitsPerToken;
  }

  /** For main: adds tokens up to `cap`; returns the rest that is less than a unit. */
  fill(row: number, tokens: number, cap: number): number {
    const units = Math.floor(tokens * this.#unitsPerToken);
    const most = Math.min(2 ** 30, Math.floor(cap * this.#unitsPerToken));
    const index = row * rowWords + levelWord;
    for (;;) {
      const level = Atomics.load(this.#words, index);
      const next = Math.max(level, Math.min(most, level + units));
      if (next === level || Atomics.compareExchange(this.#words, index, level, next) === level) break;
    }
    return tokens - units / this.#unitsPerToken;
  }

  /** For main: takes all but the fraction `kept` of the tokens; returns how many it took. */
  shrink(row: number, kept: number): number {
    const index = row * rowWords + levelWord;
    for (;;) {
      const level = Atomics.load(this.#words, index);
      const left = Math.max(0, Math.floor(level * kept));
      if (Atomics.compareExchange(this.#words, index, level, left) === level) {
        return Math.max(0, level - left) / this.#unitsPerToken;
      }
    }
  }

  /** For main: tokens that were asked for since the last call. */
  takeUsed(row: number): number {
    return Atomics.exchange(this.#words, row * rowWords + usedWord, 0) / this.#unitsPerToken;
  }

  /** For main: there is something for `takeUsed`. */
  isUsed(row: number): boolean {
    return this.#load(row, usedWord) > 0;
  }

  state(row: number): RowState {
    return this.#load(row, stateWord) as RowState;
  }

  setState(row: number, state: RowState): void {
    Atomics.store(this.#words, row * rowWords + stateWord, state);
  }

  /** For main: false where a worker has asked meanwhile. */
  close(row: number): boolean {
    const index = row * rowWords + stateWord;
    const state = Atomics.load(this.#words, index);
    return state !== rowStates.asked && Atomics.compareExchange(this.#words, index, state, rowStates.closing) === state;
  }

  /** For main: tokens under which workers ask for more, and tokens that are left elsewhere. */
  note(row: number, low: number, left: number): void {
    Atomics.store(this.#words, row * rowWords + lowWord, Math.min(2 ** 30, Math.floor(low * this.#unitsPerToken)));
    Atomics.store(this.#words, row * rowWords + leftWord, Math.min(2 ** 30, Math.floor(left + roundingTolerance)));
  }

  /** For main: frees a row that is closing. */
  free(row: number): void {
    for (const word of [levelWord, usedWord, lowWord, leftWord]) Atomics.store(this.#words, row * rowWords + word, 0);
    if (row !== overflowRow) Atomics.store(this.#keys, row, 0n);
    this.setState(row, rowStates.open);
  }

  #askFor(row: number, high: number, low: number, cost: number, name: string | undefined, isForced = false): void {
    const index = row * rowWords + stateWord;
    const former = Atomics.compareExchange(this.#words, index, rowStates.open, rowStates.asked);
    const isMine = former === rowStates.open || former === rowStates.closing;
    if (!isMine && !isForced) return;
    if (this.#isOf(row, high, low)) this.#ask(row, cost, name);
    else if (former === rowStates.open) this.setState(row, rowStates.open);
  }

  #isOf(row: number, high: number, low: number): boolean {
    if (row === overflowRow) return true;
    return Atomics.load(this.#halves, 2 * row) === low && Atomics.load(this.#halves, 2 * row + 1) === high;
  }

  #inHand(high: number, low: number): number {
    const row = this.#find(high, low);
    if (row < 0) return this.#burst;
    return this.#load(row, levelWord) / this.#unitsPerToken + this.#load(row, leftWord);
  }

  /** Time in which the whole limit fills by so many tokens; whole microseconds, so that rounding adds no second. */
  #msOf(tokens: number): number {
    return Math.round((tokens / this.#perMs) * 1000) / 1000;
  }

  #load(row: number, word: number): number {
    return Atomics.load(this.#words, row * rowWords + word);
  }

  #units(cost: number): number {
    return Math.ceil(Math.min(cost, this.#burst) * this.#unitsPerToken - roundingTolerance);
  }

  /** Returns the row of the key, new if it has none, or that of all that have no place. */
  #rowOf(high: number, low: number): number {
    const known = this.#find(high, low);
    if (known >= 0) return known;
    const first = this.#firstOf(high, low);
    const key = (BigInt(high) << 32n) | BigInt(low >>> 0);
    for (let row = first; row < first + groupSize; row++) {
      const former = Atomics.compareExchange(this.#keys, row, 0n, key);
      if (former === 0n || former === key) return row;
    }
    return overflowRow;
  }

  /** Returns the row of the key; -1 where it has none yet, and the row of all without a place where its group is full. */
  #find(high: number, low: number): number {
    const first = this.#firstOf(high, low);
    let isFull = true;
    for (let row = first; row < first + groupSize; row++) {
      const rowLow = Atomics.load(this.#halves, 2 * row);
      const rowHigh = Atomics.load(this.#halves, 2 * row + 1);
      if (rowLow === low && rowHigh === high) return row;
      if (rowLow === 0 && rowHigh === 0) isFull = false;
    }
    return isFull ? overflowRow : -1;
  }

  #firstOf(high: number, low: number): number {
    return groupSize + groupOf(high, low, this.#seed, this.#groups) * groupSize;
  }
}

const roundingTolerance = 1e-6;

/** Sums of units stay within 30 bits. */
const unitsPerToken = (burst: number): number => Math.max(1, Math.min(1000, Math.floor(2 ** 30 / burst)));
