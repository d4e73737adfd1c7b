// Certificates by server name (protocols: an exact name before a wildcard of one label, then the first in the list).
// Two look-ups for any number of certificates.

export interface Named {
  /** Lower case; wildcards as `*.example.com`. */
  readonly names: readonly string[];
}

export class ServerNames<T extends Named> {
  readonly #exact = new Map<string, T>();
  /** Items by the part behind the first label: `.example.com`. */
  readonly #wildcard = new Map<string, T>();

  constructor(list: Iterable<T> = []) {
    for (const item of list) this.add(item);
  }

  /** Adds an item; a known name keeps its item. Returns the number of new names. */
  add(item: T): number {
    let added = 0;
    for (const name of item.names) {
      const map = name.startsWith('*.') ? this.#wildcard : this.#exact;
      const key = name.startsWith('*.') ? name.slice(1) : name;
      if (map.has(key)) continue;
      map.set(key, item);
      added++;
    }
    return added;
  }

  /** `name` in lower case. */
  find(name: string): T | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined || this.#wildcard.size === 0) return exact;
    const dot = name.indexOf('.');
    return dot > 0 ? this.#wildcard.get(name.slice(dot)) : undefined;
  }
}
