// Signed cookies that were opened, and a cache of them by their value: bounded, in two generations. A cookie of the older
// one that is asked for moves to the younger; when that is full it becomes the older.

/** Level of balancing with the entity that it belongs to, by the first 64 bits of a hash. */
export interface CookieScope {
  readonly high: number;
  readonly low: number;
}

export interface SignedPlacement extends CookieScope {
  /** See `placementMark`. */
  readonly mark: number;
  /** Unix seconds; 0: with the browser's session. */
  readonly endS: number;
}

export interface OpenedCookie {
  readonly name: string;
  /** As it is sent; no part of a longer text, which it would keep in memory. */
  readonly value: string;
  readonly placements: readonly SignedPlacement[];
  /** True when it was sealed by a key that goes before long: it is to be sealed anew. */
  readonly isAged: boolean;
}

/** Cookies of a generation, some 700 bytes each. */
const generationMax = 4_096;

export class OpenedCache {
  #young = new Map<string, OpenedCookie>();
  #old: ReadonlyMap<string, OpenedCookie> = new Map();

  get(value: string): OpenedCookie | undefined {
    const known = this.#young.get(value);
    if (known !== undefined) return known;
    const older = this.#old.get(value);
    if (older !== undefined) this.add(older);
    return older;
  }

  add(cookie: OpenedCookie): void {
    if (this.#young.size >= generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(cookie.value, cookie);
  }

  clear(): void {
    this.#young.clear();
    this.#old = new Map();
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
