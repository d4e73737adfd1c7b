// Free slots of a table of MAGLEV while it is filled. Most probes find a slot taken: bits stay in the processor's cache, and the
// last slots, which most probes would be for, are looked for among themselves.

/** Order of a member over the slots: its place in it, and the distance to the next one. */
export interface SlotOrder {
  slot: number;
  readonly skip: number;
}

export class FreeSlots {
  /** Number of free slots from which on they are looked for by `nextIn`: probes cost more then. */
  readonly searchedMax: number;
  readonly #size: number;
  /** A bit for each slot. */
  readonly #taken: Uint32Array;
  /** Free slots, once they are few. */
  #few: number[] | undefined;
  /** Inverses of distances modulo the size. */
  readonly #inverses = new Map<SlotOrder, number>();

  /** @param size a prime */
  constructor(size: number) {
    this.#size = size;
    this.#taken = new Uint32Array(Math.ceil(size / 32));
    this.searchedMax = Math.floor(Math.sqrt(size) / 2);
  }

  isTaken(slot: number): boolean {
    return ((this.#taken[slot >>> 5] ?? 0) & (1 << (slot & 31))) !== 0;
  }

  take(slot: number): void {
    this.#taken[slot >>> 5] = (this.#taken[slot >>> 5] ?? 0) | (1 << (slot & 31));
    if (this.#few !== undefined) this.#few = this.#few.filter((each) => each !== slot);
  }

  /** Returns the next free slot in an order: the one that is the fewest distances away. There is one. */
  nextIn(order: SlotOrder): number {
    this.#few ??= this.#list();
    const size = this.#size;
    const inverse = this.#inverseOf(order);
    let nearest = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const slot of this.#few) {
      const away = ((slot - order.slot + size) * inverse) % size;
      if (away >= fewest) continue;
      fewest = away;
      nearest = slot;
    }
    return nearest;
  }

  #list(): number[] {
    const free: number[] = [];
    for (const [word, bits] of this.#taken.entries()) {
      if (bits === allTaken) continue;
      for (let slot = word * 32; slot < Math.min(this.#size, word * 32 + 32); slot++)
        if (!this.isTaken(slot)) free.push(slot);
    }
    return free;
  }

  #inverseOf(order: SlotOrder): number {
    const known = this.#inverses.get(order);
    if (known !== undefined) return known;
    const inverse = inverseModulo(order.skip, this.#size);
    this.#inverses.set(order, inverse);
    return inverse;
  }
}

const allTaken = 0xffffffff;

/** Returns the number whose product with `value` is 1 modulo a prime (extended Euclidean algorithm). */
function inverseModulo(value: number, prime: number): number {
  let [rest, nextRest] = [prime, value];
  let [factor, nextFactor] = [0, 1];
  while (nextRest > 0) {
    const quotient = Math.floor(rest / nextRest);
    [rest, nextRest] = [nextRest, rest - quotient * nextRest];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return (factor + prime) % prime;
}
