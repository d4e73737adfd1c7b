// The state hash after each of the last rounds, so that nodes which are not at the same index right now can still be
// compared at one that both have passed (raft.md A17).

const roundsMax = 512;

export class HashHistory {
  readonly #hashes = new Map<number, string>();

  /** @param hash after everything up to `index` was applied. */
  add(index: number, hash: string): void {
    this.#hashes.set(index, hash);
    if (this.#hashes.size <= roundsMax) return;
    for (const oldest of this.#hashes.keys()) {
      this.#hashes.delete(oldest);
      return;
    }
  }

  /** Another state is shown from now on: what the former one was does not matter any more. */
  restart(index: number, hash: string): void {
    this.#hashes.clear();
    if (index > 0) this.add(index, hash);
  }

  /** Hash by index, ascending. */
  get entries(): ReadonlyMap<number, string> {
    return this.#hashes;
  }
}
