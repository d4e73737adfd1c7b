// Certificates by the server names that the configuration declares for them: patterns as those of hosts, so that a
// certificate is for what a section of the listener is for (protocols.md §1).
import type { HostPattern } from '../target/host.ts';

export class DeclaredNames<T> {
  readonly #exact = new Map<string, T>();
  /** By the part behind `*`: `.example.com`. */
  readonly #suffix = new Map<string, T>();
  #any: T | undefined;

  /** Adds an item; a known pattern keeps its item. Returns the number of new patterns. */
  add(item: T, patterns: readonly HostPattern[]): number {
    let added = 0;
    for (const { kind, text } of patterns) {
      if (kind === 'any') {
        if (this.#any !== undefined) continue;
        this.#any = item;
      } else {
        const map = kind === 'exact' ? this.#exact : this.#suffix;
        if (map.has(text)) continue;
        map.set(text, item);
      }
      added++;
    }
    return added;
  }

  /** Returns the item of the name itself, else of its longest suffix, else of any name. `name` is in lower case. */
  find(name: string): T | undefined {
    if (name === '') return undefined;
    const exact = this.#exact.get(name);
    if (exact !== undefined) return exact;
    if (this.#suffix.size > 0) {
      for (let dot = name.indexOf('.', 1); dot > 0; dot = name.indexOf('.', dot + 1)) {
        const found = this.#suffix.get(name.slice(dot));
        if (found !== undefined) return found;
      }
    }
    return this.#any;
  }
}
